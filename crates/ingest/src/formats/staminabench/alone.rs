//! Steps of a task that were played by themselves (`harbor.protocol=sr`), each after the reference solutions of the steps before
//! it. They are no chain: each becomes an episode of one turn, and the run one of a benchmark of its own, so that none of them
//! enters a stamina or a score of chains.

use model::{Benchmark, Episode};
use serde_json::Value;

/// Where a trajectory says its protocol, and the word for this one.
const PROTOCOL: &str = "protocol";
const SR: &str = "sr";
/// The section of the settings in which a run says it.
const SECTION: &str = "harbor";
/// Most steps of a task.
const STEPS: u32 = 1000;

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
pub(super) fn split(mut whole: Episode) -> Vec<Episode> {
    whole.extra.remove(PROTOCOL);
    let seen = whole.turns.last().map_or(0, |turn| turn.number);
    let planned = whole.planned_turns.unwrap_or(0).max(seen).min(STEPS);
    let mut turns = std::mem::take(&mut whole.turns).into_iter().peekable();
    (1..=planned)
        .map(|number| {
            let mut episode = whole.clone();
            let turn = turns.next_if(|turn| turn.number == number);
            let is_last = turns.peek().is_none() && turn.is_some();
            let step = turn.as_ref().and_then(|turn| turn.extra.get("step")).and_then(Value::as_str);
            let step = step.map_or_else(|| format!("step {number}"), str::to_owned);
            episode.title = whole.title.as_ref().map(|title| format!("{title}: {step}"));
            episode.scenario = format!("{}/{step}", whole.scenario);
            episode.key = format!("{}/{number}", whole.key);
            episode.planned_turns = Some(1);
            episode.extra.insert("task".to_owned(), whole.scenario.as_str().into());
            episode.extra.insert("number_of_step".to_owned(), number.into());
            let attempts = turn.as_ref().map_or(&[][..], |turn| turn.attempts.as_slice());
            if !attempts.is_empty() {
                // What ended the trial later says nothing of it.
                episode.end_reason = episode.end_reason.filter(|_| is_last);
                episode.attempts_left &= is_last;
                episode.exception = episode.exception.take().filter(|_| is_last);
                episode.timing.started_at =
                    attempts.first().and_then(|first| first.timing.started_at.clone());
                episode.timing.finished_at = attempts.last().and_then(|last| last.timing.finished_at.clone());
            }
            episode.turns = turn.into_iter().map(|turn| model::Turn { number: 1, ..turn }).collect();
            episode.unrecognised = super::logs::is_unrecognised(&episode);
            episode
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::{Attempt, EndReason, Turn, Verdict};

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
        let steps = split(whole);
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

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_plan_that_is_no_plan_makes_no_more_episodes_than_a_task_has_steps() {
        let mut whole = Episode::new("scenario_0", "parser");
        whole.planned_turns = Some(u32::MAX);
        assert_eq!(split(whole).len(), STEPS as usize);
        assert!(split(Episode::new("scenario_0", "parser")).is_empty());
    }
}
