//! One entry of the FAILURES or ERRORS section: what failed, where, and the message of the assertion.

/// Longest message that is kept, in bytes.
const MESSAGE_CAP: usize = 8 * 1024;
/// Longest side of a comparison that is kept, in bytes.
const SIDE_CAP: usize = 2 * 1024;

/// Where in its life a test went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// In its body.
    Call,
    /// In a fixture, before or after.
    Fixture,
    /// The file could not be collected.
    Collection,
}

/// An entry being read.
#[derive(Debug)]
pub(super) struct Block {
    /// `TestOrders.test_cancel[a]`, or the file for [`Phase::Collection`].
    pub(super) name: String,
    /// Where it went wrong.
    pub(super) phase: Phase,
    /// Files that its traceback names, relative as pytest wrote them.
    pub(super) files: Vec<String>,
    /// The id that a crashed worker was at.
    pub(super) crashed_at: Option<String>,
    marked: Vec<String>,
    unmarked: Vec<String>,
    bytes: usize,
    captured: bool,
}

impl Block {
    /// Begins an entry by its title.
    pub(super) fn new(title: &str) -> Self {
        let (phase, name) = if let Some(path) = title.strip_prefix("ERROR collecting ") {
            (Phase::Collection, path)
        } else if let Some(name) =
            title.strip_prefix("ERROR at setup of ").or_else(|| title.strip_prefix("ERROR at teardown of "))
        {
            (Phase::Fixture, name)
        } else {
            (Phase::Call, title)
        };
        Self {
            name: name.to_owned(),
            phase,
            files: Vec::new(),
            crashed_at: None,
            marked: Vec::new(),
            unmarked: Vec::new(),
            bytes: 0,
            captured: false,
        }
    }

    /// Takes a line of the entry. `is_rule` = a line such as `---- Captured stdout call ----`.
    pub(super) fn take(&mut self, line: &str, is_rule: bool) {
        if is_rule {
            self.captured = true;
        }
        if self.captured {
            return;
        }
        if line.starts_with("During handling of the above exception")
            || line.starts_with("The above exception was the direct cause")
        {
            // Only the exception that left the test is its message.
            self.marked.clear();
            self.unmarked.clear();
            self.bytes = 0;
            return;
        }
        if let Some(id) = crash(line) {
            self.crashed_at = Some(id.to_owned());
        }
        if let Some(file) = location(line)
            && self.files.len() < 64
        {
            self.files.push(file.to_owned());
            return;
        }
        if self.bytes > 4 * MESSAGE_CAP {
            return;
        }
        self.bytes += line.len() + 1;
        match line.strip_prefix('E') {
            Some(rest) if rest.is_empty() || rest.starts_with("   ") => self.marked.push(rest.to_owned()),
            _ => self.unmarked.push(line.to_owned()),
        }
    }

    /// The message: the lines that pytest marks with `E`, or where it marks none what stands at the end.
    pub(super) fn message(&self) -> Option<String> {
        let mut text = if self.marked.is_empty() { last_words(&self.unmarked) } else { dedent(&self.marked) };
        cut(&mut text, MESSAGE_CAP);
        (!text.is_empty()).then_some(text)
    }
}

/// `tests/test_a.py:12: AssertionError` or `tests/test_a.py:12: in test_b`: the file.
fn location(line: &str) -> Option<&str> {
    if line.starts_with(' ') {
        return None;
    }
    let (file, rest) = line.split_once(".py:")?;
    let (number, _) = rest.split_once(':')?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) || file.contains(['"', '\'']) {
        return None;
    }
    Some(&line[..file.len() + 3])
}

/// The id in `worker 'gw1' crashed while running 'tests/test_a.py::test_b'`.
fn crash(line: &str) -> Option<&str> {
    line.strip_prefix("worker '")?.split_once("' crashed while running '")?.1.strip_suffix('\'')
}

/// Lines without their common indentation, blank ones at the ends dropped.
fn dedent(lines: &[String]) -> String {
    let indent = |l: &String| l.len() - l.trim_start_matches(' ').len();
    let least = lines.iter().filter(|l| !l.trim().is_empty()).map(indent).min().unwrap_or(0);
    let kept: Vec<&str> = lines.iter().map(|l| l.get(least..).unwrap_or("").trim_end()).collect();
    kept.join("\n").trim_matches('\n').to_owned()
}

