//! Rules over one failing test.
//!
//! There are three groups, in this order:
//!
//! 1. rules for tests of any kind: no response, a crash, a missing route;
//! 2. rules over the cases of the suites of this project (`docs/scenarios.md`, "Ids of cases"). They apply to no other suite,
//!    whatever the form of its ids;
//! 3. rules over statuses, values and common words, for all other suites.

use super::Rule;
use crate::failures::FailureClass as C;
use crate::failures::evidence::{Evidence as E, FailedRequest};

/// Texts about a server that does not listen.
const REFUSED: &[&str] = &[
    "no connection (",
    "connection refused",
    "connectionrefusederror",
    "econnrefused",
    "failed to establish a new connection",
    "cases before were not answered",
];
/// Texts about a server that ended during a request.
const BROKE_OFF: &[&str] = &[
    "remotedisconnected",
    "connection aborted",
    "connection reset",
    "connectionreseterror",
    "econnreset",
    "socket hang up",
    "the answer breaks off",
    "connection closed before",
    "badstatusline",
    "incompleteread",
    "broken pipe",
];
/// Texts about a crash.
const CRASHED: &[&str] = &[
    "segmentation fault",
    "core dumped",
    "sigsegv",
    "sigabrt",
    "panicked at",
    "panic: ",
    "goroutine 1 [",
    "traceback (most recent call last)",
    "unhandled exception",
    "uncaught exception",
    "unhandledpromiserejection",
    "stack overflow",
    "recursionerror",
    "zerodivisionerror",
    "unboundlocalerror",
];
/// Texts about a time-out.
const TOO_LONG: &[&str] = &[
    "nothing complete came within",
    "the time for the whole suite",
    "readtimeout",
    "read timed out",
    "connecttimeout",
    "timeoutexpired",
    "timeouterror",
    "failed: timeout >",
    "timed out after",
    "command timed out",
    "deadline exceeded",
];
/// Texts about a program that could not be built, loaded or started.
const NOT_BUILT: &[&str] = &[
    "build failed",
    "compilation failed",
    "could not compile",
    "compile error",
    "undefined reference to",
    "modulenotfounderror",
    "no module named",
    "cannot find module",
    "cannot find package",
    "importerror while",
    "syntaxerror",
    "indentationerror",
    "binary missing",
    "cannot find or build",
    "binary not found",
    "command not found",
    "executable file not found",
];
/// Texts about a missing part of the interface of a program.
const NOT_THERE: &[&str] = &[
    "unknown command",
    "unknown subcommand",
    "no such command",
    "unrecognized subcommand",
    "unrecognized arguments",
    "unrecognized option",
    "unknown option",
    "unknown flag",
    "flag provided but not defined",
    "invalid choice:",
    "unknown stage type",
    "unknown op:",
    "unexpected argument",
    "not implemented",
    "notimplemented",
    "cannot import name",
    "' has no attribute '",
    "is not a function",
    "is not defined",
    "no such function",
    "no such table",
    "no such column",
    "cannot get /",
    "cannot post /",
];

/// Texts of a refusal whose reason is not a bound: the type, the form or the choice of a value, or a missing or unknown field.
const NO_BOUND: &[&str] = &[
    " must be a ",
    " must be an ",
    " must be null",
    " of the values it can have",
    "the right form",
    " is required",
    "no field",
    "unknown field",
    "not be changed",
];

fn is_of_deletion(e: &E) -> bool {
    ["cascade", "restrict", "set_null", "soft_delete"].iter().any(|part| e.has(part)) || e.ends(&["delete"])
}

fn is_of_list(e: &E) -> bool {
    ["filter", "sort", "pages"].iter().any(|part| e.has(part))
        || e.ends(&["list", "all"])
        || e.ends(&["nested", "list"])
}

/// Whether an expected field or key is missing.
fn lacks_what_was_expected(e: &E) -> bool {
    e.place.is_some() && e.actual.as_deref() == Some("nothing") && e.expected.as_deref() != Some("nothing")
}

