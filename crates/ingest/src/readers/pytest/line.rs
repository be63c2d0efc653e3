//! What one line of a pytest log is.
//!
//! pytest writes its banners with a fill character to the full width of the terminal, and pads each side with at
//! least one. Everything else in a log may be text of the tests, of the server under test, and so of the agent; that
//! is why a banner counts only at the width that the log's first banner has (see [`Width`]).

use std::borrow::Cow;

use model::TestOutcome;

use super::log::Counts;

/// Takes color codes and other terminal sequences out.
pub(super) fn without_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(index) = rest.find('\u{1b}') {
        out.push_str(&rest[..index]);
        rest = after_sequence(&rest[index + 1..]);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What follows a terminal sequence whose escape character has been taken.
fn after_sequence(text: &str) -> &str {
    let bytes = text.as_bytes();
    match bytes.first() {
        // CSI: parameters, then one final byte.
        Some(b'[') => {
            let end =
                bytes.iter().skip(1).position(|b| !(0x20..=0x3f).contains(b)).map_or(bytes.len(), |i| i + 1);
            let is_final = bytes.get(end).is_some_and(|b| (0x40..=0x7e).contains(b));
            &text[if is_final { end + 1 } else { end }..]
        }
        // OSC: up to BEL or ESC \.
        Some(b']') => match text.find(['\u{7}', '\u{1b}']) {
            Some(end) if bytes[end] == 7 => &text[end + 1..],
            Some(end) => text[end + 1..].strip_prefix('\\').unwrap_or(&text[end + 1..]),
            None => "",
        },
        Some(b) if b.is_ascii() => &text[1..],
        _ => text,
    }
}

/// The width of the log's banners, once one has been seen.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Width(Option<usize>);

impl Width {
    /// Takes the first banner as the measure, unless its title did not fit: then it says nothing about the width.
    pub(super) fn measure(&mut self, line: &str) {
        let fill = line.chars().next();
        if line.chars().take_while(|&c| Some(c) == fill).count() > 1 {
            self.0.get_or_insert(line.chars().count());
        }
    }

    /// Whether a banner of this fill character and title is as wide as the others.
    fn fits(self, line: &str, fill_left: usize) -> bool {
        match self.0 {
            None => true,
            // A title too long for the width is padded with one character on each side.
            Some(width) => {
                let chars = line.chars().count();
                chars == width || (fill_left == 1 && chars > width)
            }
        }
    }
}

/// The title of a banner such as `=== FAILURES ===`.
pub(super) fn banner(line: &str, fill: char, width: Width) -> Option<&str> {
    let inner = line.trim_start_matches(fill);
    let left = line.len() - inner.len();
    if left == 0 || !inner.starts_with(' ') {
        return None;
    }
    let title = inner.trim_end_matches(fill);
    if title.len() == inner.len() || !title.ends_with(' ') || !width.fits(line, left) {
        return None;
    }
    let title = title.trim();
    // `_ _ _ _` separates the entries of a traceback.
    (!title.is_empty() && !title.chars().all(|c| c == fill || c == ' ')).then_some(title)
}

/// The numbers of a last line such as `1 failed, 11 passed in 0.12s`, without its fill characters.
pub(super) fn counts(text: &str) -> Option<Counts> {
    let (list, time) = text.rsplit_once(" in ")?;
    let seconds = time.split([' ', 's']).next()?.parse().ok()?;
    let mut counts = Counts { seconds: Some(seconds), ..Counts::default() };
    if list == "no tests ran" {
        return Some(counts);
    }
    let mut known = false;
    for item in list.split(", ") {
        if item.starts_with("no tests ") {
            known = true;
            continue;
        }
        let (number, word) = item.split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        let field = match word {
            "passed" => &mut counts.passed,
            "failed" => &mut counts.failed,
            "error" | "errors" => &mut counts.errors,
            "skipped" => &mut counts.skipped,
            "xfailed" => &mut counts.xfailed,
            "xpassed" => &mut counts.xpassed,
            "deselected" => &mut counts.deselected,
            "rerun" => &mut counts.reruns,
            "test collected" | "tests collected" => &mut counts.collected_only,
            "warning" | "warnings" | "subtests passed" | "subtests failed" | "subtests skipped" => {
                known = true;
                continue;
            }
            other if !other.is_empty() && other.bytes().all(|b| b.is_ascii_lowercase() || b == b' ') => {
                continue;
            }
            _ => return None,
        };
        *field = field.saturating_add(number);
        known = true;
    }
    known.then_some(counts)
}

/// How a verbose line ends for a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// With this outcome.
    Outcome(TestOutcome),
    /// It failed as expected.
    Xfail,
    /// It passed although expected to fail.
    Xpass,
    /// It will be run again.
    Rerun,
}

impl Word {
    /// What it means for the test; `None` for a test that will be run again.
    pub(super) const fn outcome(self) -> Option<TestOutcome> {
        match self {
            Self::Outcome(outcome) => Some(outcome),
            Self::Xfail => Some(TestOutcome::Skipped),
            Self::Xpass => Some(TestOutcome::Passed),
            Self::Rerun => None,
        }
    }
}

