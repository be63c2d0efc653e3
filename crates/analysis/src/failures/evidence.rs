//! The input of rules: a failing test or an attempt, parsed once.
//!
//! An agent, its server or a harness wrote all these texts. They are cut first, and only searched for plain texts, so the
//! work is linear in the kept length for any content.

mod attempt;
mod phrases;
mod texts;

use model::{TestOutcome, TestResult};

use super::Suites;
pub(super) use attempt::none_passed;
pub use attempt::{AttemptEvidence, LogsWanted};
pub use phrases::PhraseMeaning;
pub use texts::FailedRequest;
pub(super) use texts::case_parts;
use texts::{Keys, failed_request, line_after, number_after, sent, split_argument};

/// Most bytes of a message.
const MESSAGE: usize = 4 * 1024;
/// Most bytes of an expected or actual value.
const SIDE: usize = 1024;
/// Most bytes of ids, kinds and intents.
const ABOUT: usize = 1024;

/// The start of a text, cut between characters.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The texts by which a test describes itself, in lower case, the longest first.
fn own_words(test: &TestResult, message: &str) -> Vec<String> {
    let scenario = line_after(message, "scenario: ").map(str::to_owned);
    // A group of one word is a part of sentences about what came: "build" of "build failed with exit=1".
    let group = test.group.clone().filter(|group| !is_one_word(group));
    let texts = [test.intent.clone(), group, test.expected.clone(), scenario, Some(test.id.clone())];
    let mut own: Vec<String> = texts
        .into_iter()
        .flatten()
        .map(|text| head(&text, ABOUT).trim().to_lowercase())
        .filter(|text| text.len() >= 4)
        .collect();
    own.sort_by_key(|text| std::cmp::Reverse(text.len()));
    own
}

fn is_one_word(group: &str) -> bool {
    group.trim().bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The group of a test in lower case if it is one word. It describes the test only where a line begins with it as a label.
fn label(test: &TestResult) -> Option<String> {
    let group = head(test.group.as_deref()?, ABOUT).trim();
    (!group.is_empty() && is_one_word(group)).then(|| group.to_lowercase())
}

/// A line without this label at its start: `build: …`, `[build] …`, `(build) …`.
fn without_label<'a>(line: &'a str, label: &str) -> &'a str {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    let text = line.trim_start();
    for (open, close) in [("", ":"), ("[", "]"), ("(", ")")] {
        if let Some(rest) = text.strip_prefix(open)
            && let Some(rest) = rest.strip_prefix(label)
            && let Some(rest) = rest.strip_prefix(close)
            && ends(rest.trim_start_matches(':'))
        {
            return rest;
        }
    }
    line
}

/// The output of the tested program in a message: the lines without texts of the test, and from a line with an expected value
/// only the part after `got`.
fn program_output(output: &str, own: &[String], label: Option<&str>) -> String {
    const GOT: &[&str] =
        &[", got:", ", got ", "; got:", "; got ", " but got ", " actual=", "| actual:", " actual:"];
    let mut kept = String::with_capacity(output.len());
    for line in output.lines().filter(|line| !line.starts_with("scenario: ")) {
        let after_got = GOT.iter().filter_map(|word| Some(line.find(word)? + word.len())).min();
        let mut rest = match after_got {
            Some(end) if line.contains("expected") => line[end..].to_owned(),
            None if line.starts_with("expected") => continue,
            _ => label.map_or(line, |label| without_label(line, label)).to_owned(),
        };
        for text in own {
            if rest.contains(text.as_str()) {
                rest = rest.replace(text.as_str(), " ");
            }
        }
        kept.push_str(&rest);
        kept.push('\n');
    }
    kept
}

/// A parsed failing test. Texts are in lower case.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The parts of an id such as `orders.cancel.guard.shipped` (or `test_orders__cancel__guard__shipped`) of a suite of this
    /// project. Empty for other ids, and for all ids of other suites.
    pub case: Vec<String>,
    /// Id, group, kind, intent and scenario of the test.
    pub about: String,
    /// The kind of the test, as the source names it.
    pub kind: String,
    /// The message and the actual value.
    pub output: String,
    /// The output of the tested program in it, without texts of the test (its intent, its title, its expected value).
    pub program_output: String,
    /// The expected value as the test describes it.
    wanted: String,
    /// The expected value.
    pub expected: Option<String>,
    /// The actual value.
    pub actual: Option<String>,
    /// Whether these two are compared values and not prose.
    pub compares: bool,
    /// Whether an object may have more keys than the expected ones.
    pub may_have_more: bool,
    /// The expected HTTP status (`None`: some success) and the actual one.
    pub status: Option<(Option<u16>, u16)>,
    /// The expected exit code (`None`: unknown) and the actual one.
    pub exit: Option<(Option<i32>, i32)>,
    /// The request that failed.
    pub request: Option<FailedRequest>,
    /// The part of the body of that request in the message.
    pub sent: Option<String>,
    /// The wrong place in the response: a JSON pointer, `the body`.
    pub place: Option<String>,
    /// The name of the wrong field, if known.
    pub field: Option<String>,
    /// Whether the test raised an error outside its body.
    pub is_error: bool,
    /// Whether no test of the attempt passed.
    pub none_passed: bool,
    /// Whether another failing test shows that the subject of this test still responds under its old name.
    pub old_name_answers: bool,
    /// Whether another failing test shows that the default of the wrong field is wrong.
    pub default_is_wrong: bool,
}

