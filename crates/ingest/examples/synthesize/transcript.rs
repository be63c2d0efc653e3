//! `trajectory.json` in Stamina Lab's own schema, and the agent's own logs.

use std::fmt::Write as _;

use crate::chance::Chance;
use crate::course::{ATTEMPT_LIMIT, Course, Outcome};
use crate::logs;
use crate::scenario::{Scenario, Turn};

/// A JSON string.
pub(crate) fn text(out: &mut String, text: &str) {
    out.push('"');
    let mut offset = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\t' => "\\t",
            0..0x20 => "\\u001a",
            _ => continue,
        };
        out.push_str(&text[offset..index]);
        out.push_str(escaped);
        offset = index + 1;
    }
    out.push_str(&text[offset..]);
    out.push('"');
}

/// Seconds since 1970 as RFC 3339, in the years from 2026 on.
pub(crate) fn time(seconds: u64) -> String {
    let (mut days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!(
        "{year:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        month + 1,
        days + 1,
        second_of_day / 3600,
        second_of_day % 3600 / 60,
        second_of_day % 60
    )
}

/// Where an attempt lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) turn: usize,
    /// From 1.
    pub(crate) attempt: usize,
    /// Number of the attempt in the episode, from 1.
    pub(crate) step: usize,
}

/// A trajectory while it is being written.
#[derive(Debug)]
pub(crate) struct Trajectory {
    out: String,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

impl Trajectory {
    /// Its begin.
    pub(crate) fn new(scenario: &Scenario, name: &str, turns: usize, now: u64) -> Self {
        let mut out = String::with_capacity(2 << 20);
        out.push_str("{\n \"schema_version\": \"stamina-lab/1\",\n \"scenario\": ");
        text(&mut out, name);
        out.push_str(",\n \"title\": ");
        text(&mut out, &scenario.title);
        let _ = write!(
            out,
            ",\n \"planned_turns\": {turns},\n \"attempt_limit\": {ATTEMPT_LIMIT},\n \"started_at\": \"{}\",\n \"turns\": [",
            time(now)
        );
        Self { out, now }
    }

    /// Begins a turn.
    pub(crate) fn turn(&mut self, number: usize, turn: &Turn) {
        let title = turn.request.lines().find(|line| line.starts_with("- ")).map_or("", |line| &line[2..]);
        let _ =
            write!(self.out, "{}\n  {{\"turn\": {number}, \"title\": ", if number == 1 { "" } else { "," });
        text(&mut self.out, title);
        self.out.push_str(", \"request\": ");
        text(&mut self.out, &turn.request);
        let _ = write!(
            self.out,
            ",\n   \"tests\": {},\n   \"files\": {{\"request\": \"changes/turn_{number}.md\", \"reference\": \"ground_truth/turn_{number}.py\", \"suite\": \"test_suites/turn_{number}.py\", \"schema\": \"schemas/turn_{number}.yaml\"}},\n   \"attempts\": [",
            turn.tests_json
        );
    }

