//! What identifies a test over the turns of a scenario.

use crate::TestResult;

/// Most bytes of a description in the comparison of tests.
const DESCRIPTION: usize = 1024;

/// The name of a file without its turn: `suites/turn_3.py` and `suites/turn_4.py` are equal. Other numbers stay: `test_1.py` and
/// `test_2.py` are two files.
pub fn without_turn(file: &str) -> String {
    let mut out = String::with_capacity(file.len());
    let mut rest = file;
    while let Some((index, word)) =
        ["turn", "round", "step", "iteration"].iter().filter_map(|word| Some((rest.find(word)?, *word))).min()
    {
        let after = index + word.len();
        out.push_str(&rest[..after]);
        rest = rest[after..].trim_start_matches(['_', '-']);
        let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest = &rest[number..];
    }
    out.push_str(rest);
    out
}

/// Whether an id is numeric, with at most one word before the number: `c094`, `T53`, `case-12`, `c001#2`. Such ids are valid in one
/// turn only.
pub fn is_numeric_id(id: &str) -> bool {
    // Most ids are words. This check is fast for them.
    let bytes = id.as_bytes();
    if !bytes.last().is_some_and(u8::is_ascii_digit) && !bytes.contains(&b'#') {
        return false;
    }
    let name = id.rsplit("::").next().unwrap_or(id);
    let name = name.split('#').next().unwrap_or(name);
    let number = name.trim_start_matches(|c: char| c.is_alphabetic() || matches!(c, '_' | '-' | ' '));
    let word = name.len() - number.len();
    word <= 8 && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// What a test with a numeric id is followed by over turns: its group, intent and circumstances; `None` = it says no intent.
pub fn description_of_test(test: &TestResult) -> Option<String> {
    let intent = test.intent.as_deref()?;
    let [group, scenario] = [&test.group, &test.scenario].map(|text| text.as_deref().unwrap_or_default());
    let whole = format!("{group}\n{intent}\n{scenario}");
    Some(whole[..whole.floor_char_boundary(DESCRIPTION)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_in_the_turn_are_equal() {
        assert_eq!(without_turn("suites/turn_3.py"), without_turn("suites/turn_14.py"));
        assert_eq!(without_turn("round-2/test.py"), without_turn("round-3/test.py"));
        assert_ne!(without_turn("test_1.py"), without_turn("test_2.py"));
        assert_eq!(without_turn("tests/test_v2.py"), "tests/test_v2.py");
    }
}
