//! How a call ended, decided from the exit, the messages of the harness and the actions of the agent.
//!
//! The rule is the order of the questions, which is the same for all harnesses (a table in `docs/harnesses.md`):
//!
//! 1. Did the harness set its success mark?
//! 2. Did the time run out?
//! 3. Was the container lost?
//! 4. Did a limit on memory or disk end it?
//! 5. Which error did the harness report?
//! 6. Was it killed?
//!
//! What an agent could have caused is always attributed to the agent. This includes memory and disk.

use model::EndReason;

use crate::record::Record;
use crate::text;
use crate::{CommandEnd, lines};

/// After so many malformed calls in a row, an end without success is attributed to them.
const MALFORMED: usize = 3;
/// A message is searched in so many bytes at the end of an output.
pub(crate) const TAIL: usize = 16 * 1024;

/// What the harness reports about the end.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    /// It set its success mark.
    pub(crate) finished: bool,
    /// The reported reason of a failure.
    pub(crate) reason: Option<EndReason>,
    /// The message of the harness.
    pub(crate) message: Option<String>,
    /// Its last message is that it waits for the endpoint.
    pub(crate) waits_for_endpoint: bool,
}

impl Signs {
    /// Records a failure with the message of the harness.
    pub(crate) fn failed(&mut self, reason: EndReason, message: &str) {
        self.reason = Some(reason);
        self.message = Some(text::message(message)).filter(|m| !m.is_empty());
    }
}

/// Why the call ended (`None` = success), and the message about it.
pub(crate) fn decide(
    ended: &CommandEnd<'_>,
    record: &Record,
    signs: Signs,
) -> (Option<EndReason>, Option<String>) {
    use EndReason as R;
    let exit = ended.exit;
    let message_or = |default: &str| Some(signs.message.clone().unwrap_or_else(|| default.to_owned()));
    let no_request = ended.model_requests == Some(0);

    // A harness that finished but did not exit has finished in time. Without a model request, the mark is from the call
    // before, because the harness did not get to removing it.
    if exit.timed_out && (!signs.finished || no_request) {
        return if signs.waits_for_endpoint {
            (Some(R::Endpoint), message_or("the time ran out while it waited for the endpoint"))
        } else if record.malformed_calls() >= MALFORMED {
            (Some(R::ToolCallFormat), message_or("the time ran out over tool calls that cannot be read"))
        } else {
            (Some(R::AgentTimeout), message_or("the time ran out"))
        };
    }
    if signs.finished {
        if no_request {
            return (Some(R::AgentError), Some("it ended without a single request to the model".to_owned()));
        }
        return finished(ended.changed, record);
    }
    if exit.code.is_none() {
        return (Some(R::Environment), message_or("the container was lost"));
    }
    // The limit may have ended only a process of the agent, long before the end. Then the harness reports how it ended.
    if exit.out_of_memory && (exit.code == Some(137) || signs.reason.is_none()) {
        return (Some(R::AgentError), Some("the memory limit ended it".to_owned()));
    }
    if exit.disk_full {
        return (Some(R::AgentError), Some("the disk limit ended it".to_owned()));
    }
    if let Some(reason) = signs.reason {
        // A loop of calls that cannot be read is no loop of the agent's, for any harness.
        let may_be_format = matches!(reason, R::AgentError | R::LoopDetected);
        if may_be_format && record.malformed_calls() >= MALFORMED {
            return (Some(R::ToolCallFormat), message_or("its last tool calls could not be read"));
        }
        let message = signs.message.unwrap_or_else(|| "it failed and gives no message".to_owned());
        return (Some(reason), Some(message));
    }
    let code = exit.code.unwrap_or_default();
    let last_words = || {
        let tail = &ended.stderr[ended.stderr.len().saturating_sub(TAIL)..];
        Some(text::message(&text::last_lines(&lines::plain_tail(tail, TAIL), 2))).filter(|m| !m.is_empty())
    };
    // Only before the first working call. A program that worked before is in the image, so an agent has removed it.
    if matches!(code, 126 | 127) && no_request && record.is_empty() && !ended.worked {
        let cause = last_words().unwrap_or_else(|| format!("exit code {code}"));
        return (Some(R::Environment), Some(format!("the command could not be started: {cause}")));
    }
    if record.malformed_calls() >= MALFORMED {
        return (Some(R::ToolCallFormat), message_or("its last tool calls could not be read"));
    }
    // 128 + a signal. The signal is not from a limit, because the rules above decide about limits.
    if let Some(signal) = killed_by(code) {
        return (Some(R::KilledItself), Some(format!("the harness was ended by {signal} while it worked")));
    }
    if record.is_pending() && !no_request {
        return (Some(R::KilledItself), Some("the harness was gone while a tool ran".to_owned()));
    }
    if code == 0 && record.is_empty() && no_request {
        return (Some(R::AgentError), Some("it ended without a single request to the model".to_owned()));
    }
    let words = if code == 0 { None } else { last_words() };
    (Some(R::AgentError), words.or_else(|| Some(format!("exit code {code}, and no sign that it finished"))))
}