    /// Adds an attempt. `code` is what its agent wrote; `before` how the attempt before it ended.
    pub(crate) fn attempt(
        &mut self,
        chance: &mut Chance,
        place: Place,
        turn: &Turn,
        outcome: &Outcome,
        before: Option<&Outcome>,
        code: &str,
    ) {
        let began = self.now;
        let mut steps = Steps::new(began);
        steps.all(chance, turn, before, code, place.step);
        self.now = steps.now + chance.between(2, 12) as u64;
        let Place { turn: t, attempt: a, step } = place;
        let out = &mut self.out;
        let (verdict, reason) = match outcome {
            Outcome::Passed => ("passed", None),
            Outcome::Failed(_) => ("failed", Some("tests_failed")),
            Outcome::Down => ("failed", Some("server_failed")),
            Outcome::TimedOut(_) => ("failed", Some("agent_timeout")),
            Outcome::Error(reason, ..) => ("error", Some(*reason)),
        };
        let _ = write!(
            out,
            "{}\n    {{\"attempt\": {a}, \"verdict\": \"{verdict}\"",
            if a == 1 { "" } else { "," }
        );
        if let Some((passed, total)) = logs::counts(outcome, turn) {
            let _ = write!(
                out,
                ", \"success\": {}, \"passed\": {passed}, \"total\": {total}, \"outcomes\": \"{}\"",
                passed == total,
                logs::letters(outcome, turn)
            );
        }
        if let Some(reason) = reason {
            let _ = write!(out, ", \"end_reason\": \"{reason}\"");
        }
        let _ = write!(
            out,
            ",\n     \"tokens\": {{\"input\": {}, \"cached\": {}, \"output\": {}}}, \"cost_usd\": {:.4}, \"tool_calls\": {}, \"started_at\": \"{}\", \"finished_at\": \"{}\", \"agent_seconds\": {}.5, \"test_seconds\": {:.2}",
            steps.input,
            steps.cached,
            steps.output,
            (steps.input - steps.cached) as f64 * 1e-6 + steps.output as f64 * 8e-6,
            steps.calls,
            time(began),
            time(self.now),
            steps.now - began,
            0.4 + chance.share() * 4.0,
        );
        if let Outcome::Error(_, kind, message) = outcome {
            out.push_str(", \"exception\": {\"type\": ");
            text(out, kind);
            out.push_str(", \"message\": ");
            text(out, message);
            out.push('}');
        }
        let name = format!("turn_{t}_attempt_{a}");
        let _ = write!(out, ",\n     \"files\": {{\"code\": \"agent_code/{name}\"");
        if !matches!(outcome, Outcome::Error(..)) {
            let _ = write!(
                out,
                ", \"test_output\": \"test_results/{name}.txt\", \"server_log\": \"server_logs/{name}.txt\""
            );
        }
        let _ = write!(
            out,
            ", \"agent_logs\": [\"agent_logs/step_{step}.txt\"]}},\n     \"steps\": [{}]}}",
            steps.out
        );
    }

    /// Ends a turn.
    pub(crate) fn turn_ends(&mut self) {
        self.out.push_str("]}");
    }

    /// The whole file.
    pub(crate) fn end(mut self, course: &Course) -> String {
        let _ = write!(self.out, "\n ],\n \"finished_at\": \"{}\", \"end_reason\": ", time(self.now));
        match course.end {
            Some(reason) => text(&mut self.out, reason),
            None => self.out.push_str("null"),
        }
        self.out.push_str("\n}\n");
        self.out
    }
}

/// What the agent did in an attempt.
struct Steps {
    out: String,
    now: u64,
    input: usize,
    cached: usize,
    output: usize,
    calls: usize,
}

const THOUGHTS: [&str; 6] = [
    "I look at what is there before I change anything.",
    "The rules are checked in one place, so the new one goes there; the order matters because the first that refuses answers.",
    "The field is optional, so a missing one must not be written as null.",
    "The summary groups by a field that older rows do not have. Those count under an empty name.",
    "The limit is inclusive: exactly that value is still allowed.",
    "I start the server and try the routes of this change by hand.",
];

impl Steps {
    fn new(now: u64) -> Self {
        Self { out: String::with_capacity(16 << 10), now, input: 4_000, cached: 3_000, output: 0, calls: 0 }
    }

