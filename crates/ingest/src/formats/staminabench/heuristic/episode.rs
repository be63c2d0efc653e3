//! One episode out of what the trajectory says, what the names of files say, and what the test logs say.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Artifact, ArtifactKind, Attempt, CachedInput, EndReason, Episode, Request, Turn, Verdict, Warning,
};

use super::facts::{Number, RecordFacts, TrajectoryFacts, TurnFacts};
use super::file_names::Base;
use super::listing::{ListedFile, Listing};
use super::odd_values::ValueOwner;
use super::step_sums::SummaryDocument;
use super::trajectory;
use crate::formats::staminabench::folder_names;
use crate::formats::staminabench::part_warnings::PartWarnings;
use crate::formats::staminabench::test_logs::{self, Claim, Log};
use crate::readers::value::{self, UnusableValues};
use files::Tree;

/// Highest number of a turn that is believed.
const MAX_TURN: u32 = 10_000;
/// Highest number of an attempt that is believed.
const MAX_ATTEMPT: u32 = 1_000;
/// Largest file of results that is not a log, in bytes.
const JSON_CAP: u64 = 64 << 20;
/// Requests up to this size are kept in the store, in bytes.
const REQUEST_CAP: u64 = 8 << 10;
/// Logs that belong to no turn and are listed with the episode.
const UNPLACED_CAP: usize = 2_000;

/// A turn while it is assembled.
#[derive(Default)]
struct TurnBuilder {
    title: Option<String>,
    request: Option<String>,
    attempts: BTreeMap<u32, (RecordFacts, Vec<ListedFile>)>,
    /// Files of the final attempt, whichever that is.
    final_files: Vec<ListedFile>,
    whole: RecordFacts,
    files: Vec<ListedFile>,
    attempt_count: Option<u32>,
}

/// Puts an episode together.
pub(super) fn episode(
    tree: &Tree,
    folder: &str,
    mut episode: Episode,
    trajectory_facts: TrajectoryFacts,
    listing: Listing,
    warnings: &mut PartWarnings<'_>,
) -> Episode {
    let mut turns: BTreeMap<u32, TurnBuilder> = BTreeMap::new();
    for path in &listing.no_files {
        warnings.warn(Warning::skipped(
            path,
            "file.special",
            "It is a folder where a file is expected. Nothing is read from it.",
        ));
    }
    let (turn_base, attempt_base) = bases(&trajectory_facts, &listing);
    let path = listing.trajectory.as_ref().map_or_else(|| folder.to_owned(), |(path, _)| path.clone());
    if turn_base.any_from_zero() {
        warnings.warn(Warning::read_differently(
            folder,
            "turns.from_zero",
            "The turns of this scenario are counted from 0. They are shown counted from 1.",
        ));
    }
    let mut outlandish = BTreeSet::new();
    place_facts(trajectory_facts.turns, &turn_base, &attempt_base, &mut turns, &mut outlandish);
    let mut steps = Vec::new();
    let mut unplaced = Vec::new();
    for file in listing.files {
        let from_zero = turn_base.is_from_zero(file.group);
        let turn = file.placed.turn.map(|t| if from_zero { t.saturating_add(1) } else { t });
        match turn {
            None if file.placed.step.is_some() => steps.push(file),
            None => unplaced.push(file),
            Some(turn) if !(1..=MAX_TURN).contains(&turn) => {
                outlandish.insert(turn);
                unplaced.push(file);
            }
            Some(turn) => place_file(turns.entry(turn).or_default(), file, &attempt_base),
        }
    }
    if let Some(turn) = outlandish.iter().next() {
        warnings.warn(Warning::skipped(
            folder,
            "turns.out_of_range",
            format!("There is a turn {turn}. Turns from 1 to {MAX_TURN} are read."),
        ));
    }
    imply_attempts(folder, &mut turns, warnings);
    place_steps(steps, &mut turns, &mut unplaced);

    let last_played = turns.iter().rev().find(|(_, t)| !t.attempts.is_empty()).map(|(n, _)| *n);
    let finished =
        episode.timing.finished_at.is_some() || trajectory_facts.whole.timing.finished_at.is_some();
    for (number, building) in turns {
        let is_last = last_played == Some(number);
        let place = Whereabouts { path: &path, turn: number };
        let turn = turn(tree, &place, building, is_last && !finished, warnings);
        // Every verdict counts, so one that is missing is reported, unless the turn may just be running.
        let missing = turn.attempts.last().and_then(|last| match last.verdict {
            Verdict::Error if last.end_reason == Some(EndReason::NoVerdict) => Some("an error"),
            Verdict::Unfinished
                if !last.tokens.is_unknown() || last.cost_usd.is_some() || !last.extra.is_empty() =>
            {
                Some("unfinished")
            }
            _ => None,
        });
        if let Some(shown) = missing {
            warnings.warn(Warning::read_differently(
                &path,
                "verdict.missing",
                format!("Turn {number} was played, and no verdict is found that can be read. It is shown as {shown}."),
            ));
        }
        episode.turns.push(turn);
    }
    let mut whole = trajectory_facts.whole;
    ValueOwner { path: &path, name: "The episode".to_owned() }.report_odd_values(&mut whole, warnings);
    finish(&mut episode, whole, trajectory_facts.planned, trajectory_facts.title, unplaced);
    warn_unclear_tokens(&path, &episode, warnings);
    episode
}

