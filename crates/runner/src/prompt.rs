//! The prompts of an agent: the request of a turn, and feedback on an attempt that did not pass.
//!
//! Everything is bounded ([`FEEDBACK`]), because some harnesses take their prompt as one argument and because a model's
//! context is limited. Messages of tests quote the agent's own server; `validation::client` cleans them.

use std::fmt::Write as _;

use model::EndReason;
use sandbox::Stacks;
use validation::client::{CaseResult, CaseStatus, Verdicts};

use crate::settings::Feedback;

/// Most bytes of a feedback.
pub(crate) const FEEDBACK: usize = 48 << 10;
/// Most bytes of a server's log in a feedback.
const LOG_BYTES: usize = 4 << 10;

/// The outcome of an attempt that feedback reports.
pub(crate) enum AttemptOutcome<'a> {
    /// The suite ran.
    Tests(&'a Verdicts),
    /// The server did not come up.
    NoServer {
        /// One sentence.
        problem: &'a str,
        /// The end of its output.
        log: &'a str,
    },
    /// The attempt ended before there was anything to test.
    Ended(EndReason),
}

/// The request of a turn. The first prompt of a session also describes the container.
pub(crate) fn request(begins: bool, request: &str, stacks: Option<Stacks>, is_open: bool) -> String {
    let Some(stacks) = stacks.filter(|_| begins) else { return request.to_owned() };
    let mut text = request.trim_end().to_owned();
    text.push_str("\n\n## Your environment\n\nYou work in `/workspace`, which is the project's top folder. ");
    text.push_str(&installed(stacks));
    text.push_str(if is_open {
        "You have internet access here, but your server will run without it. "
    } else {
        "There is no internet access, so you cannot install anything else. "
    });
    text.push_str(
        "When you are done, all processes that you started are ended. Then your server is started in a fresh copy of this \
         folder with `sh run.sh`, with the environment variable `PORT` set. It must accept connections on that port within 30 \
         seconds.\n",
    );
    text
}

/// The stacks that are installed.
fn installed(stacks: Stacks) -> String {
    let python = match (stacks.flask, stacks.fastapi) {
        (true, true) => Some("Python 3 with Flask, FastAPI and uvicorn"),
        (true, false) => Some("Python 3 with Flask"),
        (false, true) => Some("Python 3 with FastAPI and uvicorn"),
        (false, false) => None,
    };
    let node = stacks.express.then_some("Node.js with Express");
    match (python, node) {
        (Some(python), Some(node)) => format!("{python}, and {node} are installed; use any of them. "),
        (Some(program), None) | (None, Some(program)) => format!("{program} is installed. "),
        (None, None) => String::new(),
    }
}

/// The prompt of a retry after a failed attempt.
pub(crate) fn feedback(kind: Feedback, outcome: &AttemptOutcome<'_>) -> String {
    let mut text = String::new();
    match outcome {
        AttemptOutcome::Tests(verdicts) => tests(&mut text, kind, verdicts),
        AttemptOutcome::NoServer { problem, log } => no_server(&mut text, kind, problem, log),
        AttemptOutcome::Ended(reason) => push_end_reason(&mut text, *reason),
    }
    text.push_str(
        "\n\nPlease fix this without breaking anything that already works. When you are done, the server is started and tested \
         again.\n",
    );
    text
}

/// The prompt of a retry at a step of a task: how the last attempt ended, if known, and the end of what the verifier printed.
/// `printed`: `None` = no verifier ran.
pub(crate) fn task_feedback(reason: EndReason, printed: Option<&str>) -> String {
    let mut text = String::new();
    if matches!(
        reason,
        EndReason::AgentTimeout
            | EndReason::AttemptBudget
            | EndReason::ContextOverflow
            | EndReason::ToolCallFormat
            | EndReason::KilledItself
            | EndReason::LoopDetected
    ) {
        push_end_reason(&mut text, reason);
        text.push(' ');
    }
    text.push_str(match printed {
        Some(_) => "Your work on this step was verified, and it does not pass yet.",
        None => "Your work on this step was not verified.",
    });
    match printed.map(clean).filter(|printed| !printed.trim().is_empty()) {
        Some(printed) => {
            // A fence that the output cannot close.
            let _ = write!(text, " The end of the output:\n\n~~~~~~\n{printed}\n~~~~~~");
        }
        None if printed.is_some() => text.push_str(" The verifier printed nothing."),
        None => {}
    }
    text.push_str(
        "\n\nPlease fix this without breaking anything that already works. When you are done, your work is verified again.\n",
    );
    text
}

fn tests(text: &mut String, kind: Feedback, verdicts: &Verdicts) {
    let failed = verdicts.total - verdicts.passed;
    match kind {
        Feedback::None => {
            text.push_str("Your server was tested, and it does not yet do everything that was requested.");
            return;
        }
        Feedback::Minimal => {
            let _ = write!(text, "Your server was tested: {failed} of {} tests failed.", verdicts.total);
            return;
        }
        Feedback::Medium | Feedback::Detailed => {
            let _ = writeln!(
                text,
                "Your server was tested: {failed} of {} tests failed. The failed tests:",
                verdicts.total
            );
        }
    }
    let mut left = failed;
    for case in verdicts.not_passed() {
        let line = line(kind, case);
        // Keeps room for the number of further tests, and for the last sentence.
        if text.len() + line.len() > FEEDBACK - 400 {
            let _ = write!(text, "\n… and {left} more.");
            return;
        }
        text.push_str(&line);
        left -= 1;
    }
}

fn line(kind: Feedback, case: &CaseResult) -> String {
    match &case.message {
        Some(message) if kind == Feedback::Detailed => format!("\n- `{}`: {message}", case.id),
        _ if case.status == CaseStatus::Error => format!("\n- `{}` (no response)", case.id),
        _ => format!("\n- `{}`", case.id),
    }
}