fn killed_by(code: i64) -> Option<&'static str> {
    Some(match code {
        129 => "SIGHUP",
        130 => "SIGINT",
        131 => "SIGQUIT",
        137 => "SIGKILL",
        143 => "SIGTERM",
        _ => return None,
    })
}

fn finished(changed: bool, record: &Record) -> (Option<EndReason>, Option<String>) {
    if changed {
        return (None, None);
    }
    let words = text::message(record.last_text());
    let quote = |summary: &str| {
        Some(if words.is_empty() { summary.to_owned() } else { format!("{summary}: {words}") })
    };
    if record.malformed_calls() >= MALFORMED {
        (Some(EndReason::ToolCallFormat), quote("its last tool calls could not be read, and it ended"))
    } else if record.working_calls() == 0 {
        (Some(EndReason::GaveUp), quote("it ended without a single tool call"))
    } else if says_it_stops(record.last_text()) {
        (Some(EndReason::GaveUp), quote("it says that it stops"))
    } else {
        (Some(EndReason::NoChange), quote("it ended without changing a file"))
    }
}

/// Whether an agent declares in its last message that it gives up. This only distinguishes failures without a changed file;
/// it never turns a success into a failure.
fn says_it_stops(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let stops = [
        "give up",
        "giving up",
        "i cannot continue",
        "i can't continue",
        "cannot proceed",
        "can't proceed",
        "unable to continue",
        "unable to proceed",
        "unable to complete",
        "cannot complete",
        "can't complete",
        "i cannot help",
        "i can't help",
        "i won't",
        "i will not continue",
        "i refuse",
    ];
    stops.iter().any(|words| text.contains(words))
}

/// The reason behind the message of a harness about a failed request, with the status of the endpoint if known.
pub(crate) fn fault(status: Option<u64>, text: &str) -> EndReason {
    let text = cut_lower(text);
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    if has(&[
        "context length",
        "context_length",
        "context window",
        "contextwindow",
        "contextoverflow",
        "context overflow",
        "maximum context",
        "prompt is too long",
        "prompt_too_long",
        "input is too long",
        "too many tokens",
        "exceeds the model's max",
        "nocondensationavailable",
    ]) || status == Some(413)
    {
        return EndReason::ContextOverflow;
    }
    if has(&["loop detect", "loop was detected", "agentstuck", "stuck in a loop"]) {
        return EndReason::LoopDetected;
    }
    if status.is_some_and(|s| matches!(s, 401 | 402 | 403 | 404 | 407 | 408 | 429) || (500..600).contains(&s))
    {
        return EndReason::Endpoint;
    }
    if has(&[
        "formaterror",
        "malformed tool",
        "malformed function",
        "invalid tool call",
        "functioncallvalidation",
        "functioncallconversion",
        "toolcallformat",
        "failed to parse tool",
    ]) {
        return EndReason::ToolCallFormat;
    }
    let is_endpoint_fault = has(&[
        "error code: 5",
        "error code: 401",
        "error code: 403",
        "error code: 404",
        "error code: 429",
        "api error: 5",
        "api error: 401",
        "api error: 403",
        "api error: 404",
        "api error: 429",
        "api_error: 5",
        "status 5",
        "status 401",
        "status 403",
        "status 404",
        "status 429",
        "rate limit",
        "rate_limit",
        "ratelimit",
        "overloaded",
        "high demand",
        "internalservererror",
        "internal server error",
        "serviceunavailable",
        "service unavailable",
        "bad gateway",
        "gateway timeout",
        "connection error",
        "connection refused",
        "connection reset",
        "connection failed",
        "connect to api",
        "econnrefused",
        "fetch failed",
        "apiconnection",
        "api_connection",
        "connection_failed",
        "error sending request",
        "auth_error",
        "authenticationerror",
        "permissiondenied",
        "invalid api key",
        "incorrect api key",
        "unauthorized",
        "notfounderror",
        "apitimeout",
        "request timed out",
    ]);
    if is_endpoint_fault { EndReason::Endpoint } else { EndReason::AgentError }
}