impl Evidence {
    /// Parses a failing test. `none_passed`: no test of its attempt passed.
    pub fn from_test(test: &TestResult, none_passed: bool, suites: Suites) -> Self {
        let message = head(test.message.as_deref().unwrap_or_default(), MESSAGE);
        let mut about = String::new();
        for part in [Some(&test.id), test.group.as_ref(), test.kind.as_ref(), test.intent.as_ref()] {
            about.push_str(head(part.map_or("", String::as_str), ABOUT));
            about.push('\n');
        }
        about.push_str(line_after(message, "scenario: ").unwrap_or_default());
        let side = |side: &Option<String>| side.as_deref().map(|text| head(text, SIDE).trim().to_lowercase());
        let mut output = message.to_lowercase();
        if let Some(actual) = &test.actual {
            output.push('\n');
            output.push_str(&head(actual, SIDE).to_lowercase());
        }
        let mut evidence = Self {
            case: match suites {
                Suites::Own => case_parts(&test.id),
                Suites::Foreign => Vec::new(),
            },
            about: about.to_lowercase(),
            kind: head(test.kind.as_deref().unwrap_or_default(), ABOUT).trim().to_lowercase(),
            wanted: side(&test.expected).unwrap_or_default(),
            expected: side(&test.expected),
            actual: side(&test.actual),
            request: failed_request(message),
            is_error: test.outcome == TestOutcome::Error,
            none_passed,
            output,
            ..Self::default()
        };
        evidence.program_output =
            program_output(&evidence.output, &own_words(test, message), label(test).as_deref());
        evidence.sent = sent(&evidence.output);
        evidence.take_comparison();
        evidence.take_field();
        evidence.status = evidence.statuses();
        evidence.exit = evidence.exits();
        evidence
    }

    /// From the message: `…: expected /total to be 3, got 4`, `expected='3', got=''`, `expected: a | actual: b`.
    fn take_comparison(&mut self) {
        if let Some((_, rest)) = self.output.split_once(": expected ")
            && let Some((place, rest)) = rest.split_once(" to be ")
            && let Some((expected, actual)) = rest.split_once(", got ")
        {
            let actual = actual.split('\n').next().unwrap_or_default();
            let sides = (place.to_owned(), expected.trim().to_owned(), actual.trim().to_owned());
            self.compares = true;
            self.place = Some(sides.0);
            (self.expected, self.actual) = (Some(sides.1), Some(sides.2));
            return;
        }
        if self.take_assertion() {
            return;
        }
        // The comparison of pytest.
        self.compares = self
            .output
            .lines()
            .any(|line| line.starts_with("assert ") || line.starts_with("assertionerror: assert "));
        // If "actual" of the source has both sides, these are more precise than its two fields.
        let line = self.output.lines().next().unwrap_or_default();
        for (expected, actual) in [
            ("expected=", " actual="),
            ("expected='", "', got='"),
            ("expected: ", " | actual: "),
            ("expected to contain: ", " | actual: "),
        ] {
            if let Some(rest) = line.strip_prefix(expected)
                && let Some((wanted, given)) = rest.split_once(actual)
            {
                let trim = |text: &str| text.trim().trim_matches('\'').to_owned();
                let sides = (trim(wanted), trim(given));
                self.compares = true;
                (self.expected, self.actual) = (Some(sides.0), Some(sides.1));
                return;
            }
        }
    }