    fn all(&mut self, chance: &mut Chance, turn: &Turn, before: Option<&Outcome>, code: &str, step: usize) {
        self.out.push_str("\n      {\"kind\": \"user\", \"text\": ");
        match before {
            None => text(&mut self.out, &turn.request),
            Some(outcome) => text(&mut self.out, &feedback(outcome, turn)),
        }
        self.out.push('}');
        let head = &code[..code.floor_char_boundary(1_500.min(code.len()))];
        let tail = &code[code.floor_char_boundary(code.len().saturating_sub(900))..];
        self.agent(chance, THOUGHTS[0], "bash", "sed -n 1,60p server.py", head);
        for _ in 0..chance.between(1, 3) {
            let test = chance.pick(&turn.tests);
            let found = format!("server.py:{}: {}\n", chance.between(10, 90), test.route);
            let thought = *chance.pick(&THOUGHTS);
            self.agent(
                chance,
                thought,
                "bash",
                &format!("grep -n \"{}\" server.py service.py", test.route),
                &found,
            );
        }
        self.agent(chance, THOUGHTS[1], "edit_file", tail, "The file was changed: 7 lines added, 2 removed.");
        for _ in 0..chance.between(0, 2) {
            let test = chance.pick(&turn.tests);
            let (method, path) = test.route.split_once(' ').unwrap_or(("GET", "/"));
            let answer = format!(
                "HTTP/1.1 {}\nContent-Type: application/json\n\n{{\"id\": {step}, \"status\": \"open\", \"quantity\": 3}}\n",
                test.expected
            );
            self.agent(
                chance,
                THOUGHTS[5],
                "bash",
                &format!("curl -si -X {method} localhost:5000{path} -d '{{\"name\": \"first\"}}'"),
                &answer,
            );
        }
        let _ = write!(
            self.out,
            ",\n      {{\"kind\": \"agent\", \"text\": \"The change is in. All routes of this turn answer as asked.\", \"at\": \"{}\"}}",
            time(self.now)
        );
    }

    fn agent(&mut self, chance: &mut Chance, thought: &str, tool: &str, command: &str, result: &str) {
        let seconds = chance.between(3, 40) as u64;
        let (input, output) = (6_000 + self.out.len(), 40 + command.len() / 3);
        self.input += input;
        self.cached += input * 9 / 10;
        self.output += output;
        self.calls += 1;
        let out = &mut self.out;
        out.push_str(",\n      {\"kind\": \"agent\", \"text\": ");
        text(out, thought);
        let _ = write!(out, ", \"tool_calls\": [{{\"name\": \"{tool}\", \"arguments\": {{\"command\": ");
        text(out, command);
        out.push_str("}, \"result\": ");
        text(out, result);
        let _ = write!(
            out,
            ", \"is_error\": false, \"seconds\": {}.2}}], \"tokens\": {{\"input\": {input}, \"cached\": {}, \"output\": {output}}}, \"at\": \"{}\"}}",
            seconds / 4,
            input * 9 / 10,
            time(self.now)
        );
        self.now += seconds;
    }
}

/// The feedback on the attempt before.
fn feedback(outcome: &Outcome, turn: &Turn) -> String {
    let mut retry_text = "Some tests failed:\n".to_owned();
    if let Outcome::Failed(failing) | Outcome::TimedOut(failing) = outcome {
        for index in failing {
            let test = &turn.tests[*index];
            let _ = writeln!(
                retry_text,
                "- {}: {}: expected {}, got {}",
                test.name,
                test.route,
                test.expected,
                logs::actual_status(test)
            );
        }
    } else {
        retry_text.push_str("The server did not answer on its port.\n");
    }
    retry_text
}

/// The verbatim log of the agent's command line.
pub(crate) fn agent_log(out: &mut String, chance: &mut Chance, turn: &Turn, place: Place) {
    let _ = write!(
        out,
        "[agent] turn {} attempt {}\n[agent] {} tokens of context\n",
        place.turn,
        place.attempt,
        4_000 + place.step * 731
    );
    for number in 1..=chance.between(6, 12) {
        let test = chance.pick(&turn.tests);
        let _ = write!(
            out,
            "\u{1b}[1m[step {number}]\u{1b}[0m {}\n$ grep -n \"{}\" server.py service.py\nserver.py:{}: {}\n[step {number}] done in {:.1} s, {} tokens in, {} out\n",
            chance.pick(&THOUGHTS),
            test.route,
            chance.between(10, 90),
            test.route,
            chance.share() * 30.0,
            chance.between(4_000, 60_000),
            chance.between(40, 900),
        );
    }
    out.push_str("[agent] the change is in\n");
}
