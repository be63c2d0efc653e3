//! Steps of a task that were played by themselves (`harbor.protocol=sr`), each after the reference solutions of the steps before
//! it. They are no chain: each becomes an episode of one turn, and the run one of a benchmark of its own, so that none of them
//! enters a stamina or a score of chains.

use model::{Benchmark, EndReason, Ending, Episode};
use serde_json::Value;

/// Where a trajectory says its protocol, and the word for this one.
const PROTOCOL: &str = "protocol";
const SR: &str = "sr";
/// The section of the settings in which a run says it.
const SECTION: &str = "harbor";
/// Most steps of a task.
const STEPS: u32 = 1000;
/// Most steps of a run that are kept though they were not played, and how many of each task are kept in any case.
const UNPLAYED: usize = 20_000;
const FEW_UNPLAYED: u32 = 5;

/// Whether the steps of an episode were played by themselves.
pub(super) fn is_of_steps(episode: &Episode) -> bool {
    episode.extra.get(PROTOCOL).and_then(Value::as_str) == Some(SR)
}

/// Whether those of a run were, by its settings.
pub(super) fn is_run_of_steps(settings: &model::Extra) -> bool {
    settings.get(&format!("{SECTION}.{PROTOCOL}")).and_then(Value::as_str) == Some(SR)
}

/// The benchmark of such runs on the tasks of a data set.
pub(super) fn benchmark(data_set: &str) -> Benchmark {
    Benchmark {
        key: format!("{}{data_set}", Benchmark::STEPS),
        name: format!("Harbor, {data_set}, steps by themselves (SR)"),
    }
}

/// An episode for each step that is planned, played or not.
///
/// `attempt_limit` = attempts that a step may have; `unplayed` = most steps that are kept for the plan's sake alone.
/// What is recorded of the task as a whole is kept with its first step only: a few bytes may plan very many steps.
pub(super) fn split(mut whole: Episode, attempt_limit: Option<u32>, unplayed: u32) -> Vec<Episode> {
    whole.extra.remove(PROTOCOL);
    let planned = planned(&whole, unplayed);
    let mut task_parts = Some((
        std::mem::take(&mut whole.extra),
        std::mem::take(&mut whole.artifacts),
        std::mem::take(&mut whole.reported),
    ));
    let mut exception = whole.exception.take();
    let mut turns = std::mem::take(&mut whole.turns).into_iter().peekable();
    let was_begun = turns.peek().is_some();
    let is_over = whole.timing.finished_at.is_some();
    let from_outside = whole
        .end_reason
        .filter(|reason| *reason != EndReason::PassedAll && reason.default_ending() == Ending::Censored);
    (1..=planned)
        .map(|number| {
            let turn = turns.next_if(|turn| turn.number == number);
            let is_last = turns.peek().is_none() && turn.is_some();
            let step = turn.as_ref().and_then(|turn| turn.extra.get("step")).and_then(Value::as_str);
            let step = step.map_or_else(|| format!("step {number}"), str::to_owned);
            let mut episode =
                Episode::new(format!("{}/{number}", whole.key), format!("{}/{step}", whole.scenario));
            episode.repeat = whole.repeat;
            episode.title = whole.title.as_ref().map(|title| format!("{title}: {step}"));
            episode.planned_turns = Some(1);
            if let Some((extra, artifacts, reported)) = task_parts.take() {
                (episode.extra, episode.artifacts, episode.reported) = (extra, artifacts, reported);
            }
            episode.extra.insert("task".to_owned(), whole.scenario.as_str().into());
            episode.extra.insert("number_of_step".to_owned(), number.into());
            if is_last || !was_begun {
                episode.exception = exception.take();
            }
            let attempts = turn.as_ref().map_or(&[][..], |turn| turn.attempts.as_slice());
            if let (Some(first), Some(last)) = (attempts.first(), attempts.last()) {
                episode.timing.started_at.clone_from(&first.timing.started_at);
                episode.timing.finished_at.clone_from(&last.timing.finished_at);
                // What ended the trial later says nothing of a step before its last.
                if is_last {
                    episode.attempts_left = attempt_limit.is_some_and(|limit| last.number < limit);
                    let is_open = episode.attempts_left && !is_over;
                    episode.end_reason = whole.end_reason.or(is_open.then_some(EndReason::Unfinished));
                }
            } else {
                // The agent had no part in it, whatever ended the trial.
                episode.end_reason = Some(from_outside.unwrap_or(EndReason::Unfinished));
            }
            episode.turns = turn.into_iter().map(|turn| model::Turn { number: 1, ..turn }).collect();
            episode.unrecognised = super::test_logs::is_unrecognized(&episode);
            episode
        })
        .collect()
}

