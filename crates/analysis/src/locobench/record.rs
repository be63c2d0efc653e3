//! The metrics over the log of calls and the conversation.

use std::collections::{HashMap, HashSet};

use super::python::words;
use super::{Call, Message, OtherPath, Session, rescaled};

/// Phrases that count as a look back, at any place, also inside words.
const LOOKS_BACK: [&str; 9] = [
    "previously",
    "earlier",
    "before",
    "as mentioned",
    "as discussed",
    "recall",
    "remember",
    "we did",
    "we discussed",
];

/// One message in three is sampled.
const SAMPLE_EVERY: usize = 3;
/// Most samples.
const SAMPLES: usize = 5;

/// The value of both coverage metrics without a modified file.
const NO_FILES: f64 = 0.65;
/// The value of M8 where the program cannot compute it: an exception in a metric gives a fixed value.
const NOT_COMPUTED: f64 = 0.65;

/// The part of the name of a function that is its kind of tool in M1.
fn kind_of_tool(function: &str) -> &str {
    let Some((rest, last)) = function.rsplit_once('_') else { return function };
    if last.chars().count() > 2 {
        return last;
    }
    let start = rest.rfind('_').map_or(0, |index| index + 1);
    &function[start..]
}

/// M1: different kinds of tools over the logarithm of calls. The success of calls does not enter.
pub(super) fn execution_success_rate(calls: &[Call<'_>]) -> f64 {
    if calls.is_empty() {
        return 0.5;
    }
    let kinds: HashSet<&str> = calls.iter().map(|call| kind_of_tool(call.function)).collect();
    (kinds.len() as f64 / ((calls.len() as f64 + 1.0).ln() + 1.0)).clamp(0.2, 1.0)
}

/// M2: looks back, and common words of sampled messages.
pub(super) fn multi_session_memory_retention(messages: &[Message<'_>]) -> f64 {
    if messages.len() < 3 {
        return 1.0;
    }
    let (mut answers, mut looking_back) = (0_usize, 0_usize);
    let mut samples: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role != "assistant" {
            continue;
        }
        let text = message.content.to_lowercase();
        answers += 1;
        looking_back += usize::from(LOOKS_BACK.iter().any(|phrase| text.contains(phrase)));
        if index % SAMPLE_EVERY == 0 && samples.len() < SAMPLES {
            samples.push(text);
        }
    }
    let references =
        if answers == 0 { 0.5 } else { (looking_back as f64 / (answers / 3).clamp(1, 5) as f64).min(1.0) };
    (0.5 * references + 0.5 * coherence(&samples)).clamp(0.3, 1.0)
}

/// Mean Jaccard index of the words of more than four characters in adjacent samples.
fn coherence(samples: &[String]) -> f64 {
    let vocabularies: Vec<HashSet<&str>> =
        samples.iter().map(|text| words(text).filter(|word| word.chars().count() > 4).collect()).collect();
    let overlaps: Vec<f64> = vocabularies
        .windows(2)
        .filter(|pair| pair.iter().all(|words| !words.is_empty()))
        .map(|pair| {
            let common = pair[0].intersection(&pair[1]).count();
            common as f64 / (pair[0].len() + pair[1].len() - common) as f64
        })
        .collect();
    if overlaps.is_empty() { 0.5 } else { overlaps.iter().sum::<f64>() / overlaps.len() as f64 }
}

/// Whether a call counts as a read, by its name.
pub(super) fn reads(call: &Call<'_>) -> bool {
    is_named(call, &["read_file", "list_directory", "grep", "search"])
}

/// Whether a call counts as a write, by its name.
pub(super) fn writes(call: &Call<'_>) -> bool {
    is_named(call, &["write_file", "edit_file", "create_file"])
}

fn is_named(call: &Call<'_>, parts: &[&str]) -> bool {
    let name = call.function.to_lowercase();
    parts.iter().any(|part| name.contains(part))
}

/// The path of a call. The top folder is not a path.
pub(super) fn place<'a>(call: &Call<'a>) -> Option<&'a str> {
    call.path.filter(|path| *path != ".")
}