/// The message of an entry without marked lines: a native traceback, a strict xpass, a crashed worker.
fn last_words(lines: &[String]) -> String {
    let at_margin =
        |l: &&String| !l.is_empty() && !l.starts_with([' ', '>', '[']) && !l.starts_with("Traceback (");
    let first_line = lines.iter().rposition(|l| at_margin(&l));
    let first_line =
        first_line.or_else(|| lines.iter().rposition(|l| l.starts_with('[') && !l.starts_with("[gw")));
    first_line.map_or_else(String::new, |i| lines[i..].join("\n").trim().to_owned())
}

/// Cuts a text at a character boundary and marks it.
pub(super) fn cut(text: &mut String, cap: usize) {
    if text.len() > cap {
        let mut end = cap;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
}

/// What an assertion compared: (expected, actual). pytest writes the left side first, and tests put what came there.
///
/// `None` where the message is no comparison with `==`: then it is unknown which side is the expected one.
pub(super) fn comparison(message: &str) -> Option<(String, String)> {
    let line = message
        .lines()
        .find_map(|l| l.strip_prefix("assert ").or_else(|| l.strip_prefix("AssertionError: assert ")))?;
    if line.contains("...")
        && line.contains(" == ")
        && let Some((actual, expected)) = differing_items(message)
    {
        return Some((expected, actual));
    }
    let (actual, expected) = match split_outside_quotes(line, " == ") {
        Some(sides) => sides,
        // pytest cuts long texts in the middle, and their quotes with them.
        None if line.contains("...") && line.matches(" == ").count() == 1 => line.split_once(" == ")?,
        None => return None,
    };
    let side = |s: &str| {
        let mut s = s.trim().to_owned();
        cut(&mut s, SIDE_CAP);
        s
    };
    let (expected, actual) = (side(expected), side(actual));
    (!expected.is_empty() && !actual.is_empty()).then_some((expected, actual))
}

/// The pairs that pytest lists under `Differing items:`, which say more than two long texts cut in the middle.
fn differing_items(message: &str) -> Option<(String, String)> {
    let mut lines = message.lines().map(str::trim).skip_while(|l| *l != "Differing items:");
    lines.next()?;
    let (mut actual, mut expected) = (Vec::new(), Vec::new());
    for line in lines.take(8) {
        let Some((a, e)) = split_outside_quotes(line, " != ") else { break };
        actual.push(a.trim().to_owned());
        expected.push(e.trim().to_owned());
    }
    let join = |mut parts: Vec<String>| {
        parts.truncate(8);
        let mut s = parts.join("\n");
        cut(&mut s, SIDE_CAP);
        s
    };
    (!actual.is_empty()).then(|| (join(actual), join(expected)))
}

/// Splits at a separator that stands outside quotes and brackets.
fn split_outside_quotes<'a>(text: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    let (mut quote, mut escaped, mut depth) = (None, false, 0i32);
    for (index, c) in text.char_indices() {
        if let Some(q) = quote {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == q => quote = None,
                _ => {}
            }
            continue;
        }
        match c {
            '\'' | '"' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' if depth <= 0 && text[index..].starts_with(separator) => {
                return Some((&text[..index], &text[index + separator.len()..]));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_separated_outside_quotes_and_brackets() {
        let sides = |m: &str| comparison(m);
        assert_eq!(sides("assert 201 == 409"), Some(("409".into(), "201".into())));
        assert_eq!(sides("AssertionError: assert 'a == b' == 'c'"), Some(("'c'".into(), "'a == b'".into())));
        assert_eq!(
            sides("AssertionError: POST /x: expected 422, got 500\nassert 500 == 422\n +  where 500 = f()"),
            Some(("422".into(), "500".into()))
        );
        assert_eq!(sides("AssertionError: 3 != 4"), None);
        assert_eq!(sides("assert ('a' == 'a')"), None);
        assert_eq!(
            sides(
                "assert {'id': 1, 'st...'total': 12.5} == {'id': 1, 'st...'total': 12.5}\n  Omitting 2\n  Differing items:\n  {'state': 'open'} != {'state': 'cancelled'}\n  Use -v"
            ),
            Some(("{'state': 'cancelled'}".into(), "{'state': 'open'}".into()))
        );
    }
}
