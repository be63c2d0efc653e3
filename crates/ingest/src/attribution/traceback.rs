//! What a Python traceback says: the full name of the exception, and of the exception that was raised first the type and
//! the frames.

/// The line that begins a traceback.
const HEAD: &str = "Traceback (most recent call last):";
/// The line that begins the first exception of a group.
const FIRST_OF_GROUP: &str = "+---------------- 1 ----------------";

/// The first block of a traceback: of the exception that was raised first, which led to the others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FirstBlock<'a> {
    /// Its type with its module; Python's own types stand without one.
    pub(super) kind: &'a str,
    /// Its message's first line.
    pub(super) message: &'a str,
    /// The files of its frames, the innermost last.
    pub(super) files: Vec<&'a str>,
}

/// The full name of the exception `kind`: the last line that begins with it, after its module if it has one. A message
/// has many lines, so it is not the last line as such.
pub(super) fn full_name<'a>(traceback: &'a str, kind: &str) -> Option<&'a str> {
    traceback.lines().rev().filter_map(|line| type_line(line).map(|(name, _)| name)).find(|n| last(n) == kind)
}

/// Whether an exception of that type, whatever its module, is in the chain.
pub(super) fn names(traceback: &str, kind: &str) -> bool {
    full_name(traceback, kind).is_some()
}

/// The first block, if there is a whole one.
pub(super) fn first_block(traceback: &str) -> Option<FirstBlock<'_>> {
    let (_, rest) = traceback.split_once(HEAD)?;
    let mut files = Vec::new();
    for line in rest.lines().skip(1) {
        if !line.starts_with([' ', '\t']) {
            let (kind, message) = type_line(line)?;
            return Some(FirstBlock { kind, message, files });
        }
        files.extend(
            line.trim_start().strip_prefix("File \"").and_then(|f| f.split_once('"')).map(|(f, _)| f),
        );
    }
    None
}

/// Type and message of the first exception in a group; Python prints it indented, behind bars.
pub(super) fn first_of_group(traceback: &str) -> Option<(&str, &str)> {
    let (_, rest) = traceback.split_once(FIRST_OF_GROUP)?;
    rest.lines()
        .skip(1)
        .map_while(|line| line.trim_start().strip_prefix('|').map(|l| l.strip_prefix(' ').unwrap_or(l)))
        .find_map(type_line)
}

/// The last part of a dotted name.
pub(super) fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// `module.Type: message` or `module.Type`, from the line's first column.
fn type_line(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let message = if rest.is_empty() { "" } else { rest.strip_prefix(':')?.trim_start() };
    let is_name_start = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_name_start && !name.ends_with('.')).then_some((name, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: &str = "Traceback (most recent call last):\n  File \"/lib/a.py\", line 1, in f\n    raise X\n    ~~^^\n  File \"/lib/b.py\", line 2, in g\nhttpx.ReadTimeout\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/lib/c.py\", line 3, in h\nopenai.APITimeoutError: Request timed out.\nValueError: quoted\n";

    #[test]
    fn the_full_name_is_that_of_the_type_that_was_recorded() {
        assert_eq!(full_name(CHAIN, "APITimeoutError"), Some("openai.APITimeoutError"));
        assert_eq!(full_name(CHAIN, "ReadTimeout"), Some("httpx.ReadTimeout"));
        assert_eq!(full_name(CHAIN, "RuntimeError"), None);
        assert_eq!(full_name("  indented.RuntimeError: no", "RuntimeError"), None);
        assert_eq!(full_name("RuntimeError", "RuntimeError"), Some("RuntimeError"));
    }

    #[test]
    fn the_first_block_is_of_what_was_raised_first() {
        let block = first_block(CHAIN).unwrap();
        assert_eq!((block.kind, block.files), ("httpx.ReadTimeout", vec!["/lib/a.py", "/lib/b.py"]));
        assert_eq!(first_block(""), None);
        assert_eq!(first_block("Traceback (most recent call last):\n  File \"cut"), None);
    }

    #[test]
    fn a_group_shows_its_first_exception() {
        let group = "  + Exception Group Traceback (most recent call last):\n  |   File \"/a.py\", line 1, in f\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/b.py\", line 2, in g\n    | litellm.exceptions.Timeout: litellm.Timeout: late\n    +------------------------------------\n";
        assert_eq!(first_of_group(group), Some(("litellm.exceptions.Timeout", "litellm.Timeout: late")));
    }
}