fn cut_lower(text: &str) -> String {
    text::cut(text, 4000).0.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    fn tree() -> (tempfile::TempDir, files::Tree) {
        let dir = tempfile::tempdir().unwrap();
        let tree = files::Tree::open(dir.path()).unwrap();
        (dir, tree)
    }

    fn end_of(change: impl Fn(&mut CommandEnd<'_>, &mut Record, &mut Signs)) -> Option<EndReason> {
        let (end, message) = end_and_message_of(change);
        assert_eq!(end.is_some(), message.is_some(), "an end has a message");
        end
    }

    fn end_and_message_of(
        change: impl Fn(&mut CommandEnd<'_>, &mut Record, &mut Signs),
    ) -> (Option<EndReason>, Option<String>) {
        let (_dir, home) = tree();
        let mut ended = CommandEnd {
            exit: Exit { code: Some(0), ..Exit::default() },
            stdout: b"",
            stderr: b"",
            home: &home,
            model_requests: Some(1),
            changed: true,
            worked: false,
        };
        let (mut record, mut signs) = (Record::default(), Signs::default());
        change(&mut ended, &mut record, &mut signs);
        decide(&ended, &record, signs)
    }

    #[test]
    fn a_harness_that_fails_without_a_message_has_one() {
        let (end, message) = end_and_message_of(|_, _, s| s.failed(EndReason::Endpoint, " \n"));
        assert_eq!(
            (end, message.as_deref()),
            (Some(EndReason::Endpoint), Some("it failed and gives no message"))
        );
    }

    #[test]
    fn success_needs_the_mark_a_request_and_a_change() {
        let work = |r: &mut Record| r.call(None, "bash", &serde_json::Value::Null);
        assert_eq!(end_of(|_, _, s| s.finished = true), None);
        assert_eq!(end_of(|e, _, s| (s.finished, e.model_requests) = (true, None)), None);
        assert_eq!(end_of(|e, _, s| (s.finished, e.exit.code) = (true, Some(1))), None);
        assert_eq!(end_of(|_, _, _| ()), Some(EndReason::AgentError));
        assert_eq!(
            end_of(|e, _, s| (s.finished, e.model_requests) = (true, Some(0))),
            Some(EndReason::AgentError)
        );
        assert_eq!(end_of(|e, _, s| (s.finished, e.changed) = (true, false)), Some(EndReason::GaveUp));
        let unchanged = |text: &'static str| {
            end_of(|e, r, s| {
                work(r);
                r.add_text(text);
                (s.finished, e.changed) = (true, false);
            })
        };
        assert_eq!(unchanged("All is well"), Some(EndReason::NoChange));
        assert_eq!(unchanged("Sorry, I can’t continue with this."), Some(EndReason::GaveUp));
    }

    #[test]
    fn limits_signals_and_messages_decide_in_this_order() {
        use EndReason as R;
        let failed =
            |reason| move |_: &mut CommandEnd<'_>, _: &mut Record, s: &mut Signs| s.failed(reason, "x");
        assert_eq!(end_of(|e, _, _| e.exit.code = None), Some(R::Environment));
        assert_eq!(end_of(|e, _, s| (s.finished, e.exit.timed_out) = (true, true)), None);
        assert_eq!(end_of(|e, _, _| e.exit.timed_out = true), Some(R::AgentTimeout));
        assert_eq!(
            end_of(|e, _, s| (s.finished, e.exit.timed_out, e.model_requests) = (true, true, Some(0))),
            Some(R::AgentTimeout)
        );
        assert_eq!(
            end_of(|e, _, s| (s.waits_for_endpoint, e.exit.timed_out) = (true, true)),
            Some(R::Endpoint)
        );
        assert_eq!(
            end_of(|e, _, _| (e.exit.out_of_memory, e.exit.code) = (true, Some(137))),
            Some(R::AgentError)
        );
        // The memory limit ended a build of the agent, and the harness continued.
        assert_eq!(
            end_of(|e, _, s| {
                (e.exit.out_of_memory, e.exit.code) = (true, Some(1));
                s.failed(R::ContextOverflow, "x");
            }),
            Some(R::ContextOverflow)
        );
        assert_eq!(
            end_of(|e, _, _| (e.exit.disk_full, e.exit.code) = (true, Some(137))),
            Some(R::AgentError)
        );
        for code in [129, 130, 137, 143] {
            assert_eq!(end_of(|e, _, _| e.exit.code = Some(code)), Some(R::KilledItself));
        }
        assert_eq!(end_of(|e, _, _| e.exit.code = Some(127)), Some(R::AgentError));
        assert_eq!(
            end_of(|e, _, _| (e.exit.code, e.model_requests) = (Some(127), Some(0))),
            Some(R::Environment)
        );
        assert_eq!(
            end_of(|e, _, _| (e.exit.code, e.model_requests, e.worked) = (Some(127), Some(0), true)),
            Some(R::AgentError),
            "the image has the program, so an agent has removed it"
        );
        assert_eq!(end_of(failed(R::ContextOverflow)), Some(R::ContextOverflow));
        let bad = serde_json::Value::String("{oops".into());
        assert_eq!(end_of(|_, r, _| (0..3).for_each(|_| r.call(None, "t", &bad))), Some(R::ToolCallFormat));
        assert_eq!(end_of(|_, r, _| r.call(None, "t", &serde_json::Value::Null)), Some(R::KilledItself));
    }

    #[test]
    fn messages_about_requests_have_reasons() {
        use EndReason as R;
        for (status, text, reason) in [
            (Some(500), "mock internal error", R::Endpoint),
            (Some(400), "This model's maximum context length is 131072 tokens", R::ContextOverflow),
            (Some(400), "messages: unexpected role", R::AgentError),
            (None, "[API Error: 401 Incorrect API key provided]", R::Endpoint),
            (None, "Loop detection halted the run", R::LoopDetected),
            (None, "RepeatedFormatError", R::ToolCallFormat),
            (None, "We’re currently experiencing high demand", R::Endpoint),
            (None, "KeyError: 'x'", R::AgentError),
        ] {
            assert_eq!(fault(status, text), reason, "{text}");
        }
    }
}