fn no_server(text: &mut String, kind: Feedback, problem: &str, log: &str) {
    text.push_str("Your server could not be tested. ");
    if kind == Feedback::None || kind == Feedback::Minimal {
        text.push_str("It did not start.");
        return;
    }
    text.push_str(problem);
    if kind == Feedback::Detailed && !log.trim().is_empty() {
        let start = log.ceil_char_boundary(log.len().saturating_sub(LOG_BYTES));
        // A fence that the log cannot close.
        let _ = write!(
            text,
            "\n\nThe end of its output:\n\n~~~~~~\n{}\n~~~~~~",
            clean(log.get(start..).unwrap_or_default())
        );
    }
}

fn push_end_reason(text: &mut String, reason: EndReason) {
    text.push_str(match reason {
        EndReason::AgentTimeout => "The last attempt ran out of time before you were done.",
        EndReason::AttemptBudget => "The last attempt used up its budget before you were done.",
        EndReason::ContextOverflow => "The last attempt ended because the model's context was full.",
        EndReason::ToolCallFormat => "The last attempt ended because a tool call could not be read.",
        EndReason::KilledItself => "The last attempt ended because the agent's own process was killed. Do not kill processes by a name that others \
             share, such as `node` or `python`.",
        EndReason::LoopDetected => "The last attempt ended because the same step was repeated over and over.",
        _ => "The last attempt ended before there was a server to test.",
    });
}

/// Escapes control characters except line ends and tabs.
fn clean(text: &str) -> String {
    model::escape_controls(&text.trim_end().replace('\r', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(failed: usize) -> Verdicts {
        let case = |n: usize| CaseResult {
            id: format!("orders.create.n{n}"),
            status: if n < failed { CaseStatus::Failed } else { CaseStatus::Passed },
            message: (n < failed).then(|| format!("Step 1: expected {} got 500", "x".repeat(500))),
        };
        let cases: Vec<CaseResult> = (0..1000).map(case).collect();
        Verdicts { passed: 1000 - failed, total: 1000, cases, seconds: 1.0 }
    }

    #[test]
    fn each_kind_of_feedback_has_more_than_the_one_before() {
        let verdicts = verdicts(2);
        let outcome = |kind| feedback(kind, &AttemptOutcome::Tests(&verdicts));
        let texts = [Feedback::None, Feedback::Minimal, Feedback::Medium, Feedback::Detailed].map(outcome);
        assert!(!texts[0].contains("1000") && !texts[0].contains("orders"));
        assert!(texts[1].contains("2 of 1000 tests failed.") && !texts[1].contains("orders"));
        assert!(texts[2].contains("`orders.create.n1`") && !texts[2].contains("expected"));
        assert!(texts[3].contains("`orders.create.n1`: Step 1: expected"));
    }

    #[test]
    fn feedback_is_bounded_and_says_how_much_is_missing() {
        let text = feedback(Feedback::Detailed, &AttemptOutcome::Tests(&verdicts(1000)));
        assert!(text.len() <= FEEDBACK, "{}", text.len());
        let listed = text.matches("\n- `").count();
        assert!(text.contains(&format!("… and {} more.", 1000 - listed)));
        let log = format!("{}\u{1b}[2J~~~~~~é", "é".repeat(100_000));
        let text = feedback(
            Feedback::Detailed,
            &AttemptOutcome::NoServer { problem: "It ended with code 1.", log: &log },
        );
        assert!(text.len() < LOG_BYTES + 600 && text.contains("\\u{1b}[2J"), "{text}");
    }

    #[test]
    fn feedback_on_a_step_says_how_it_ended_and_what_its_verifier_printed() {
        let failed = task_feedback(EndReason::TestsFailed, Some("1 failed\u{1b}[2J\n"));
        assert!(failed.starts_with("Your work on this step was verified, and it does not pass yet. The end"));
        assert!(failed.contains("~~~~~~\n1 failed\\u{1b}[2J\n~~~~~~"), "{failed}");
        let silent = task_feedback(EndReason::VerifierError, Some(" \n"));
        assert!(silent.contains("The verifier printed nothing.") && !silent.contains("~~~"), "{silent}");
        let late = task_feedback(EndReason::AgentTimeout, None);
        assert!(late.starts_with("The last attempt ran out of time"), "{late}");
        assert!(late.contains("was not verified") && !late.contains("server"), "{late}");
    }

    #[test]
    fn only_the_first_request_describes_the_container() {
        let stacks = Some(Stacks::OF_RECIPES);
        assert!(request(true, "Build it.\n", stacks, false).contains("There is no internet access"));
        assert!(request(true, "Build it.\n", stacks, true).contains("You have internet access here"));
        assert_eq!(request(false, "Change it.\n", stacks, false), "Change it.\n");
        assert_eq!(request(true, "Build it.\n", None, false), "Build it.\n");
    }

    #[test]
    fn a_request_lists_the_stacks_of_the_image() {
        let outcome = |flask, fastapi, express| {
            request(true, "Build it.\n", Some(Stacks { flask, fastapi, express }), false)
        };
        let all = outcome(true, true, true);
        assert!(
            all.contains("Python 3 with Flask, FastAPI and uvicorn, and Node.js with Express are installed")
        );
        let node = outcome(false, false, true);
        assert!(node.contains("Node.js with Express is installed. ") && !node.contains("Python"), "{node}");
        let nothing = outcome(false, false, false);
        assert!(
            !nothing.contains("is installed")
                && !nothing.contains("are installed")
                && nothing.contains("sh run.sh")
        );
    }
}
