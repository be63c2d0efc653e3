//! Names of files that differ only in the turn.

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
