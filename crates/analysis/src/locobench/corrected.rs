//! The figures that the calls of a session and their results show, with other names than those of the program. Without a
//! measurement they are unknown.

use std::collections::HashSet;

use model::CorrectedFigures;

use super::Call;
use super::record::{place, reads, writes};

/// The tool and the function of a call, without the number of the copy of the tool. Agents of Google have the name of the tool
/// split at its first underscore, with the rest before the function, so both are joined first.
pub fn plain_function(tool: &str, function: &str) -> (String, String) {
    const COPY: &str = "_copy_";
    let joined = format!("{tool}_{function}");
    let marked = joined.match_indices(COPY).find_map(|(index, _)| {
        let number = &joined[index + COPY.len()..];
        let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let own = behind.strip_prefix('_').filter(|_| behind.len() < number.len())?;
        Some((joined[..index].to_owned(), own.to_owned()))
    });
    marked.unwrap_or_else(|| (tool.to_owned(), function.to_owned()))
}

/// A path with single slashes. Projects of the benchmark write double slashes.
fn single_slashes(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !plain.ends_with('/') {
            plain.push(c);
        }
    }
    plain
}

/// The corrected figures of a session whose calls are known, in the order of its one log.
pub fn corrected(calls: &[Call<'_>]) -> CorrectedFigures {
    let answered: Vec<bool> = calls.iter().filter_map(|call| call.succeeded).collect();
    let functions: HashSet<(String, String)> =
        calls.iter().map(|call| plain_function(call.tool, call.function)).collect();
    let mut written: Vec<String> = Vec::new();
    let mut read: HashSet<String> = HashSet::new();
    let mut perhaps_read: HashSet<String> = HashSet::new();
    let mut read_first = 0_usize;
    // Whether each write has a response, and whether it is known for each written file that it was read before.
    let (mut is_known, mut order_is_known) = (true, true);
    for call in calls {
        let Some(path) = place(call).map(single_slashes) else { continue };
        let writing = !reads(call) && writes(call);
        is_known &= !writing || call.succeeded.is_some();
        if call.succeeded != Some(true) {
            if reads(call) && call.succeeded.is_none() {
                perhaps_read.insert(path);
            }
            continue;
        }
        if writing && !written.contains(&path) {
            let was_read = read.contains(&path);
            read_first += usize::from(was_read);
            order_is_known &= was_read || !perhaps_read.contains(&path);
            written.push(path);
        } else if reads(call) {
            read.insert(path);
        }
    }
    let share = |part: usize, all: usize| (all > 0).then_some((number(part), number(all)));
    CorrectedFigures {
        tool_success: share(answered.iter().filter(|success| **success).count(), answered.len()),
        distinct_functions: Some(number(functions.len())),
        read_before_write: share(read_first, written.len()).filter(|_| is_known && order_is_known),
        files_written: is_known.then_some(written),
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'a>(function: &'a str, path: &'a str, succeeded: Option<bool>) -> Call<'a> {
        Call { tool: "file_system", function, path: Some(path), other_path: None, succeeded }
    }

    #[test]
    fn a_tool_has_one_name_for_every_provider() {
        let own_tool = ("file_system".to_owned(), "read_file".to_owned());
        assert_eq!(plain_function("file_system", "read_file"), own_tool);
        assert_eq!(plain_function("file_system_copy_140", "read_file"), own_tool);
        assert_eq!(plain_function("file", "system_copy_140_read_file"), own_tool);
        assert_eq!(plain_function("echo_copy_1", "echo"), ("echo".to_owned(), "echo".to_owned()));
        assert_eq!(plain_function("my_copy_x", "run"), ("my_copy_x".to_owned(), "run".to_owned()));
    }

    #[test]
    fn only_successful_calls_read_or_write() {
        let (yes, no) = (Some(true), Some(false));
        let calls = [
            call("read_file", "a//b", no),
            call("write_file", "a/b", yes),
            call("read_file", "c//d", yes),
            call("write_file", "c/d", yes),
            call("write_file", "c//d", yes),
            call("write_file", "e", no),
        ];
        let figures = corrected(&calls);
        assert_eq!(figures.tool_success, Some((4, 6)));
        assert_eq!(figures.distinct_functions, Some(2));
        assert_eq!(figures.files_written, Some(vec!["a/b".to_owned(), "c/d".to_owned()]));
        assert_eq!(figures.read_before_write, Some((1, 2)));
    }

    #[test]
    fn figures_without_a_measurement_are_unknown() {
        let figures = corrected(&[]);
        assert_eq!((figures.tool_success, figures.read_before_write), (None, None));
        assert_eq!((figures.distinct_functions, figures.files_written), (Some(0), Some(Vec::new())));
        let figures = corrected(&[call("write_file", "a", None), call("write_file", "b", Some(true))]);
        assert_eq!((figures.files_written, figures.read_before_write), (None, None));
    }

    #[test]
    fn a_read_without_a_response_may_have_succeeded() {
        let (yes, no) = (Some(true), Some(false));
        let share = |calls: &[Call<'_>]| {
            let figures = corrected(calls);
            assert_eq!(figures.files_written, Some(vec!["a".to_owned()]), "the written files are known");
            figures.read_before_write
        };
        let write = call("write_file", "a", yes);
        assert_eq!(share(&[call("read_file", "a", None), write]), None);
        assert_eq!(share(&[call("read_file", "a", no), write]), Some((0, 1)));
        assert_eq!(share(&[call("read_file", "b", None), write]), Some((0, 1)), "another file");
        assert_eq!(share(&[write, call("read_file", "a", None)]), Some((0, 1)), "afterwards");
        assert_eq!(
            share(&[call("read_file", "a", None), call("read_file", "a", yes), write]),
            Some((1, 1)),
            "it was read at least once"
        );
    }
}
