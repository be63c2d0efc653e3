//! What identifies an episode among all others and is the same for its copies, wherever they lie.
//!
//! A source that gives its episodes ids has the last word ([`from_id`]). Where there is none it is made of the contents
//! ([`from_contents`]): what was tried, what came of it, what it used and when. Only episodes that were measured closely have such
//! an identity: two that passed the same turns, even in the same minute, need not be the same.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use files::Stamp;
use model::{Attempt, Episode, Timing, Tokens, Verdict, Warning, timestamp};
use store::REGRADED;

use crate::format_trait::Report;
use crate::readers::clock;

/// The identity of an episode that its source gives an id, made of the parts that name it.
pub fn from_id(parts: &[&str]) -> String {
    let stamp = parts.iter().fold(Stamp::new(), |stamp, part| stamp.text(part)).finish();
    format!("id-{stamp:016x}")
}

/// The identity of a trial by the id of its result, for gradings of it in other jobs, which know it by that.
pub fn from_result_id(id: &str) -> String {
    format!("{REGRADED}{:016x}", Stamp::new().text("harbor").text(id).finish())
}

/// A time as it is written in UTC, where its text has an offset; any other text as it stands. A copy may have been written again in
/// another zone.
pub(crate) fn utc_text(time: &str) -> Cow<'_, str> {
    let with_z = || {
        let clock_end = 19 + time.get(19..)?.find(['+', '-'])?;
        let fraction = time.get(19..clock_end)?;
        let seconds = timestamp::from_seconds(clock::micros(time)?.div_euclid(1_000_000))?;
        Some(format!("{}{fraction}Z", seconds.trim_end_matches('Z')))
    };
    with_z().map_or(Cow::Borrowed(time), Cow::Owned)
}

/// Whether a text has the form of the identities that are made here.
pub fn is_own(text: &str) -> bool {
    ["id-", "by-", "of-", REGRADED].iter().any(|kind| {
        text.strip_prefix(kind).is_some_and(|stamp| {
            stamp.len() == 16 && stamp.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    })
}

/// The identity of an episode that is published once for each name (of a model) and scenario, whatever was measured.
pub fn from_published_name(name: &str, episode: &Episode) -> String {
    format!("by-{:016x}", contents(repeat(Stamp::new().text(name), episode), episode).finish())
}

/// The identity of an episode by its contents; `None` where it was not measured so closely that no other could come out alike.
///
/// Names of folders and files are no part of it, and neither is the repeat: a copy beside the original has another one.
pub fn from_contents(episode: &Episode) -> Option<String> {
    from_scenario_and_contents(&episode.scenario, episode)
}

/// The same with another name of the scenario, where copies have one in common and the episode's is that of a folder.
pub fn from_scenario_and_contents(scenario: &str, episode: &Episode) -> Option<String> {
    is_close(episode).then(|| {
        let stamp = Stamp::new().text(scenario).number(1);
        format!("of-{:016x}", contents(stamp, episode).finish())
    })
}

/// The same for an episode that was measured less closely: one of a run of another name may come out alike, and is another one.
/// `None` where [`from_contents`] identifies it, or no duration has a fraction of a second.
pub fn from_run_and_contents(run: &str, episode: &Episode) -> Option<String> {
    let is_of_run = !is_close(episode) && !parts_of_seconds(episode).is_empty();
    // Repeats may come out alike.
    let stamp = repeat(Stamp::new().text("run").text(run), episode);
    is_of_run.then(|| format!("of-{:016x}", contents(stamp, episode).finish()))
}

/// The identity of an episode of a `scenario` by how it began, for sources that write while they play: a copy that was made
/// meanwhile is the same episode as the finished one. `None` where the first attempt has not ended, or was not measured so
/// closely that no other could come out alike.
pub fn from_beginning(scenario: &str, episode: &Episode) -> Option<String> {
    let (turn, attempt) = episode.turns.iter().find_map(|turn| Some((turn, turn.attempts.first()?)))?;
    if attempt.verdict == Verdict::Unfinished {
        return None;
    }
    let own = [&attempt.timing.started_at, &attempt.timing.finished_at];
    // The time of the whole may be that of the last change, so it stands in only where the attempt has none.
    let whole = episode.timing.started_at.as_ref().filter(|_| own.iter().all(|time| time.is_none()));
    let mut times = own.into_iter().flatten().chain(whole).peekable();
    let is_timed = times.peek().is_some();
    let is_close =
        times.any(|time| has_fraction(time)) || is_timed && token_sum(attempt.tokens) >= MANY_TOKENS;
    if !is_close {
        return None;
    }
    let stamp = Stamp::new().text("begins").text(scenario).number(episode.repeat.into());
    let stamp = stamp.text(&utc_text(whole.map_or("", String::as_str))).number(turn.number.into());
    Some(format!("of-{:016x}", self::attempt(stamp, attempt).finish()))
}

/// Leaves out of what is read together all that has the identity of another one, with a warning. `identity` gives the run,
/// too: copies in two runs stay (the store decides which of them counts). The first counts, unless it `is_snapshot` (was copied
/// before it had a result that can be read) and another one is none.
pub(crate) fn remove_copies<T>(
    items: &mut Vec<T>,
    identity: impl Fn(&T) -> Option<(String, String)>,
    is_snapshot: impl Fn(&T) -> bool,
    path: impl Fn(&T) -> String,
    report: &mut Report,
) {
    // Which of the items counts, by its index, and whether it is a snapshot.
    let mut counted: HashMap<(String, String), (usize, bool)> = HashMap::new();
    let mut stands_for: Vec<Option<(String, String)>> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let identity = identity(item);
        if let Some(identity) = &identity {
            let candidate = (index, is_snapshot(item));
            match counted.entry(identity.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(candidate);
                }
                Entry::Occupied(mut entry) => {
                    if entry.get().1 && !candidate.1 {
                        entry.insert(candidate);
                    }
                }
            }
        }
        stands_for.push(identity);
    }
    let paths: HashMap<usize, String> =
        counted.values().map(|(index, _)| (*index, path(&items[*index]))).collect();
    let mut index = 0;
    items.retain(|item| {
        let current = index;
        index += 1;
        let Some((first, _)) = stands_for[current].as_ref().and_then(|identity| counted.get(identity)) else {
            return true;
        };
        if *first != current {
            let other = &paths[first];
            report.warn(copied(path(item), other));
        }
        *first == current
    });
}

