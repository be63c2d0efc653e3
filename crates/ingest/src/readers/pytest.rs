//! Raw output of pytest, of any kind: plain, `-q`, `-v`, xdist, colored, cut off in the middle.
//!
//! The last line (`1 failed, 11 passed in 0.12s`) is what pytest itself counts, and wins over what is counted here
//! line by line; where it is missing the log is [`PytestLog::truncated`] and the counts are those of the lines.
//! Which tests *passed* is known by name only in verbose logs.
//!
//! Counts follow pytest: a test that passes and then fails in its teardown is one passed and one error.

mod block;
mod line;
mod log;
mod placing;

use std::collections::HashMap;

use model::{TestOutcome, TestResult};

pub use self::log::{Counts, PytestLog};
use block::Block;
use line::{Width, Word};

/// Most tests that are kept by name; further ones are only counted.
const TEST_CAP: usize = 100_000;
/// Most entries of FAILURES and ERRORS that are read.
const BLOCK_CAP: usize = 20_000;

/// The numbers of pytest's last line, looked for at the end of a log only.
///
/// `tail` is the end of a log, some kilobytes of it. `None`: the last line is not there, or pytest stopped in a way
/// that the numbers alone do not show, so that the whole log must be read.
pub fn last_line(tail: &str) -> Option<Counts> {
    let tail = line::without_ansi(tail);
    for text in tail.lines().rev().map(str::trim_end).filter(|l| !l.trim().is_empty()).take(4) {
        if text.starts_with('!') || text.starts_with("INTERNALERROR") {
            return None;
        }
        if let Some(counts) = line::counts(text.trim_matches('=').trim()) {
            let mut lines_above = tail[..tail.find(text)?].lines().rev().filter(|l| !l.trim().is_empty());
            let stopped =
                lines_above.next().is_some_and(|l| l.starts_with('!') || l.starts_with("INTERNALERROR"));
            return (!stopped).then_some(counts);
        }
    }
    None
}

/// Reads a whole log.
pub fn parse(text: &str) -> PytestLog {
    let text = line::without_ansi(text.strip_prefix('\u{feff}').unwrap_or(text));
    let last = text.lines().rev().map(str::trim).find(|l| !l.is_empty()).unwrap_or("");
    let mut reading = Reading::new(last);
    reading.ends_open = !text.ends_with('\n');
    for raw in text.lines() {
        let raw = raw.trim_end_matches('\r');
        if reading.section == Section::Progress && raw.contains('\r') {
            // A terminal line written over again.
            raw.split('\r').for_each(|piece| reading.take(piece));
        } else {
            reading.take(raw);
        }
    }
    reading.finish()
}

/// Where in the log the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Header and progress.
    Progress,
    /// FAILURES and ERRORS.
    Blocks,
    /// The short test summary.
    Summary,
    /// Warnings, durations, PASSES: nothing that is wanted.
    Other,
}

struct Reading<'a> {
    /// The last line of the text that is not blank.
    last: &'a str,
    /// Whether that line has no end, so that it may be half a line.
    ends_open: bool,
    log: PytestLog,
    by_id: HashMap<String, usize>,
    section: Section,
    width: Width,
    blocks: Vec<Block>,
    counted: Counts,
    all_done: bool,
    /// Index of the last short summary entry, whose message may continue.
    entry: Option<usize>,
    /// Messages of the short summary by test, for tests without an entry in FAILURES.
    brief: HashMap<usize, String>,
}

impl<'a> Reading<'a> {
    fn new(last: &'a str) -> Self {
        Self {
            last,
            ends_open: false,
            log: PytestLog::default(),
            by_id: HashMap::new(),
            section: Section::Progress,
            width: Width::default(),
            blocks: Vec::new(),
            counted: Counts::default(),
            all_done: false,
            entry: None,
            brief: HashMap::new(),
        }
    }

    fn take(&mut self, text: &str) {
        if text.starts_with('=') && self.take_banner(text) {
            return;
        }
        if text.starts_with('!')
            && let Some(title) = line::banner(text, '!', self.width)
        {
            self.log.stopped = Some(title.to_owned());
            self.section = Section::Other;
            return;
        }
        if text.ends_with("+++") && text.contains(" Timeout +++") {
            self.log.timed_out = true;
        }
        // `-q` writes the last line without fill characters.
        if text.starts_with(|c: char| c.is_ascii_digit() || c == 'n')
            && (self.section != Section::Blocks || text.trim() == self.last)
            && let Some(counts) = line::counts(text.trim())
        {
            self.summarize(counts);
            return;
        }
        match self.section {
            Section::Progress => self.take_progress(text),
            Section::Blocks => self.take_block_line(text),
            Section::Summary => self.take_entry(text),
            Section::Other => {}
        }
    }