/// Reports once for a scenario that it is unknown whether its input tokens include the cached ones.
fn warn_unclear_tokens(path: &str, episode: &Episode, warnings: &mut PartWarnings<'_>) {
    let attempts = episode.turns.iter().flat_map(|turn| &turn.attempts);
    let mut counts = attempts
        .map(|attempt| (attempt.tokens, attempt.cached_input))
        .chain(episode.tokens.map(|tokens| (tokens, episode.cached_input)));
    // Where one attempt proves it, it is known of all.
    if counts.clone().all(|(_, basis)| basis != CachedInput::Added)
        && let Some((tokens, _)) =
            counts.find(|(tokens, basis)| *basis == CachedInput::Assumed && tokens.cached.unwrap_or(0) > 0)
    {
        let message = format!(
            "Nothing says whether the {} input tokens include the {} cached ones. They are taken to, unless an attempt of the run has more cached than input tokens.",
            tokens.input.unwrap_or(0),
            tokens.cached.unwrap_or(0)
        );
        warnings.warn(Warning::read_differently(path, "tokens.cache_unclear", message));
    }
}

fn bases(trajectory_facts: &TrajectoryFacts, listing: &Listing) -> (Base, Base) {
    let (mut turns, mut attempts) = (Base::default(), Base::default());
    let explicit = |n: &Number| match n {
        Number::Stated(n) => Some(*n),
        Number::Position(_) => None,
    };
    turns.note("trajectory", trajectory_facts.turns.iter().filter_map(|(n, _)| explicit(n)));
    attempts.note(
        "trajectory",
        trajectory_facts.turns.iter().flat_map(|(_, t)| &t.attempts).filter_map(|(n, _)| explicit(n)),
    );
    let mut groups: Vec<&'static str> = listing.files.iter().map(|f| f.group).collect();
    // Folders of one kind may have any number of names, and stand apart.
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let group_files = || listing.files.iter().filter(move |f| f.group == group);
        turns.note(group, group_files().filter_map(|f| f.placed.turn));
        attempts.note(group, group_files().filter(|f| !f.placed.retry).filter_map(|f| f.placed.attempt));
    }
    (turns, attempts)
}