/// The warning about a copy of another one, which counts.
pub(crate) fn copied(path: String, other: &str) -> Warning {
    let message = format!("It is the same trial as {other}, which counts. This one is left out.");
    Warning::skipped(path, "part.duplicate", message)
}

/// From here on a count of tokens distinguishes episodes that began in the same second.
const MANY_TOKENS: u64 = 1_000;
/// So many different durations distinguish episodes, even if each is rounded to a tenth of a second.
const MANY_DURATIONS: usize = 3;

fn timings(episode: &Episode) -> impl Iterator<Item = &Timing> {
    let attempt_values = episode.turns.iter().flat_map(|turn| &turn.attempts).map(|attempt| &attempt.timing);
    std::iter::once(&episode.timing).chain(attempt_values)
}

/// Whether a time is more exact than a second.
fn has_fraction(time: &str) -> bool {
    time.split_once('.')
        .is_some_and(|(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).any(|digit| digit != b'0'))
}

/// Whether it was measured so closely that no other episode comes out alike: a time of the day with a fraction of a second, a
/// duration that is not rounded, or several that are. One rounded duration (`12.5`) is shared by many; with a time of the day, or
/// with many tokens, it is not.
fn is_close(episode: &Episode) -> bool {
    let is_exact_time = |time: &Option<String>| time.as_deref().is_some_and(has_fraction);
    let parts = parts_of_seconds(episode);
    let counts = [is_timed(episode), !parts.is_empty(), token_count(episode) >= MANY_TOKENS];
    timings(episode).any(|timing| is_exact_time(&timing.started_at) || is_exact_time(&timing.finished_at))
        || parts.len() >= MANY_DURATIONS
        || parts.iter().any(|seconds| is_unrounded(f64::from_bits(*seconds)))
        || counts.iter().filter(|counts| **counts).count() > 1
}

/// The durations in it that have a fraction of a second, as bits, each once.
fn parts_of_seconds(episode: &Episode) -> BTreeSet<u64> {
    let all = timings(episode).flat_map(|timing| [timing.agent_seconds, timing.test_seconds]).flatten();
    all.filter(|seconds| seconds.is_finite() && seconds.fract() != 0.0).map(f64::to_bits).collect()
}

/// Whether a duration is more exact than a thousandth of a second.
fn is_unrounded(seconds: f64) -> bool {
    (seconds * 1e3 - (seconds * 1e3).round()).abs() > 1e-5
}

/// Whether it says when any of it began or ended.
fn is_timed(episode: &Episode) -> bool {
    timings(episode).any(|timing| timing.started_at.is_some() || timing.finished_at.is_some())
}