/// The response in a message about a status.
fn answer(e: &E) -> &str {
    e.output.split_once(", got status ").map_or("", |(_, answer)| answer)
}

/// Whether a case about something that the turn took away fails before it: the record that it needs is refused, and the
/// response does not name what is gone.
fn needs_a_refused_record(e: &E) -> bool {
    let plain = |text: &str| text.replace('_', "");
    let answer = plain(answer(e));
    e.set_up_was_refused() && !e.case.iter().skip(3).any(|name| answer.contains(&plain(name)))
}

/// Whether the failure of a case about null is about that null: another value, an accepted null, or a null that was refused
/// with a response that does not name another field.
fn is_of_null(e: &E) -> bool {
    if e.status.is_none() {
        return !lacks_what_was_expected(e) || e.expected.as_deref() == Some("null");
    }
    if !e.was_refused() {
        return e.sends_null() != Some(false);
    }
    let answer = answer(e);
    let plain = |text: &str| text.replace('_', "");
    let field = e.case.get(1).map(|field| plain(field)).unwrap_or_default();
    let is_other = !plain(answer).contains(&field) && NO_BOUND.iter().any(|text| answer.contains(text));
    let blames_another = is_other || answer.contains("not be changed");
    e.sends_null() == Some(true) && !blames_another
}

/// Whether the wrong field tells the kind of error.
fn is_error_code(e: &E) -> bool {
    const KEYS: &[&str] = &["code", "kind", "reason", "type", "error", "error_code"];
    e.case.len() > 1
        && e.status.is_none()
        && e.place.is_some()
        && e.field.as_deref().is_some_and(|field| KEYS.contains(&field))
}