const WORDS: [(&str, Word); 9] = [
    ("PASSED", Word::Outcome(TestOutcome::Passed)),
    ("FAILED", Word::Outcome(TestOutcome::Failed)),
    ("ERROR", Word::Outcome(TestOutcome::Error)),
    ("SKIPPED", Word::Outcome(TestOutcome::Skipped)),
    ("XFAIL", Word::Xfail),
    ("xfail", Word::Xfail),
    ("XPASS", Word::Xpass),
    ("RERUN", Word::Rerun),
    ("xpass", Word::Xpass),
];

/// An outcome word at the start of a text, and what follows it.
pub(super) fn leading_word(text: &str) -> Option<(Word, &str)> {
    if !text.starts_with(|c: char| c.is_ascii_uppercase() || c == 'x') {
        return None;
    }
    WORDS.iter().find_map(|(word, meaning)| {
        let rest = text.strip_prefix(word)?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| (*meaning, rest.trim_start()))
    })
}

/// A line without its progress mark (`[ 12%]`, `[ 3/26]`, `12ms`), and whether the mark says that all is done.
pub(super) fn without_progress(line: &str) -> (&str, bool) {
    let line = line.trim_end();
    if let Some(open) = line.strip_suffix(']').and_then(|l| l.rfind('['))
        && (open == 0 || line[..open].ends_with([' ', '\t']))
    {
        let mark = &line[open + 1..line.len() - 1];
        if let Some(percent) = mark.strip_suffix('%')
            && percent.trim().parse::<u8>().is_ok()
        {
            return (line[..open].trim_end(), percent.trim() == "100");
        }
        if let Some((done, all)) = mark.split_once('/')
            && let (Ok(done), Ok(all)) = (done.trim().parse::<u32>(), all.trim().parse::<u32>())
        {
            return (line[..open].trim_end(), done == all);
        }
    }
    (line, false)
}

/// `tests/test_a.py::test_b[x y] FAILED`, progress mark taken off: the id and the outcome; no outcome if the line
/// only announces the test.
pub(super) fn verbose(line: &str) -> Option<(&str, Option<Word>)> {
    let file = &line[..line.as_bytes().windows(2).position(|pair| pair == b"::")?];
    if file.is_empty()
        || file.starts_with(char::is_whitespace)
        || file.contains(": ")
        || file.len() > 400
        || leading_word(file).is_some()
    {
        return None;
    }
    if line.ends_with(')')
        && let Some((id, reason)) = line.rsplit_once(" (")
        && let Some((id, word)) = id.rsplit_once(' ')
        && !reason.is_empty()
        && let Some((word, "")) = leading_word(word)
    {
        return Some((id.trim_end(), Some(word)));
    }
    if let Some((id, last)) = line.rsplit_once(' ') {
        if let Some((word, "")) = leading_word(last) {
            return Some((id.trim_end(), Some(word)));
        }
        // A reason that itself holds brackets or was cut.
        for (index, _) in line.match_indices(" (").take(64) {
            if let Some((id, word)) = line[..index].rsplit_once(' ')
                && let Some((word, "")) = leading_word(word)
            {
                return Some((id.trim_end(), Some(word)));
            }
        }
    }
    Some((line, None))
}

/// `[gw0] [ 12%] PASSED tests/test_a.py::test_b`: the outcome, the id, and whether the mark says that all is done.
pub(super) fn xdist(line: &str) -> Option<(Word, &str, bool)> {
    let rest = line.strip_prefix("[gw")?;
    let (worker, rest) = rest.split_once(']')?;
    if worker.is_empty() || !worker.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut rest = rest.trim_start();
    let mut done = false;
    if let Some((mark, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        done = mark.trim() == "100%";
        rest = after.trim_start();
    }
    let (word, id) = leading_word(rest)?;
    (!id.is_empty()).then(|| (word, id.trim_end(), done))
}

/// The progress letters of a plain line (`tests/test_a.py .F.s`, or letters only), progress mark taken off.
pub(super) fn letters(line: &str) -> Option<&str> {
    let last = match line.rsplit_once(' ') {
        None => line,
        Some((path, letters)) if !path.trim().is_empty() && path.contains('.') && !path.contains(' ') => {
            letters
        }
        Some(_) => return None,
    };
    (!last.is_empty() && last.bytes().all(|b| b".FEsxXRuU,-".contains(&b))).then_some(last)
}

/// Splits `tests/test_a.py::test_b[x - y] - AssertionError: …` of the short summary into id and message.
pub(super) fn summary_entry(text: &str, is_known: impl Fn(&str) -> bool) -> (&str, Option<&str>) {
    if is_known(text) {
        return (text, None);
    }
    let cut = |index: usize| (&text[..index], Some(&text[index + 3..]));
    let places = || text.match_indices(" - ").map(|(index, _)| index).take(16);
    if let Some(index) = places().find(|index| is_known(&text[..*index])) {
        return cut(index);
    }
    let balanced = |index: &usize| {
        let id = &text[..*index];
        id.matches('[').count() <= id.matches(']').count()
    };
    match places().find(balanced).or_else(|| places().next()) {
        Some(index) => cut(index),
        None => (text, None),
    }
}