/// Input and output tokens.
fn token_count(episode: &Episode) -> u64 {
    let attempt_values = episode.turns.iter().flat_map(|turn| &turn.attempts).map(|attempt| attempt.tokens);
    token_sum(attempt_values.fold(episode.tokens.unwrap_or_default(), Tokens::plus))
}

fn token_sum(tokens: Tokens) -> u64 {
    tokens.input.unwrap_or(0).saturating_add(tokens.output.unwrap_or(0))
}

fn repeat(stamp: Stamp, episode: &Episode) -> Stamp {
    stamp.text(&episode.scenario).number(episode.repeat.into())
}

fn contents(stamp: Stamp, episode: &Episode) -> Stamp {
    let attempts =
        || episode.turns.iter().flat_map(|turn| turn.attempts.iter().map(move |a| (turn.number, a)));
    let mut stamp = timing(stamp, &episode.timing);
    stamp = tokens(stamp, episode.tokens.unwrap_or_default());
    stamp = add_number(stamp, episode.cost_usd);
    stamp = pair(stamp, episode.exception.as_ref());
    for (turn, attempt) in attempts() {
        stamp = self::attempt(stamp.number(turn.into()), attempt);
    }
    stamp
}

fn attempt(mut stamp: Stamp, attempt: &Attempt) -> Stamp {
    stamp = stamp.number(attempt.number.into()).text(attempt.verdict.as_str());
    for count in [attempt.passed, attempt.total, attempt.tool_calls, attempt.steps] {
        stamp = add_count(stamp, count.map(u64::from));
    }
    stamp = add_number(add_number(stamp, attempt.reward), attempt.cost_usd);
    stamp = timing(tokens(stamp, attempt.tokens), &attempt.timing);
    stamp = pair(stamp, attempt.exception.as_ref());
    for test in attempt.tests.iter().filter(|test| test.is_failing()) {
        stamp = stamp.text(&test.id);
    }
    stamp
}

fn timing(stamp: Stamp, timing: &Timing) -> Stamp {
    let text =
        |stamp: Stamp, text: &Option<String>| stamp.text(&utc_text(text.as_deref().unwrap_or_default()));
    let stamp = text(text(stamp, &timing.started_at), &timing.finished_at);
    add_number(add_number(stamp, timing.agent_seconds), timing.test_seconds)
}

fn tokens(stamp: Stamp, tokens: Tokens) -> Stamp {
    add_count(add_count(add_count(stamp, tokens.input), tokens.cached), tokens.output)
}

/// Unknown is another thing than every number.
const fn add_count(stamp: Stamp, number: Option<u64>) -> Stamp {
    match number {
        None => stamp.number(0),
        Some(number) => stamp.number(1).number(number),
    }
}

fn add_number(stamp: Stamp, number: Option<f64>) -> Stamp {
    add_count(stamp, number.map(f64::to_bits))
}

fn pair(stamp: Stamp, pair: Option<&(String, String)>) -> Stamp {
    pair.map_or(stamp.number(0), |(kind, message)| stamp.text(kind).text(message))
}

#[cfg(test)]
mod tests {
    use model::Turn;

    use super::*;

    fn episode(key: &str, started: Option<&str>, input: Option<u64>) -> Episode {
        let mut episode = Episode::new(key, "s");
        let mut turn = Turn::new(1);
        let mut attempt = Attempt::new(1, Verdict::Passed);
        attempt.timing.started_at = started.map(str::to_owned);
        attempt.tokens.input = input;
        turn.attempts.push(attempt);
        episode.turns.push(turn);
        episode
    }

    #[test]
    fn copies_are_alike_and_nothing_else_is() {
        let episode_at = |key: &str, time: &str| episode(key, Some(time), Some(1));
        let original = episode_at("a", "2026-01-01T10:00:00.250Z");
        assert!(from_contents(&original).is_some());
        assert_eq!(from_contents(&original), from_contents(&episode_at("b", "2026-01-01T10:00:00.250Z")));
        assert_ne!(from_contents(&original), from_contents(&episode_at("a", "2026-01-01T10:00:00.251Z")));
        assert_eq!(
            from_contents(&original),
            from_contents(&episode_at("a", "2026-01-01T12:00:00.250+02:00"))
        );
        for (time, utc) in [
            ("2026-01-01T00:30:00.1234567+02:00", "2025-12-31T22:30:00.1234567Z"),
            ("2026-01-01T10:00:00-0330", "2026-01-01T13:30:00Z"),
            ("2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00Z"),
            ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"),
            ("2026-01-01T10:00:00", "2026-01-01T10:00:00"),
            ("2026-02-30T10:00:00+02:00", "2026-02-30T10:00:00+02:00"),
            ("a time, such as 10:00 + 2", "a time, such as 10:00 + 2"),
        ] {
            assert_eq!(utc_text(time), utc);
        }
        let mut copy = original.clone();
        copy.repeat = 2;
        assert_eq!(from_contents(&original), from_contents(&copy), "a copy is another repeat");
        let mut changed = original.clone();
        changed.turns[0].attempts[0].tokens.cached = Some(0);
        assert_ne!(from_contents(&original), from_contents(&changed), "0 is not unknown");
        assert_ne!(from_id(&["a", "b"]), from_id(&["ab"]));
        assert!(is_own(&from_id(&["a", "b"])) && is_own(&from_contents(&original).unwrap_or_default()));
        for foreign in ["1", "id-1", "id-00000000000000zz", "xx-0000000000000000", "id-00000000000000000"] {
            assert!(!is_own(foreign), "{foreign}");
        }
    }