    fn summarize(&mut self, counts: Counts) {
        self.log.counts = counts;
        self.log.has_summary = true;
        self.log.is_pytest = true;
        self.section = Section::Other;
    }

    /// Whether the line is a banner of pytest's own.
    fn take_banner(&mut self, text: &str) -> bool {
        let Some(title) = line::banner(text, '=', self.width) else { return false };
        let section = match title {
            "test session starts" => {
                if self.log.has_summary {
                    let log = PytestLog { sessions: self.log.sessions, ..PytestLog::default() };
                    *self = Self { log, ends_open: self.ends_open, ..Self::new(self.last) };
                }
                self.log.sessions += 1;
                Section::Progress
            }
            "FAILURES" | "ERRORS" => Section::Blocks,
            "short test summary info" => Section::Summary,
            "PASSES" | "XFAILURES" | "XPASSES" | "rerun test summary info" => Section::Other,
            _ if title.starts_with("warnings summary") || title.starts_with("slowest ") => Section::Other,
            _ => {
                if let Some(counts) = line::counts(title) {
                    self.summarize(counts);
                    return true;
                }
                return false;
            }
        };
        self.width.measure(text);
        self.log.is_pytest = true;
        self.section = section;
        true
    }

    fn take_progress(&mut self, text: &str) {
        if let Some(error) = text.strip_prefix("INTERNALERROR>") {
            self.log.is_pytest = true;
            if !error.trim().is_empty() {
                self.log.internal_error = Some(error.trim().to_owned());
            }
            return;
        }
        if text.starts_with("coll")
            && let Some((lines_above, items)) = text.rsplit_once("collected ")
            && (lines_above.is_empty() || lines_above.ends_with("... "))
        {
            self.log.collected = collected(items).or(self.log.collected);
            return;
        }
        if text.starts_with(|c: char| c.is_ascii_digit())
            && let Some((_, items)) = text.split_once(" workers [").or_else(|| text.split_once(" worker ["))
        {
            self.log.collected = leading_number(items).or(self.log.collected);
            return;
        }
        if let Some((word, id, done)) = line::xdist(text) {
            self.all_done |= done;
            self.outcome(id, word);
            return;
        }
        let (rest, done) = line::without_progress(text);
        if rest.is_empty() && done {
            self.all_done |= self.log.is_pytest;
            return;
        }
        if let Some((id, word)) = line::verbose(rest) {
            if let Some(word) = word {
                self.all_done |= done;
                self.outcome(id, word);
            } else if text.ends_with(' ') || self.log.is_pytest {
                // With `-s` the test's own output follows its id; a space ends the id only if no bracket is open.
                self.log.running = Some(announced_id(rest).to_owned());
            }
            return;
        }
        if let Some(running) = self.log.running.clone()
            && let Some((word, after)) = line::leading_word(rest)
            && (after.is_empty() || after.starts_with('('))
        {
            self.all_done |= done;
            self.outcome(&running, word);
            return;
        }
        if let Some(letters) = line::letters(rest)
            && (self.log.is_pytest || rest.len() < text.len() || letters.len() == rest.len())
        {
            self.log.is_pytest |= rest.len() < text.trim_end().len();
            self.all_done |= done;
            for letter in letters.bytes() {
                self.count_letter(letter);
            }
        }
    }

    fn count_letter(&mut self, letter: u8) {
        let c = &mut self.counted;
        let field = match letter {
            b'.' => &mut c.passed,
            b'F' | b'u' => &mut c.failed,
            b'E' => &mut c.errors,
            b's' => &mut c.skipped,
            b'x' => &mut c.xfailed,
            b'X' => &mut c.xpassed,
            b'R' => &mut c.reruns,
            _ => return,
        };
        *field = field.saturating_add(1);
    }

    fn outcome(&mut self, id: &str, word: Word) {
        self.log.is_pytest = true;
        self.log.running = None;
        let c = &mut self.counted;
        let field = match word {
            Word::Outcome(TestOutcome::Passed) => &mut c.passed,
            Word::Outcome(TestOutcome::Failed) => &mut c.failed,
            Word::Outcome(TestOutcome::Error) => &mut c.errors,
            Word::Outcome(TestOutcome::Skipped) => &mut c.skipped,
            Word::Xfail => &mut c.xfailed,
            Word::Xpass => &mut c.xpassed,
            Word::Rerun => &mut c.reruns,
        };
        *field = field.saturating_add(1);
        if let Some(outcome) = word.outcome() {
            self.name(id, outcome);
        }
    }

    /// Keeps a test by name. What went wrong once stays wrong: passed, then an error in the teardown, is an error.
    fn name(&mut self, id: &str, outcome: TestOutcome) -> Option<usize> {
        if let Some(&index) = self.by_id.get(id) {
            let known = &mut self.log.tests[index].outcome;
            if outcome == TestOutcome::Error || *known == TestOutcome::Passed {
                *known = outcome;
            }
            return Some(index);
        }
        if self.log.tests.len() >= TEST_CAP || id.is_empty() {
            return None;
        }
        let index = self.log.tests.len();
        self.log.tests.push(TestResult::new(id, outcome));
        self.by_id.insert(id.to_owned(), index);
        Some(index)
    }