    /// `where False = same({'id': 1}, 3)`: the asserts of the pytest suites of this project.
    fn take_assertion(&mut self) -> bool {
        let Some((_, rest)) = self.output.split_once("where false = ") else { return false };
        let rest = rest.lines().next().unwrap_or_default();
        let Some((function, arguments)) = rest.split_once('(') else { return false };
        let arguments = arguments.trim_end().trim_end_matches(')');
        let (given, wanted) = split_argument(arguments);
        let (expected, field) = match function {
            "same" | "has" | "rows" | "column" => (wanted.to_owned(), None),
            "absent" => ("nothing".to_owned(), wanted.rsplit('\'').nth(1)),
            "is_text" => ("a text that is not empty".to_owned(), None),
            "is_id" => ("an integer of at least 1".to_owned(), None),
            _ => return false,
        };
        // An object may have more keys than `has` requires.
        let missing = match (Keys::from_text(wanted), Keys::from_text(given)) {
            (Some(wanted), Some(given)) if function == "has" => wanted.without(&given),
            _ => None,
        };
        let given = if missing.is_some() { "nothing" } else { given };
        let field = missing.or_else(|| field.map(str::to_owned));
        self.may_have_more = function != "same";
        let sides = (expected, given.to_owned(), field);
        self.place = Some("the body".to_owned());
        (self.expected, self.actual, self.field) = (Some(sides.0), Some(sides.1), sides.2);
        self.compares = true;
        true
    }

    /// Sets the wrong field. For two objects it is a field of only one of them; expected or given is then `nothing`.
    fn take_field(&mut self) {
        if self.take_field_of_created() {
            return;
        }
        let Some(place) = self.place.as_ref().filter(|_| self.field.is_none()) else { return };
        if let Some((_, name)) = place.rsplit_once('/') {
            self.field = Some(name.to_owned());
            return;
        }
        let (Some(expected), Some(actual)) = (&self.expected, &self.actual) else { return };
        let (Some(wanted), Some(given)) = (Keys::from_text(expected), Keys::from_text(actual)) else {
            return;
        };
        if let Some(name) = wanted.without(&given) {
            self.field = Some(name);
            self.actual = Some("nothing".to_owned());
        } else if !self.may_have_more
            && let Some(name) = given.without(&wanted)
        {
            self.field = Some(name);
            self.expected = Some("nothing".to_owned());
        }
    }

    /// The entity of which an action creates a record, if the case is about this effect (`….effect.create_orders`).
    pub fn created_entity(&self) -> Option<&str> {
        let index = self.case.iter().position(|part| part == "effect")?;
        self.case.get(index + 1)?.strip_prefix("create_")
    }

    /// Sets the wrong field of the one record that an action created, from a list of it.
    fn take_field_of_created(&mut self) -> bool {
        if self.place.is_none() || self.created_entity().is_none() {
            return false;
        }
        let record = |text: &Option<String>| {
            let text = text.as_deref()?.trim_start_matches("in any order ");
            let record = text.strip_prefix('[')?.strip_suffix(']')?;
            // A second record would follow the first.
            (!record.contains("},{")).then(|| record.to_owned())
        };
        let (Some(wanted), Some(given)) = (record(&self.expected), record(&self.actual)) else {
            return false;
        };
        let (Some(wanted), Some(given)) = (Keys::from_text(&wanted), Keys::from_text(&given)) else {
            return false;
        };
        let missing = wanted.without(&given);
        let is_missing = missing.is_some();
        let Some(name) = missing.or_else(|| wanted.only_difference(&given)) else { return false };
        if is_missing {
            self.actual = Some("nothing".to_owned());
        }
        self.field = Some(name);
        true
    }

    fn statuses(&self) -> Option<(Option<u16>, u16)> {
        let status = |n: i64| u16::try_from(n).ok().filter(|n| (100..600).contains(n));
        let actual = number_after(&self.output, &["got status "]).and_then(status);
        if let Some(actual) = actual {
            return Some((number_after(&self.output, &["expected status "]).and_then(status), actual));
        }
        let speaks_of_status = self.request.is_some()
            || ["status_code", "status code", "http status", "statuscode", "http/1.1"]
                .iter()
                .any(|word| self.output.contains(word));
        if !speaks_of_status {
            return None;
        }
        let number = |text: &Option<String>| {
            let text = text.as_deref()?.trim();
            text.parse().ok().or_else(|| number_after(text, &["status ", "status_code ", "http "]))
        };
        if let (Some(expected), Some(actual)) =
            (number(&self.expected).and_then(status), number(&self.actual).and_then(status))
        {
            return Some((Some(expected), actual));
        }
        let actual = number_after(&self.output, &["got ", "actual ", "assert "]).and_then(status)?;
        Some((number_after(&self.output, &["expected ", " == "]).and_then(status), actual))
    }