/// M8: the share of modified files that a call read, before or after.
pub(super) fn information_coverage(session: &Session<'_>) -> f64 {
    if session.files.is_empty() {
        return NO_FILES;
    }
    if session.calls.iter().any(|call| call.other_path == Some(OtherPath::Compound) && reads(call)) {
        return NOT_COMPUTED;
    }
    let read: HashSet<&str> = session.calls.iter().filter(|call| reads(call)).filter_map(place).collect();
    let covered = session.files.iter().filter(|(path, _)| read.contains(path)).count();
    rescaled(covered as f64 / session.files.len() as f64, 0.0, 0.3)
}

/// M9: the share of modified files whose index among the reads is smaller than their index among the writes. These are two
/// lists, so a file that was written first may count, and a file that was read first may not. A path that is no text has a
/// place in them as well.
pub(super) fn long_range_dependency_resolution(session: &Session<'_>) -> f64 {
    if session.files.is_empty() {
        return NO_FILES;
    }
    let (mut first_read, mut first_write) = (HashMap::new(), HashMap::new());
    let (mut read, mut written) = (0_usize, 0_usize);
    for call in session.calls {
        let path = place(call);
        let list = match (reads(call), writes(call)) {
            (true, _) => Some((&mut first_read, &mut read)),
            (false, true) => Some((&mut first_write, &mut written)),
            (false, false) => None,
        };
        let is_listed = path.is_some() || call.other_path.is_some();
        let Some((first, places)) = list.filter(|_| is_listed) else { continue };
        if let Some(path) = path {
            first.entry(path).or_insert(*places);
        }
        *places += 1;
    }
    let proper = session.files.iter().filter(|(path, _)| {
        first_read.get(path).zip(first_write.get(path)).is_some_and(|(read, write)| read < write)
    });
    rescaled(proper.count() as f64 / session.files.len() as f64, 0.0, 0.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exception of the program: a list cannot be put into a set.
    #[test]
    fn a_read_of_a_list_of_paths_is_not_computed() {
        let read = Call { function: "read_file", path: Some("a"), ..Call::default() };
        let list_call =
            |function| Call { function, other_path: Some(OtherPath::Compound), ..Call::default() };
        let coverage = |calls: &[Call<'_>]| {
            information_coverage(&Session { calls, files: &[("a", Some("x"))], ..Session::default() })
        };
        let near = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
        assert!(near(coverage(&[read]), 0.9));
        assert!(near(coverage(&[read, list_call("grep")]), 0.65));
        assert!(near(coverage(&[read, list_call("write_file")]), 0.9), "only reads enter");
    }

    /// As the original computes it.
    #[test]
    fn a_path_that_is_no_text_has_a_place_among_reads_and_writes() {
        let named = |function, path| Call { function, path: Some(path), ..Call::default() };
        let value = |calls: &[Call<'_>]| {
            long_range_dependency_resolution(&Session {
                calls,
                files: &[("a", Some("x"))],
                ..Session::default()
            })
        };
        for (other_path, after_read, after_write) in
            [(None, 0.9, 0.4), (Some(OtherPath::Single), 0.4, 0.9), (Some(OtherPath::Compound), 0.4, 0.9)]
        {
            let unnamed = |function| Call { function, other_path, ..Call::default() };
            let read = [
                unnamed("grep"),
                named("read_file", "a"),
                named("write_file", "b"),
                named("write_file", "a"),
            ];
            let written = [named("read_file", "a"), unnamed("write_file"), named("write_file", "a")];
            let found = (value(&read), value(&written));
            let near = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
            assert!(near(found.0, after_read) && near(found.1, after_write), "{other_path:?}: {found:?}");
        }
    }

    #[test]
    fn the_end_of_a_name_is_the_kind_of_tool() {
        let kinds =
            ["read_file", "go_to", "a_b", "x_go_to", "system_copy_1_read_file", "add", "a_", "", "_ab"];
        assert_eq!(
            kinds.map(kind_of_tool),
            ["file", "go_to", "a_b", "go_to", "file", "add", "a_", "", "_ab"]
        );
    }
}