    #[test]
    fn what_was_not_measured_closely_has_no_identity() {
        let known = |started, input| from_contents(&episode("a", started, input)).is_some();
        assert!(!known(None, Some(90_000)));
        assert!(!known(Some("2026-01-01T10:00:00Z"), Some(20)));
        assert!(!known(Some("2026-01-01T10:00:00.000Z"), None));
        assert!(known(Some("2026-01-01T10:00:00Z"), Some(48_213)));
        assert!(known(Some("2026-01-01T10:00:00.004Z"), None));
    }

    #[test]
    fn one_rounded_duration_is_shared_by_many() {
        let measured_episode = |durations: &[f64], started, input| {
            let mut episode = episode("a", started, input);
            let attempt = episode.turns[0].attempts[0].clone();
            episode.turns[0].attempts = durations
                .iter()
                .map(|seconds| {
                    let mut attempt = attempt.clone();
                    attempt.timing.agent_seconds = Some(*seconds);
                    attempt
                })
                .collect();
            episode
        };
        let is_known = |durations: &[f64], started, input| {
            from_contents(&measured_episode(durations, started, input)).is_some()
        };
        for (durations, known) in [
            (&[12.5][..], false),
            (&[60.125], false),
            (&[12.5, 12.5, 12.5], false),
            (&[12.5, 13.5], false),
            (&[12.5, 13.5, 0.25], true),
            (&[12.482_391], true),
            (&[1_800.0], false),
        ] {
            assert_eq!(is_known(durations, None, None), known, "{durations:?}");
        }
        assert!(is_known(&[12.5], Some("2026-01-01T10:00:00Z"), None));
        assert!(is_known(&[12.5], None, Some(48_213)));
        assert!(!is_known(&[12.0], None, Some(48_213)));
        // It is the same only in a run of that name.
        let rounded = measured_episode(&[12.5], None, None);
        assert_eq!(from_run_and_contents("a", &rounded), from_run_and_contents("a", &rounded.clone()));
        assert_ne!(from_run_and_contents("a", &rounded), from_run_and_contents("b", &rounded));
        assert_eq!(from_run_and_contents("a", &measured_episode(&[12.0], None, None)), None);
        assert_eq!(
            from_run_and_contents("a", &measured_episode(&[12.482_391], None, None)),
            None,
            "its contents tell it"
        );
    }

    #[test]
    fn how_an_episode_began_stays_the_same_while_it_goes_on() {
        let first = episode("a", Some("2026-01-01T10:00:00.250Z"), Some(1));
        let mut changed = first.clone();
        let mut turn = Turn::new(2);
        turn.attempts.push(Attempt::new(1, Verdict::Failed));
        changed.turns.push(turn);
        changed.timing.finished_at = Some("2026-01-01T11:00:00Z".to_owned());
        assert!(from_beginning("s", &first).is_some());
        assert_eq!(from_beginning("s", &first), from_beginning("s", &changed));
        assert_ne!(from_contents(&first), from_contents(&changed));
        let mut running = first.clone();
        running.turns[0].attempts[0].verdict = Verdict::Unfinished;
        assert_eq!(from_beginning("s", &running), None);
        // A second is shared by many; with as many tokens it is not.
        assert_eq!(from_beginning("s", &episode("a", Some("2026-01-01T10:00:00Z"), Some(20))), None);
        assert!(from_beginning("s", &episode("a", Some("2026-01-01T10:00:00Z"), Some(48_213))).is_some());
        let mut whole = episode("a", None, None);
        assert_eq!(from_beginning("s", &whole), None);
        whole.timing.started_at = Some("2026-01-01T10:00:00.5Z".to_owned());
        assert!(from_beginning("s", &whole).is_some());
    }
}