fn place_facts(
    trajectory_facts: Vec<(Number, TurnFacts)>,
    turn_base: &Base,
    attempt_base: &Base,
    turns: &mut BTreeMap<u32, TurnBuilder>,
    outlandish: &mut BTreeSet<u32>,
) {
    let real = |number: Number, base: &Base| match number {
        Number::Stated(n) if base.is_from_zero("trajectory") => n.saturating_add(1),
        Number::Stated(n) | Number::Position(n) => n,
    };
    let mut records: BTreeMap<u32, Vec<RecordFacts>> = BTreeMap::new();
    for (number, facts) in trajectory_facts {
        let number = real(number, turn_base);
        if !(1..=MAX_TURN).contains(&number) {
            outlandish.insert(number);
            continue;
        }
        let turn = turns.entry(number).or_default();
        turn.title = turn.title.take().or(facts.title);
        turn.request = turn.request.take().or(facts.request);
        turn.attempt_count = turn.attempt_count.max(facts.attempt_count);
        for (attempt, facts) in facts.attempts {
            let attempt = real(attempt, attempt_base);
            if (1..=MAX_ATTEMPT).contains(&attempt) {
                turn.attempts.entry(attempt).or_default().0.join(facts);
            }
        }
        records.entry(number).or_default().extend(facts.records);
    }
    for (number, mut records) in records {
        let turn = turns.entry(number).or_default();
        let verdicts = records.iter().filter(|r| r.has_verdict()).count();
        if verdicts > 1 && turn.attempts.is_empty() {
            // A turn that is recorded several times was tried several times.
            for (index, record) in
                records.into_iter().filter(RecordFacts::has_verdict).enumerate().take(MAX_ATTEMPT as usize)
            {
                turn.attempts.insert(index as u32 + 1, (record, Vec::new()));
            }
        } else {
            for record in records.drain(..) {
                turn.whole.join(record);
            }
        }
    }
}

fn place_file(turn: &mut TurnBuilder, file: ListedFile, attempt_base: &Base) {
    let attempt = file.placed.attempt.map(|a| {
        if file.placed.retry || attempt_base.is_from_zero(file.group) { a.saturating_add(1) } else { a }
    });
    match attempt {
        Some(attempt) if (1..=MAX_ATTEMPT).contains(&attempt) && is_per_attempt(file.kind) => {
            turn.attempts.entry(attempt).or_default().1.push(file);
        }
        _ if is_per_attempt(file.kind) => turn.final_files.push(file),
        _ => turn.files.push(file),
    }
}

const fn is_per_attempt(kind: ArtifactKind) -> bool {
    folder_names::is_result(kind) || matches!(kind, ArtifactKind::Log)
}

/// Makes sure that a turn that was played has its attempts.
fn imply_attempts(folder: &str, turns: &mut BTreeMap<u32, TurnBuilder>, warnings: &mut PartWarnings<'_>) {
    let mut implied = 0u32;
    for turn in turns.values_mut() {
        let played = turn.whole.is_played() || !turn.final_files.is_empty();
        // With a file of the first try and files of its retries, the first has no number.
        let first_is_bare = !turn.final_files.is_empty()
            && !turn.attempts.contains_key(&1)
            && turn.attempts.values().any(|(_, files)| files.iter().any(|f| f.placed.retry));
        if first_is_bare {
            let files = std::mem::take(&mut turn.final_files);
            turn.attempts.insert(1, (RecordFacts::default(), files));
        }
        let known = turn.attempts.keys().next_back().copied().unwrap_or(0);
        let last = turn.attempt_count.unwrap_or(0).max(known).max(u32::from(played));
        for number in 1..=last.min(MAX_ATTEMPT) {
            if let std::collections::btree_map::Entry::Vacant(entry) = turn.attempts.entry(number) {
                let mut facts = RecordFacts::default();
                if number < last {
                    // There was a next one, so this one did not pass.
                    facts.success = Some(false);
                    implied += 1;
                }
                entry.insert((facts, Vec::new()));
            }
        }
        let whole = std::mem::take(&mut turn.whole);
        let files = std::mem::take(&mut turn.final_files);
        if let Some((facts, known)) = turn.attempts.values_mut().next_back() {
            facts.complete(whole);
            known.extend(files);
        } else {
            turn.whole = whole;
        }
    }
    if implied > 0 {
        warnings.warn(Warning::read_differently(
            folder,
            "attempts.implied",
            format!(
                "Counted and not described: {}. Each was followed by another, so it is shown as failed.",
                model::counted(implied.into(), "attempt")
            ),
        ));
    }
}