    fn exits(&self) -> Option<(Option<i32>, i32)> {
        const WORDS: &[&str] = &[
            "got exit=",
            "exit=",
            "exit code ",
            "exit code: ",
            "exit status ",
            "rc=",
            "ec=",
            "code=",
            "exit_code=",
        ];
        // A message about a command that the program called is not about the end of the program.
        let program_output = self.program_output.replace("command failed: exit status", "");
        let exit = |n: i64| i32::try_from(n).ok();
        let wanted =
            |text: &str| number_after(text, &["exit ", "exits ", "exit=", "exit code "]).and_then(exit);
        let expected = wanted(&self.wanted)
            .or_else(|| self.expected.as_deref().and_then(wanted))
            .or_else(|| wanted(&self.about));
        let alone = || self.actual.as_deref()?.strip_prefix("exit ")?.trim().parse().ok();
        if let Some(actual) = number_after(&program_output, WORDS).and_then(exit).or_else(alone) {
            let expected = number_after(&self.output, &["expected exit="]).and_then(exit).or(expected);
            return Some((expected, actual));
        }
        // `expected=0 actual=1` of a test about an exit code.
        let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<i32>().ok());
        match (number(&self.expected), number(&self.actual)) {
            (Some(expected), Some(actual))
                if [&self.about, &self.wanted]
                    .iter()
                    .any(|text| text.contains("exit code") || text.contains("exits")) =>
            {
                Some((Some(expected), actual))
            }
            _ => None,
        }
    }

    /// Whether the id has this part after its first.
    pub fn has(&self, part: &str) -> bool {
        self.case.iter().skip(1).any(|other| other == part)
    }

    /// Whether the id begins with this part.
    pub fn begins(&self, part: &str) -> bool {
        self.case.first().is_some_and(|first| first == part)
    }

    /// Whether the id ends with these parts.
    pub fn ends(&self, parts: &[&str]) -> bool {
        self.case.len() > parts.len()
            && self.case.iter().rev().zip(parts.iter().rev()).all(|(part, other)| part == other)
    }

    /// Whether the output of the tested program has one of these texts.
    pub fn gave(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.program_output.contains(text))
    }

    /// Whether it is a test of requests and responses: it is a case of the suites of this project, or it has a request or an
    /// HTTP status.
    pub const fn is_of_requests(&self) -> bool {
        !self.case.is_empty() || self.request.is_some() || self.status.is_some()
    }

    /// Whether there was a response with checked content. Its text is then content and not a sign of a crash.
    pub const fn was_answered(&self) -> bool {
        self.status.is_some() || self.place.is_some()
    }

    /// The actual status, if another was expected.
    pub fn unexpected_status(&self) -> Option<u16> {
        self.status.filter(|(expected, actual)| *expected != Some(*actual)).map(|(_, actual)| actual)
    }

    /// Whether success was expected, and the response is a refusal (400 to 499).
    pub fn was_refused(&self) -> bool {
        self.status.is_some_and(|(expected, actual)| {
            expected.is_none_or(|expected| expected < 400) && (400..500).contains(&actual)
        })
    }

    /// Whether a refusal was expected, and the response is a success.
    pub fn was_accepted(&self) -> bool {
        self.status.is_some_and(|(expected, actual)| {
            expected.is_some_and(|expected| (400..500).contains(&expected)) && actual < 400
        })
    }

    /// Whether the request has a null; `None`: the message does not show its body.
    pub fn sends_null(&self) -> Option<bool> {
        self.sent.as_ref().map(|sent| sent.contains(":null") || sent.contains(": null"))
    }

    /// Whether the request reads a list.
    pub fn reads_a_list(&self) -> bool {
        self.request.as_ref().is_some_and(|request| {
            request.method == "GET" && !request.path.rsplit('/').next().is_some_and(FailedRequest::is_number)
        })
    }

    /// Whether the server refused a record that the test needs.
    pub fn set_up_was_refused(&self) -> bool {
        self.was_refused() && self.request.as_ref().is_some_and(FailedRequest::creates)
    }

    /// Whether an exit code other than 0 is all that came, where something else than a code was expected.
    pub fn gave_only_an_exit_code(&self) -> bool {
        let is_code = |text: &str| text.trim_start_matches([' ', ':', '=']).parse::<i32>().is_ok();
        let is_alone = |actual: &str| {
            ["exit code", "exit status", "exit"]
                .iter()
                .any(|word| actual.strip_prefix(word).is_some_and(is_code))
        };
        self.exit.is_some_and(|(expected, actual)| expected.is_none() && actual != 0)
            && self.actual.as_deref().is_some_and(is_alone)
    }

    /// Whether expected and actual value are known and different. An "actual" that only reports the failure, or repeats the
    /// description of the test, is unknown.
    pub fn differs(&self) -> bool {
        const EMPTY: &[&str] =
            &["assertion failed", "check returned", "check failed", "condition failed", "n/a"];
        let (Some(expected), Some(actual)) = (&self.expected, &self.actual) else { return false };
        let says_nothing = EMPTY.iter().any(|text| actual.starts_with(text))
            || expected == "n/a"
            || (!self.compares
                && (actual.is_empty()
                    || expected.strip_prefix("output contains ").is_some_and(|wanted| wanted == actual)
                    || self.about.lines().any(|line| line.trim() == actual)));
        expected != actual && !says_nothing
    }
}

#[cfg(test)]
mod tests;