    fn take_block_line(&mut self, text: &str) {
        if text.starts_with('_')
            && let Some(title) = line::banner(text, '_', self.width)
        {
            if self.blocks.len() < BLOCK_CAP {
                self.blocks.push(Block::new(title));
            }
            return;
        }
        if let Some(block) = self.blocks.last_mut() {
            let is_rule = text.starts_with('-') && line::banner(text, '-', self.width).is_some();
            block.take(text, is_rule);
        }
    }

    fn take_entry(&mut self, text: &str) {
        if let Some((id, note)) = text.strip_prefix("SUBFAILED").and_then(subtest) {
            self.entry = self.name(&id, TestOutcome::Failed);
            self.note(note);
            return;
        }
        let entry = line::leading_word(text).filter(|(_, entry)| !entry.is_empty());
        let Some((outcome, entry)) = entry.and_then(|(word, entry)| Some((word.outcome()?, entry))) else {
            // A message of several lines, as pytest writes it under CI.
            if let Some(message) = self.entry.and_then(|i| self.brief.get_mut(&i))
                && message.len() < 8 * 1024
            {
                message.push('\n');
                message.push_str(text);
            }
            return;
        };
        self.entry = None;
        // `SKIPPED [1] file.py:3: reason` names no test.
        if entry.starts_with('[') {
            return;
        }
        let (id, note) = line::summary_entry(entry, |id| self.by_id.contains_key(id));
        let half = self.ends_open && text.trim() == self.last;
        let whole = note.is_some() && id.matches('[').count() == id.matches(']').count();
        if half && !whole && !self.by_id.contains_key(id) {
            return;
        }
        let (id, note) = (id.to_owned(), note.map(str::to_owned));
        if !id.contains("::") && outcome == TestOutcome::Error {
            self.log.collection_errors += 1;
        }
        self.entry = self.name(&id, outcome);
        self.note(note);
    }

    fn note(&mut self, note: Option<String>) {
        if let (Some(index), Some(note)) = (self.entry, note) {
            self.brief.insert(index, note);
        }
    }

    fn finish(mut self) -> PytestLog {
        self.place_blocks();
        for (index, mut note) in std::mem::take(&mut self.brief) {
            let test = &mut self.log.tests[index];
            if test.message.is_none() && test.is_failing() {
                block::cut(&mut note, 8 * 1024);
                test.message = Some(note);
            }
        }
        for test in self.log.tests.iter_mut().filter(|t| t.is_failing()) {
            if let Some((expected, actual)) = test.message.as_deref().and_then(block::comparison) {
                test.expected = Some(expected);
                test.actual = Some(actual);
            }
        }
        let mut log = self.log;
        if !log.has_summary {
            log.counts = self.counted;
            // A log cut off after the progress still lists what failed.
            let failed = log.tests.iter().filter(|t| t.outcome == TestOutcome::Failed).count() as u32;
            let errors = log.tests.iter().filter(|t| t.outcome == TestOutcome::Error).count() as u32;
            log.counts.failed = log.counts.failed.max(failed);
            log.counts.errors = log.counts.errors.max(errors);
        }
        let failed = log.counts.failed + log.counts.errors > 0;
        log.breaks_off = log.is_pytest
            && !log.has_summary
            && (self.section == Section::Blocks || (self.section == Section::Progress && failed));
        log.truncated = log.is_pytest && !log.has_summary && !(self.all_done && log.internal_error.is_none());
        log
    }
}

/// `(i=1) tests/test_a.py::test_b - message` after `SUBFAILED`: id with its parameters, and the message.
fn subtest(rest: &str) -> Option<(String, Option<String>)> {
    let index = rest.rfind(".py::")?;
    let start = rest[..index].rfind(' ')? + 1;
    let (id, note) = line::summary_entry(&rest[start..], |_| false);
    Some((format!("{id} {}", rest[..start].trim()), note.map(str::to_owned)))
}

/// The id at the start of a line that announces a test and continues what the test writes.
fn announced_id(text: &str) -> &str {
    let name = text.find("::").map_or(0, |index| index + 2);
    let mut depth = 0i32;
    for (index, c) in text[name..].char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ' ' if depth <= 0 => return &text[..name + index],
            _ => {}
        }
    }
    text
}

/// The number of tests to run in `26 items / 16 deselected / 10 selected`.
fn collected(items: &str) -> Option<u32> {
    let selected = items.split(" / ").find(|part| part.ends_with(" selected"));
    leading_number(selected.unwrap_or(items))
}

fn leading_number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse().ok()
}