/// `step_N` logs count the calls of the agent. With one call an attempt they fall to the attempts in order; with any
/// other number the attempt is unknown.
fn place_steps(
    mut steps: Vec<ListedFile>,
    turns: &mut BTreeMap<u32, TurnBuilder>,
    unplaced: &mut Vec<ListedFile>,
) {
    steps.sort_by_key(|f| f.placed.step);
    let attempts: usize = turns.values().map(|t| t.attempts.len()).sum();
    if steps.len() != attempts {
        unplaced.extend(steps);
        return;
    }
    let mut steps = steps.into_iter();
    for (_, files) in turns.values_mut().flat_map(|t| t.attempts.values_mut()) {
        files.extend(steps.next());
    }
}

/// What a warning about an attempt names.
struct Whereabouts<'a> {
    path: &'a str,
    turn: u32,
}

fn turn(
    tree: &Tree,
    place: &Whereabouts<'_>,
    building: TurnBuilder,
    may_be_running: bool,
    warnings: &mut PartWarnings<'_>,
) -> Turn {
    let mut turn = Turn::new(place.turn);
    let mut request = building.request.map(Request::Text);
    for file in building.files {
        if file.kind == ArtifactKind::Request && request.is_none() {
            request = Some(read_request(tree, &file));
        }
        if file.kind != ArtifactKind::Request {
            turn.artifacts.push(Artifact::new(file.kind, file.path));
        }
    }
    turn.title = building.title.or_else(|| match &request {
        Some(Request::Text(text)) => crate::readers::text::first_title(text, 100),
        _ => None,
    });
    turn.request = request;
    if building.attempts.is_empty() {
        turn.extra = building.whole.extra;
    }
    let last = building.attempts.keys().next_back().copied();
    for (number, (facts, files)) in building.attempts {
        let is_last = last == Some(number);
        turn.attempts.push(attempt(tree, place, number, facts, files, is_last && may_be_running, warnings));
    }
    turn
}

fn read_request(tree: &Tree, file: &ListedFile) -> Request {
    if file.size <= REQUEST_CAP
        && let Ok((text, _)) = tree.read_text(&file.path, REQUEST_CAP)
    {
        return Request::Text(text);
    }
    Request::File(Artifact::new(ArtifactKind::Request, file.path.clone()))
}

fn attempt(
    tree: &Tree,
    place: &Whereabouts<'_>,
    number: u32,
    mut facts: RecordFacts,
    files: Vec<ListedFile>,
    may_be_running: bool,
    warnings: &mut PartWarnings<'_>,
) -> Attempt {
    // A JSON beside the logs says what a trajectory would.
    for file in files.iter().filter(|f| f.kind == ArtifactKind::TestOutput && is_json(&f.path)) {
        let mut document = SummaryDocument::default();
        match tree.read_json_into(&file.path, JSON_CAP, &mut document) {
            Ok(()) => warnings.read_file(),
            Err(error) => warnings.warn(Warning::skipped(
                &file.path,
                error.code(),
                format!("{error}. What came before the error is read."),
            )),
        }
        facts.complete(trajectory::attempt(document, &file.path));
    }
    let owner = ValueOwner { path: place.path, name: format!("Turn {} attempt {number}", place.turn) };
    owner.report_odd_values(&mut facts, warnings);
    let (passed, total) = owner.numbers(&mut facts, warnings);
    let unreadable = facts.unreadable.take();
    let claim = Claim { passed, total, success: facts.success };
    let (log, log_path) = best_log(tree, &files, claim, warnings);

    let mut attempt = Attempt::new(number, Verdict::Error);
    attempt.end_reason = facts.end_reason;
    attempt.exception = facts.exception;
    attempt.reward = facts.score;
    (attempt.tokens, attempt.cached_input) = facts.usage.tokens();
    attempt.cost_usd = facts.usage.cost();
    attempt.tool_calls = facts.tool_calls;
    attempt.steps = facts.agent_steps;
    attempt.timing = facts.timing;
    attempt.extra = facts.extra;
    if let Some(steps) = facts.steps {
        attempt.extra.entry("agent_steps").or_insert_with(|| steps.into());
    }
    attempt.tests = facts.tests;
    let mut unusable = UnusableValues::default();
    unusable.take_from_attempt(&mut attempt);
    if let Some(mut warning) = unusable.warning(place.path) {
        warning.message = format!("{}: {}", owner.name, warning.message);
        warnings.warn(warning);
    }
    attempt.artifacts = facts.artifacts;
    attempt.artifacts.extend(files.into_iter().map(|f| Artifact::new(f.kind, f.path)));

    attempt.verdict = match (claim.passes(), facts.score) {
        (Some(true), _) => Verdict::Passed,
        (Some(false), _) => Verdict::Failed,
        (None, Some(score)) => {
            if !(0.0..=1.0).contains(&score) {
                let prefix = format!("{}: ", owner.name);
                warnings.warn(value::reward_range(place.path, &prefix, score));
            }
            if score >= model::PASS_REWARD { Verdict::Passed } else { Verdict::Failed }
        }
        (None, None) if may_be_running && attempt.exception.is_none() && unreadable.is_none() => {
            Verdict::Unfinished
        }
        (None, None) => Verdict::Error,
    };
    if attempt.verdict == Verdict::Passed {
        attempt.end_reason = None;
    }
    test_logs::set_verdict(&mut attempt, claim, &log_path, log, warnings);
    owner.no_verdict(&mut attempt, unreadable.as_deref(), warnings);
    test_logs::set_end_reason(&mut attempt);
    attempt
}