/// In order. The first applicable rule decides.
pub const TEST_RULES: &[Rule<E>] = &[
    // No response, or one of a broken program.
    Rule {
        id: "server.refused",
        class: C::DidNotStart,
        about: "No connection, and no test of the attempt passed.",
        applies: |e| !e.was_answered() && e.none_passed && e.gave(REFUSED),
    },
    Rule {
        id: "server.gone",
        class: C::Crashed,
        about: "No connection, although other tests of the attempt passed.",
        applies: |e| !e.was_answered() && e.gave(REFUSED),
    },
    Rule {
        id: "server.broke_off",
        class: C::Crashed,
        about: "The connection or the answer broke off.",
        applies: |e| !e.was_answered() && e.gave(BROKE_OFF),
    },
    Rule {
        id: "server.too_long",
        class: C::TimedOut,
        about: "No answer, or no end, in time (also exit code 124).",
        applies: |e| {
            !e.was_answered() && (e.gave(TOO_LONG) || e.exit.is_some_and(|(_, actual)| actual == 124))
        },
    },
    Rule {
        id: "server.status_5xx",
        class: C::Crashed,
        about: "A status of 500 to 599 (but 501) where another was expected.",
        applies: |e| {
            e.unexpected_status().is_some_and(|actual| (500..600).contains(&actual) && actual != 501)
        },
    },
    Rule {
        id: "program.not_built",
        class: C::DidNotStart,
        about: "The code could not be built, loaded or found (also exit codes 126 and 127).",
        applies: |e| {
            !e.was_answered()
                && (e.gave(NOT_BUILT) || e.exit.is_some_and(|(_, actual)| matches!(actual, 126 | 127)))
        },
    },
    Rule {
        id: "program.not_there",
        class: C::MissingCommand,
        about: "The program says that it does not know, or does not have, a command, option, function or column.",
        applies: |e| !e.was_answered() && e.gave(NOT_THERE),
    },
    Rule {
        id: "program.crashed",
        class: C::Crashed,
        about: "An error that nobody caught, a panic or a signal (also exit codes 132 to 139).",
        applies: |e| {
            !e.was_answered()
                && (e.gave(CRASHED)
                    || e.exit.is_some_and(|(_, actual)| (132..140).contains(&actual) || actual < -1))
        },
    },
    // Names that still respond after their removal.
    Rule {
        id: "route.old_name",
        class: C::StaleName,
        about: "A route or field is missing under its new name or there under its old one, and another test shows that the old one still is.",
        applies: |e| {
            e.old_name_answers
                && (e.unexpected_status() == Some(404)
                    || e.actual.as_deref() == Some("nothing")
                    || e.expected.as_deref() == Some("nothing")
                    || (e.was_refused() && e.reads_a_list() && (e.has("sort") || e.has("filter"))))
        },
    },
    Rule {
        id: "route.not_there",
        class: C::MissingRoute,
        about: "A status of 404, 405 or 501 where another was expected, unless a case about deletion reads a record.",
        applies: |e| {
            e.unexpected_status().is_some_and(|actual| {
                matches!(actual, 405 | 501)
                    || (actual == 404
                        && (!is_of_deletion(e) || e.request.as_ref().is_some_and(FailedRequest::creates)))
            })
        },
    },
    Rule {
        id: "case.null_refused",
        class: C::Nullability,
        about: "A request that holds a null was refused, and the answer speaks of null.",
        applies: |e| e.was_refused() && e.sends_null() == Some(true) && answer(e).contains("null"),
    },
    Rule {
        id: "case.set_up_refused",
        class: C::TooStrict,
        about: "A record that the case needs, and is not about, could not be made.",
        applies: |e| {
            e.set_up_was_refused()
                && (e.has("guard")
                    || e.has("effect")
                    || e.begins("analytics")
                    || e.begins("conventions")
                    || is_of_list(e)
                    || is_of_deletion(e))
        },
    },
    Rule {
        id: "status.of_same_kind",
        class: C::WrongStatus,
        about: "Another success than the expected one, or another refusal, unless something that the turn took away was to be not found.",
        applies: |e| {
            let expected = e.status.and_then(|(expected, _)| expected);
            e.unexpected_status().zip(expected).is_some_and(|(actual, expected)| {
                expected / 100 == actual / 100 && expected >= 200 && !(e.begins("gone") && expected == 404)
            })
        },
    },
    Rule {
        id: "case.gone",
        class: C::StaleName,
        about: "The case is about something that the turn took away or loosened, and did not fail before that.",
        applies: |e| e.begins("gone") && !needs_a_refused_record(e),
    },
    // Ids of cases.
    Rule {
        id: "case.wide",
        class: C::InventedFeature,
        about: "A value was refused or changed that no stated rule forbids, and the refusal is not about a type, form, choice or missing field.",
        applies: |e| {
            e.ends(&["create", "wide"])
                && !lacks_what_was_expected(e)
                && !(e.was_refused() && NO_BOUND.iter().any(|text| answer(e).contains(text)))
        },
    },
    Rule {
        id: "case.unknown_route",
        class: C::InventedFeature,
        about: "A route answers that nothing asks for.",
        applies: |e| e.begins("conventions") && e.has("unknown_route"),
    },
    Rule {
        id: "value.not_asked_for",
        class: C::InventedFeature,
        about: "The answer holds something where nothing was expected.",
        applies: |e| e.place.is_some() && e.expected.as_deref() == Some("nothing"),
    },
    Rule {
        id: "case.error_code",
        class: C::WrongStatus,
        about: "The code in the body of an error is wrong or not there.",
        applies: is_error_code,
    },
    Rule {
        id: "case.guard",
        class: C::GuardIgnored,
        about: "The case is about a guard, and another status or value came.",
        applies: |e| e.has("guard") && !lacks_what_was_expected(e),
    },
    Rule {
        id: "case.deletion",
        class: C::MissingCascade,
        about: "The case is about a deletion and the records that refer, or the field `deleted` is wrong.",
        applies: |e| {
            !lacks_what_was_expected(e)
                && (is_of_deletion(e) || (e.case.len() > 1 && e.field.as_deref() == Some("deleted")))
        },
    },
    Rule {
        id: "case.analytic",
        class: C::WrongAggregate,
        about: "The case is about an analytic or a computed field.",
        applies: |e| (e.begins("analytics") || e.has("computed")) && !lacks_what_was_expected(e),
    },
    Rule {
        id: "case.null",
        class: C::Nullability,
        about: "The case is about null, or null was expected and the field is not shown, but for the values of analytics.",
        applies: |e| {
            (e.ends(&["null"]) && is_of_null(e))
                || (e.place.is_some()
                    && !e.begins("analytics")
                    && e.expected.as_deref() == Some("null")
                    && e.actual.as_deref() == Some("nothing"))
        },
    },
    Rule {
        id: "value.nothing",
        class: C::MissingField,
        about: "A field or key is not there.",
        applies: |e| {
            (e.place.is_some() && e.actual.as_deref() == Some("nothing"))
                || (e.status.is_none() && e.output.lines().any(|line| line.starts_with("keyerror: ")))
        },
    },
    Rule {
        id: "case.default",
        class: C::WrongDefault,
        about: "The case makes a record of required fields only, and a field has another value.",
        applies: |e| e.ends(&["create", "minimal"]) && e.status.is_none(),
    },
    Rule {
        id: "value.same_default",
        class: C::WrongDefault,
        about: "A field is wrong of which another test of the attempt shows that its default is.",
        applies: |e| e.default_is_wrong,
    },
    Rule {
        id: "case.effect",
        class: C::WrongEffect,
        about: "The case is about an effect of an action, and another value came.",
        applies: |e| e.has("effect") && e.status.is_none(),
    },
    Rule {
        id: "case.error",
        class: C::WrongStatus,
        about: "The case is about statuses and bodies of errors, or their order.",
        applies: |e| e.begins("conventions") && (e.has("error") || e.has("order")),
    },
    Rule {
        id: "case.list",
        class: C::WrongList,
        about: "The case is about a filter, an order, a page or a list, and its content is wrong or it was refused.",
        applies: |e| is_of_list(e) && (e.status.is_none() || (e.was_refused() && e.reads_a_list())),
    },
    // Statuses, in any suite.
    Rule {
        id: "status.refused",
        class: C::TooStrict,
        about: "Success was expected, and a status of 400 to 499 came.",
        applies: E::was_refused,
    },
    Rule {
        id: "status.accepted",
        class: C::TooLax,
        about: "A status of 400 to 499 was expected, and success came.",
        applies: E::was_accepted,
    },
    Rule {
        id: "status.other",
        class: C::WrongStatus,
        about: "Another status was expected, and no rule before applies.",
        applies: |e| e.unexpected_status().is_some(),
    },
    // Exit codes.
    Rule {
        id: "exit.accepted",
        class: C::TooLax,
        about: "An exit code other than 0 was expected, and 0 came.",
        applies: |e| {
            e.exit.is_some_and(|(expected, actual)| actual == 0 && expected.is_some_and(|code| code != 0))
        },
    },
    Rule {
        id: "exit.other",
        class: C::WrongExit,
        about: "Another exit code was expected.",
        applies: |e| e.exit.is_some_and(|(expected, actual)| expected.is_some_and(|code| code != actual)),
    },
    Rule {
        id: "exit.alone",
        class: C::WrongExit,
        about: "Output was expected, and an exit code other than 0 is all that came.",
        applies: |e| e.differs() && e.gave_only_an_exit_code(),
    },
    // Values.
    Rule {
        id: "value.empty",
        class: C::WrongValue,
        about: "Something was expected, and nothing came.",
        applies: |e| e.differs() && e.actual.as_deref() == Some(""),
    },
    Rule {
        id: "value.differs",
        class: C::WrongValue,
        about: "What was expected and what came are known and differ.",
        applies: E::differs,
    },
];
