//! Each row of docs/harnesses.md, *Whose fault an error is*, beside the decision that it states.

mod attempt_ends;

use super::*;
use Decision::{EndAsAgent, EndAsEndpoint, PassOn, Retry};
use FaultOwner::{Agent, Endpoint};

const PAGE: &str = include_str!("../../../../../docs/harnesses.md");

/// A row has to be on the page as it is written here.
fn stated(row: &str) {
    assert!(PAGE.contains(&format!("\n| {row} |")), "docs/harnesses.md has no row: {row}");
}

const APIS: [Api; 3] = [Api::Harness, Api::Other, Api::Free];
const FAILURES: [Failure; 4] = [Failure::Refused, Failure::RefusedAgain, Failure::Fault, Failure::Silence];
const NEXT: [NextTry; 3] = [NextTry::Allowed, NextTry::NoneLeft, NextTry::WaitTooLong];
const PROBES: [ProbeAnswer; 4] =
    [ProbeAnswer::NotSent, ProbeAnswer::Answered, ProbeAnswer::Refused, ProbeAnswer::Failed];

#[test]
fn errors_are_classified() {
    let too_long = r#"{"error":{"code":"context_length_exceeded"}}"#;
    let quota = r#"{"error":{"code":"insufficient_quota"}}"#;
    let (harness, other, free) = (Api::Harness, Api::Other, Api::Free);
    for (row, class, cases) in [
        (
            "413 on a path that costs something; 400, 422, 500 to 503 that report a context that is too long | the agent receives it: `context_overflow` if it is the last answer",
            ErrorClass::ContextOverflow,
            vec![
                (harness, 413, ""),
                (other, 413, "{}"),
                (harness, 400, too_long),
                (harness, 422, too_long),
                (harness, 500, too_long),
                (other, 503, too_long),
            ],
        ),
        (
            "3xx, 401, 402, 403, 404, 405, 407, 410, 501, an empty account, an unknown model or key, on an API that the harness speaks | a *refusal*: only the owner of the key or the settings can fix it",
            ErrorClass::Refusal,
            [302, 401, 402, 403, 404, 405, 407, 410, 501]
                .map(|status| (harness, status, ""))
                .into_iter()
                .chain([(harness, 429, quota), (harness, 400, r#"{"code":"model_not_found"}"#)])
                .collect(),
        ),
        (
            "408, 409, 425, 429, 500, 502 to 599, on a path that costs something | a *fault*: it passes",
            ErrorClass::Transient,
            [408, 409, 425, 429, 500, 502, 503, 529, 599]
                .into_iter()
                .flat_map(|status| [(harness, status, ""), (other, status, "")])
                .chain([(other, 429, quota)])
                .collect(),
        ),
        (
            "any other error, and any error on a path that costs nothing | the agent receives it",
            ErrorClass::Request,
            vec![
                (harness, 400, "{}"),
                (free, 413, ""),
                (harness, 422, ""),
                (other, 401, ""),
                (other, 501, ""),
                (free, 401, ""),
                (free, 503, ""),
            ],
        ),
    ] {
        stated(row);
        for (api, status, body) in cases {
            let found = classify_error(api, StatusCode::from_u16(status).unwrap(), body);
            assert_eq!(found, class, "{api:?} {status} {body}");
        }
    }
    stated(
        "an error within an answer before any content, whose code states that the request was invalid | the agent receives it",
    );
    assert_eq!(classify_reported_error("no", true, false), ErrorClass::Request);
    stated("another error within an answer before any content and without usage | a *fault*");
    assert_eq!(classify_reported_error("overloaded", false, false), ErrorClass::Transient);
    assert_eq!(classify_reported_error("late", false, true), ErrorClass::Request);
    assert_eq!(classify_reported_error("prompt is too long", true, false), ErrorClass::ContextOverflow);
}

#[test]
fn each_rule_for_a_failed_try_is_a_row() {
    use Api::{Free, Harness, Other};
    use Failure::{Fault, Refused, RefusedAgain, Silence};
    use NextTry::{Allowed, NoneLeft, WaitTooLong};
    use ProbeAnswer::{Answered, Failed, NotSent};

    for (row, api, failure, next, probe, decision) in [
        (
            "a fault, and tries are left | not sent | retried after a wait; the time is lost to the endpoint",
            vec![Harness, Other],
            Fault,
            vec![Allowed],
            vec![NotSent],
            Retry(Endpoint),
        ),
        (
            "a fault at the last try, on an API that the harness speaks | not sent | the attempt ends as the endpoint's",
            vec![Harness],
            Fault,
            vec![NoneLeft],
            vec![NotSent],
            EndAsEndpoint,
        ),
        (
            "a fault at the last try, on another API | not sent | the agent receives an error; the attempt continues",
            vec![Other],
            Fault,
            vec![NoneLeft],
            vec![NotSent],
            PassOn(Endpoint),
        ),
        (
            "a fault whose `Retry-After` is above ten minutes | not sent | as at the last try",
            vec![Harness],
            Fault,
            vec![WaitTooLong],
            vec![NotSent],
            EndAsEndpoint,
        ),
        (
            "a refusal | refused, too | the attempt ends as the endpoint's",
            vec![Harness],
            Refused,
            NEXT.to_vec(),
            vec![ProbeAnswer::Refused],
            EndAsEndpoint,
        ),
        (
            "a refusal | answered | retried once, even after the last try; no time is lost",
            vec![Harness],
            Refused,
            NEXT.to_vec(),
            vec![Answered],
            Retry(Agent),
        ),
        (
            "a second refusal | answered | the agent receives the refusal",
            vec![Harness],
            RefusedAgain,
            NEXT.to_vec(),
            vec![Answered],
            PassOn(Agent),
        ),
        (
            "silence for as long as the gateway waits (10 minutes) | answered | retried; no time is lost",
            vec![Harness, Other],
            Silence,
            vec![Allowed],
            vec![Answered],
            Retry(Agent),
        ),
        (
            "silence at the last try | answered | the agent receives an error: no attempt ends as the endpoint's because its requests take this long",
            vec![Harness, Other],
            Silence,
            vec![NoneLeft],
            vec![Answered],
            PassOn(Agent),
        ),
        (
            "any failure on a path that costs nothing | not sent | the agent receives an error; nothing is retried",
            vec![Free],
            Fault,
            NEXT.to_vec(),
            vec![NotSent, Failed],
            PassOn(Endpoint),
        ),
    ] {
        stated(row);
        for api in api {
            for next in next.iter().copied() {
                for probe in probe.iter().copied() {
                    assert_eq!(
                        after_failed_try(api, failure, next, probe),
                        decision,
                        "{api:?} {next:?}: {row}"
                    );
                }
            }
        }
    }
    stated("a refusal | failed | as a fault");
    stated("silence | refused or failed | as a fault");
    for (failure, probe) in
        [(Refused, Failed), (RefusedAgain, Failed), (Silence, ProbeAnswer::Refused), (Silence, Failed)]
    {
        for (api, next) in APIS.into_iter().flat_map(|api| NEXT.map(|next| (api, next))) {
            let as_fault = after_failed_try(api, Fault, next, NotSent);
            assert_eq!(after_failed_try(api, failure, next, probe), as_fault, "{api:?} {failure:?} {next:?}");
        }
    }
}

/// Whatever the facts: an agent cannot cause an end that is attributed to the endpoint while the endpoint answers probes.
#[test]
fn no_attempt_ends_as_the_endpoints_while_probes_are_answered() {
    for api in APIS {
        for (failure, next) in FAILURES.into_iter().flat_map(|failure| NEXT.map(|next| (failure, next))) {
            for probe in PROBES {
                let decision = after_failed_try(api, failure, next, probe);
                let is_probed = failure != Failure::Fault && api != Api::Free;
                assert_eq!(decision == Decision::Probe, is_probed && probe == ProbeAnswer::NotSent);
                assert_ne!(decision, EndAsAgent);
                if is_probed && probe == ProbeAnswer::Answered {
                    assert!(matches!(decision, Retry(Agent) | PassOn(Agent)), "{failure:?} {next:?}");
                }
                if api != Api::Harness && failure != Failure::Refused && failure != Failure::RefusedAgain {
                    assert_ne!(decision, EndAsEndpoint, "the harness does not need this API");
                }
            }
        }
    }
}

#[test]
fn each_rule_for_an_answer_that_ends_early_is_a_row() {
    stated(
        "the endpoint breaks it off, falls silent, or reports an error that the request did not cause | the agent sees a broken connection; the time is lost to the endpoint",
    );
    for state in [AnswerState::Partial, AnswerState::Complete, AnswerState::Faulty] {
        assert_eq!(termination(Some(Termination::Endpoint), state), Some(Termination::Endpoint));
    }
    for ended_by in [None, Some(Termination::Agent), Some(Termination::Closed)] {
        assert_eq!(termination(ended_by, AnswerState::Faulty), Some(Termination::Endpoint));
        assert_eq!(termination(ended_by, AnswerState::Partial), ended_by);
    }
    assert_eq!(after_broken_answer(1, 6), PassOn(Endpoint));
    stated("as many such answers in a row as a request has tries (6) | the attempt ends as the endpoint's");
    assert_eq!(after_broken_answer(5, 6), PassOn(Endpoint));
    assert_eq!(after_broken_answer(6, 6), EndAsEndpoint);
    assert_eq!(after_broken_answer(1, 0), EndAsEndpoint);
    stated(
        "the connection breaks after the agent has not read for 20 s | attributed to the agent: endpoints close connections on which nobody reads",
    );
    assert_eq!(connection_breaker(Reader::Stalled), Termination::Agent);
    assert_eq!(connection_breaker(Reader::Reading), Termination::Endpoint);
    stated("the agent hangs up after the last event | complete");
    for ended_by in [None, Some(Termination::Agent), Some(Termination::Closed)] {
        assert_eq!(termination(ended_by, AnswerState::Complete), None);
    }
}