fn is_json(path: &str) -> bool {
    path.len() > 5 && path[path.len() - 5..].eq_ignore_ascii_case(".json")
}

/// The log with pytest's last line, else any that pytest wrote.
fn best_log(
    tree: &Tree,
    files: &[ListedFile],
    claim: Claim,
    warnings: &mut PartWarnings<'_>,
) -> (Option<crate::readers::pytest::PytestLog>, String) {
    let mut best: Option<(crate::readers::pytest::PytestLog, String)> = None;
    for file in files.iter().filter(|f| f.kind == ArtifactKind::TestOutput && !is_json(&f.path)).take(8) {
        if let Log::Whole(log) = test_logs::read(tree, &file.path, file.size, claim, false, warnings) {
            let better = best.as_ref().is_none_or(|(b, _)| b.truncated && !log.truncated);
            if better {
                best = Some((*log, file.path.clone()));
            }
        }
    }
    best.map_or((None, String::new()), |(log, path)| (Some(log), path))
}

fn finish(
    episode: &mut Episode,
    whole: RecordFacts,
    planned: Option<u32>,
    title: Option<String>,
    unplaced: Vec<ListedFile>,
) {
    episode.planned_turns = episode.planned_turns.or(planned);
    episode.title = episode.title.take().or(title);
    whole.usage.complete_episode(episode);
    episode.timing.started_at = episode.timing.started_at.take().or(whole.timing.started_at);
    episode.timing.finished_at = episode.timing.finished_at.take().or(whole.timing.finished_at);
    episode.exception = whole.exception;
    if let Some(score) = whole.score {
        episode.reported.push(("staminabench.score".to_owned(), score));
    }
    episode.artifacts.extend(whole.artifacts);
    episode.artifacts.extend(unplaced.into_iter().take(UNPLACED_CAP).map(|f| Artifact::new(f.kind, f.path)));
    for (key, value) in whole.extra {
        episode.extra.entry(key).or_insert(value);
    }
    let stamina = episode.stamina();
    let goes_on = episode.turn(stamina + 1).is_some_and(|t| t.attempts.is_empty());
    // The files show a next turn that was never played: passing the ones before is not passing everything.
    if episode.planned_turns.is_none() && goes_on {
        episode.end_reason =
            Some(whole.end_reason.filter(|r| *r != EndReason::PassedAll).unwrap_or(EndReason::Unfinished));
    } else if !goes_on && episode.turn(stamina + 1).is_none() {
        episode.end_reason =
            whole.end_reason.filter(|r| *r != EndReason::PassedAll && *r != EndReason::TestsFailed);
    }
    episode.unrecognised = test_logs::is_unrecognized(episode);
}