/// How many steps of a task are kept: as many as there are entries of, and of those that were not played `unplayed`.
fn planned(whole: &Episode, unplayed: u32) -> u32 {
    let entries = u32::try_from(whole.turns.len()).unwrap_or(STEPS);
    whole.known_turns().min(entries.saturating_add(unplayed)).min(STEPS)
}

/// How many steps of a task are left out of what [`split`] gives.
pub(super) fn left_out(whole: &Episode, unplayed: u32) -> u32 {
    whole.known_turns().saturating_sub(planned(whole, unplayed))
}

/// Most steps of each task that are kept though they were not played, where a run has this many tasks.
pub(super) fn most_unplayed(tasks: usize) -> u32 {
    u32::try_from(UNPLAYED / tasks.max(1)).unwrap_or(STEPS).clamp(FEW_UNPLAYED, STEPS)
}

/// Whether a trajectory says it before its turns, where the runner writes it; `head` is its beginning.
pub(super) fn declares_separate_steps(head: &str) -> bool {
    let head = head.split_once("\"turns\"").map_or(head, |(before, _)| before);
    let Some((_, rest)) = head.split_once("\"protocol\"") else { return false };
    rest.trim_start().strip_prefix(':').is_some_and(|rest| rest.trim_start().starts_with("\"sr\""))
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Turn, Verdict};

    use super::*;

    fn turn(number: u32, step: &str, attempts: &[(Verdict, Option<EndReason>)]) -> Turn {
        let mut turn = Turn::new(number);
        turn.extra.insert("step".to_owned(), step.into());
        turn.attempts = (1..)
            .zip(attempts)
            .map(|(number, (verdict, end_reason))| Attempt {
                end_reason: *end_reason,
                ..Attempt::new(number, *verdict)
            })
            .collect();
        turn
    }

    #[test]
    fn each_step_is_an_episode_that_ends_by_itself() {
        let mut whole = Episode::new("scenario_0", "parser");
        whole.extra.insert(PROTOCOL.to_owned(), SR.into());
        whole.planned_turns = Some(4);
        let failed = Some(EndReason::TestsFailed);
        whole.turns = vec![
            turn(1, "round-1", &[(Verdict::Failed, failed), (Verdict::Passed, None)]),
            turn(2, "round-2", &[(Verdict::Failed, failed)]),
            turn(3, "round-3", &[(Verdict::Unfinished, Some(EndReason::Endpoint))]),
        ];
        whole.end_reason = Some(EndReason::Endpoint);
        assert!(is_of_steps(&whole));
        let steps = split(whole, Some(2), STEPS);
        let found: Vec<_> = steps
            .iter()
            .map(|step| (step.key.as_str(), step.scenario.as_str(), step.stamina(), step.end().1))
            .collect();
        assert_eq!(
            found,
            [
                ("scenario_0/1", "parser/round-1", 1, EndReason::PassedAll),
                ("scenario_0/2", "parser/round-2", 0, EndReason::TestsFailed),
                ("scenario_0/3", "parser/round-3", 0, EndReason::Endpoint),
                ("scenario_0/4", "parser/step 4", 0, EndReason::Endpoint),
            ]
        );
        assert!(steps.iter().all(|step| step.planned_turns == Some(1) && !is_of_steps(step)));
        assert_eq!(steps[0].turns[0].attempts.len(), 2);
    }

    /// A task of which the steps have these verdicts, one a try.
    fn task(planned: u32, steps: &[&[Verdict]]) -> Episode {
        let mut whole = Episode::new("scenario_0", "parser");
        whole.planned_turns = Some(planned);
        whole.turns = (1..)
            .zip(steps)
            .map(|(number, verdicts)| {
                let tries: Vec<_> = verdicts
                    .iter()
                    .map(|verdict| {
                        (*verdict, (*verdict == Verdict::Failed).then_some(EndReason::TestsFailed))
                    })
                    .collect();
                turn(number, &format!("round-{number}"), &tries)
            })
            .collect();
        whole
    }

    fn ends(whole: Episode, limit: u32) -> Vec<EndReason> {
        split(whole, Some(limit), STEPS).iter().map(|step| step.end().1).collect()
    }

    #[test]
    fn a_step_that_is_cut_off_between_its_tries_is_not_failed() {
        use EndReason::{Budget, TestsFailed, Unfinished};
        use Verdict::Failed;
        let cut = || task(2, &[&[Failed, Failed, Failed], &[Failed]]);
        // Killed, or being played: nothing says that the trial is over.
        assert_eq!(ends(cut(), 3), [TestsFailed, Unfinished]);
        // A budget of the episode ended it between two tries.
        let mut cut_task = cut();
        cut_task.end_reason = Some(Budget);
        cut_task.timing.finished_at = Some("2026-01-01T10:00:00Z".to_owned());
        assert_eq!(ends(cut_task, 3), [TestsFailed, Budget]);
        // It had no further try.
        assert_eq!(ends(task(2, &[&[Failed], &[Failed]]), 1), [TestsFailed, TestsFailed]);
        // The last step that was begun had all its tries, and the next one was not begun.
        assert_eq!(ends(task(2, &[&[Failed, Failed]]), 2), [TestsFailed, Unfinished]);
    }

    #[test]
    fn a_step_that_nobody_played_has_no_times_and_never_an_end_of_the_agent() {
        let time = |text: &str| Some(text.to_owned());
        let mut whole = task(3, &[&[Verdict::Failed]]);
        whole.turns[0].attempts[0].timing.started_at = time("2026-01-01T10:00:01Z");
        whole.turns[0].attempts[0].timing.finished_at = time("2026-01-01T10:00:02Z");
        whole.timing.started_at = time("2026-01-01T10:00:00Z");
        whole.timing.finished_at = time("2026-01-01T11:00:00Z");
        whole.exception = Some(("Error".to_owned(), "it broke".to_owned()));
        whole.end_reason = Some(EndReason::GaveUp);
        let steps = split(whole.clone(), Some(1), STEPS);
        assert_eq!(steps[0].timing.finished_at.as_deref(), Some("2026-01-01T10:00:02Z"));
        assert!(steps[0].exception.is_some());
        for step in &steps[1..] {
            assert_eq!((&step.timing.started_at, &step.timing.finished_at), (&None, &None));
            assert_eq!((step.exception.as_ref(), step.end().1), (None, EndReason::Unfinished));
        }
        // Nothing of what the trial met is lost where no step was begun.
        whole.turns.clear();
        let steps = split(whole, Some(1), STEPS);
        assert_eq!(steps.iter().filter(|step| step.exception.is_some()).count(), 1);
        assert!(steps[0].exception.is_some());
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn what_is_recorded_of_a_task_is_kept_once() {
        let mut whole = task(1000, &[&[Verdict::Passed]]);
        whole.extra.insert("note".to_owned(), "x".repeat(4000).into());
        whole.reported.push(("figure".to_owned(), 1.0));
        let steps = split(whole, None, STEPS);
        assert_eq!(steps.len(), 1000);
        assert_eq!(steps.iter().filter(|step| step.extra.contains_key("note")).count(), 1);
        assert_eq!(steps.iter().filter(|step| !step.reported.is_empty()).count(), 1);
        assert!(steps[0].extra.contains_key("note"));
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_plan_that_is_no_plan_makes_no_more_episodes_than_a_task_has_steps() {
        let mut whole = Episode::new("scenario_0", "parser");
        whole.planned_turns = Some(u32::MAX);
        assert_eq!(left_out(&whole, STEPS), u32::MAX - STEPS);
        assert_eq!(split(whole, None, STEPS).len(), STEPS as usize);
        assert!(split(Episode::new("scenario_0", "parser"), None, STEPS).is_empty());
        // Of many tasks fewer are kept that were not played, and each that was.
        assert_eq!([1, 100, 10_000].map(most_unplayed), [1000, 200, 5]);
        let whole = task(40, &[&[Verdict::Passed][..]; 12]);
        assert_eq!((left_out(&whole, 10), left_out(&whole, 28)), (18, 0));
        let mut distant = task(1, &[]);
        distant.turns.push(Turn::new(1000));
        assert_eq!(split(distant, None, 10).len(), 11);
        let steps = split(whole, None, 10);
        assert_eq!((steps.len(), steps[21].end().1), (22, EndReason::Unfinished));
    }

    #[test]
    fn a_trajectory_says_before_its_turns_that_its_steps_are_no_chain() {
        assert!(declares_separate_steps(
            "{\"schema_version\":\"stamina-lab/1\",\"protocol\":\"sr\",\"turns\":["
        ));
        assert!(declares_separate_steps("{\"protocol\" : \"sr\""));
        assert!(!declares_separate_steps("{\"protocol\":\"ours\",\"turns\":["));
        assert!(!declares_separate_steps("{\"turns\":[{\"request\":\"\",\"protocol\":\"sr\"}]"));
        assert!(!declares_separate_steps("{\"title\":\"protocol\""));
    }
}
