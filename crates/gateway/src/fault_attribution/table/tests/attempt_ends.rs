//! Whose fault the end of an attempt is.

use super::*;

/// What may be the endpoint's doing.
const ENDS: [EndedBy; 4] =
    [EndedBy::TimeLimit, EndedBy::HarnessReport, EndedBy::HarnessExit, EndedBy::Finished];
const ALL_ENDS: [EndedBy; 5] =
    [EndedBy::TimeLimit, EndedBy::HarnessReport, EndedBy::HarnessExit, EndedBy::Finished, EndedBy::Agent];
const ANSWERS: [Answers; 3] = [Answers::NoneInRun, Answers::NoneInAttempt, Answers::Some];
/// The run was answered before.
const ACTED: [Answers; 2] = [Answers::NoneInAttempt, Answers::Some];
const LOST: [LostTime; 2] = [LostTime::TenthOrMore, LostTime::Less];
const LAST: [LastRequest; 9] = [
    LastRequest::NotSent,
    LastRequest::Answered,
    LastRequest::Refused,
    LastRequest::Broken,
    LastRequest::Faulted,
    LastRequest::SilentThroughout,
    LastRequest::SilentForMost,
    LastRequest::Silent,
    LastRequest::BrieflySilent,
];

const BROKEN_ROW: &str = "the endpoint broke off the answer to the last request, or reported an error in it, and nothing complete came after | not sent | the endpoint's";
const FAULTED_ROW: &str = "the last request was being retried after a fault, or its client gave up after one | not sent | the endpoint's";
const SILENT_ROW: &str = "the last request was silent to the end, for a tenth of the limit or a minute | refused or failed | the endpoint's";

#[test]
fn each_rule_for_the_end_of_an_attempt_is_a_row() {
    use Decision::RetryAttempt;
    use EndedBy::{Finished, HarnessExit, HarnessReport, TimeLimit};
    use LastRequest::{
        Answered, BrieflySilent, Broken, Faulted, Refused, Silent, SilentForMost, SilentThroughout,
    };
    use LostTime::{Less, TenthOrMore};

    let (not_sent, answered) = (ProbeAnswer::NotSent, ProbeAnswer::Answered);
    let unanswered = vec![ProbeAnswer::Refused, ProbeAnswer::Failed];
    // An agent that has acted can end its harness.
    let (waited, exited) = (vec![TimeLimit, HarnessReport], vec![HarnessExit, Finished]);
    let silent = vec![Silent, SilentForMost, SilentThroughout];
    for (row, ended_by, answers, lost, last, probes, decision) in [
        (
            "no request of the run was ever answered completely | not sent | the endpoint's: no agent has acted yet",
            ALL_ENDS.to_vec(),
            vec![Answers::NoneInRun],
            Less,
            LAST.to_vec(),
            vec![not_sent],
            EndAsEndpoint,
        ),
        (
            "the attempt spent a budget other than time, or exceeded the memory or the disk of its container | not sent | the agent's",
            vec![EndedBy::Agent],
            ACTED.to_vec(),
            Less,
            LAST.to_vec(),
            vec![not_sent],
            EndAsAgent,
        ),
        (
            "the limit struck, and faults of the endpoint took a tenth of the time or more, without time in which another request was answered | not sent | the endpoint's",
            vec![TimeLimit],
            ACTED.to_vec(),
            TenthOrMore,
            LAST.to_vec(),
            vec![not_sent],
            EndAsEndpoint,
        ),
        (
            "the endpoint broke off the answer to the last request, or reported an error in it, and nothing complete came after; the harness reports success, and an answer of the attempt was complete | not sent | retried three times, then the agent's: it may be a request beside the work, such as one for a title",
            vec![Finished],
            vec![Answers::Some],
            Less,
            vec![Broken],
            vec![not_sent],
            RetryAttempt,
        ),
        (
            BROKEN_ROW,
            vec![TimeLimit, HarnessReport, HarnessExit],
            ACTED.to_vec(),
            Less,
            vec![Broken],
            vec![not_sent],
            EndAsEndpoint,
        ),
        (
            BROKEN_ROW,
            vec![Finished],
            vec![Answers::NoneInAttempt],
            Less,
            vec![Broken],
            vec![not_sent],
            EndAsEndpoint,
        ),
        (
            "the last request was being retried after a fault, or its client gave up after one; the harness reports another failure or success, and an answer of the attempt was complete | not sent | retried three times, then the agent's: an agent can end its harness",
            exited.clone(),
            vec![Answers::Some],
            Less,
            vec![Faulted],
            vec![not_sent],
            RetryAttempt,
        ),
        (FAULTED_ROW, waited.clone(), ACTED.to_vec(), Less, vec![Faulted], vec![not_sent], EndAsEndpoint),
        (
            FAULTED_ROW,
            exited.clone(),
            vec![Answers::NoneInAttempt],
            Less,
            vec![Faulted],
            vec![not_sent],
            EndAsEndpoint,
        ),
        (
            "the last request was silent to the end, for a tenth of the limit or a minute; the harness reports another failure or success, and an answer of the attempt was complete | refused or failed | retried three times, then the agent's: an agent can end its harness",
            exited.clone(),
            vec![Answers::Some],
            Less,
            silent.clone(),
            unanswered.clone(),
            RetryAttempt,
        ),
        (SILENT_ROW, waited, ACTED.to_vec(), Less, silent.clone(), unanswered.clone(), EndAsEndpoint),
        (SILENT_ROW, exited, vec![Answers::NoneInAttempt], Less, silent, unanswered, EndAsEndpoint),
        (
            "the last request was silent to the end, for a tenth of the limit or a minute, and the endpoint sent nothing in the whole attempt | answered | retried three times, then the agent's: what an agent left in its workspace can ask for a very long answer",
            ENDS.to_vec(),
            ACTED.to_vec(),
            Less,
            vec![SilentThroughout],
            vec![answered],
            RetryAttempt,
        ),
        (
            "the last request was silent to the end, for more than half of the limit | answered | retried three times, then the agent's: an agent can ask for a very long answer",
            ENDS.to_vec(),
            ACTED.to_vec(),
            Less,
            vec![SilentForMost],
            vec![answered],
            RetryAttempt,
        ),
        (
            "the last request was silent to the end, for a tenth of the limit or a minute | answered | the agent's",
            ENDS.to_vec(),
            ACTED.to_vec(),
            Less,
            vec![Silent],
            vec![answered],
            EndAsAgent,
        ),
        (
            "the last request was silent for a shorter time | not sent | the agent's",
            ENDS.to_vec(),
            ACTED.to_vec(),
            Less,
            vec![BrieflySilent],
            vec![not_sent],
            EndAsAgent,
        ),
        (
            "the last request was answered, or another request was answered while it waited | not sent | the agent's",
            ENDS.to_vec(),
            ACTED.to_vec(),
            Less,
            vec![Answered],
            vec![not_sent],
            EndAsAgent,
        ),
        (
            "the last request was answered with an error, or none was sent, and a request of the run was answered before | not sent | the agent's",
            ENDS.to_vec(),
            ACTED.to_vec(),
            Less,
            vec![Refused, LastRequest::NotSent],
            vec![not_sent],
            EndAsAgent,
        ),
    ] {
        stated(row);
        for ended_by in ended_by {
            for answers in answers.iter().copied() {
                for last in last.iter().copied() {
                    for probe in probes.iter().copied() {
                        assert_eq!(
                            after_end(ended_by, answers, lost, last, probe),
                            decision,
                            "{ended_by:?} {answers:?} {last:?}: {row}"
                        );
                    }
                }
            }
        }
    }
    // Lost time alone does not excuse a harness that had an answer in the end.
    assert_eq!(after_end(HarnessReport, Answers::Some, TenthOrMore, Answered, not_sent), EndAsAgent);
    assert_eq!(after_end(Finished, Answers::Some, TenthOrMore, Answered, not_sent), EndAsAgent);
    // Nor does anything an agent that spent its budget.
    assert_eq!(after_end(EndedBy::Agent, Answers::Some, TenthOrMore, Broken, not_sent), EndAsAgent);
    stated(
        "anything, with the simulated model: it is no endpoint, and where it stalls it plays an agent that never finishes | not sent | the agent's",
    );
}

/// A comparison of harnesses must not be one of how often they try, nor of their words for a fault.
#[test]
fn where_the_last_answer_broke_every_harness_is_judged_alike() {
    use Decision::RetryAttempt;
    let decisions =
        |answers, lost, last, probe| ENDS.map(|ended_by| after_end(ended_by, answers, lost, last, probe));
    for answers in ANSWERS {
        for lost in LOST {
            let broken = decisions(answers, lost, LastRequest::Broken, ProbeAnswer::NotSent);
            // A harness that reports success is excused a few times, and only where the tests do not pass.
            let finished = if answers == Answers::Some { RetryAttempt } else { EndAsEndpoint };
            let expected = [EndAsEndpoint, EndAsEndpoint, EndAsEndpoint, finished];
            assert_eq!(broken, expected, "{answers:?} {lost:?}");
        }
    }
}

/// Some harnesses wait until the limit strikes, others give a silent request up earlier.
#[test]
fn where_the_endpoint_was_silent_every_harness_is_judged_alike() {
    use Decision::RetryAttempt;
    use LastRequest::{Silent, SilentForMost, SilentThroughout};
    for (last, answered) in
        [(Silent, EndAsAgent), (SilentForMost, RetryAttempt), (SilentThroughout, RetryAttempt)]
    {
        for (answers, ended_by) in ACTED.into_iter().flat_map(|answers| ENDS.map(|end| (answers, end))) {
            // An agent that has acted can end its harness while the endpoint is down.
            let can_cause =
                answers == Answers::Some && matches!(ended_by, EndedBy::HarnessExit | EndedBy::Finished);
            let unanswered = if can_cause { RetryAttempt } else { EndAsEndpoint };
            for (probe, decision) in [
                (ProbeAnswer::NotSent, Decision::Probe),
                (ProbeAnswer::Answered, answered),
                (ProbeAnswer::Refused, unanswered),
                (ProbeAnswer::Failed, unanswered),
            ] {
                let found = after_end(ended_by, answers, LostTime::Less, last, probe);
                assert_eq!(found, decision, "{answers:?} {ended_by:?} {last:?} {probe:?}");
            }
        }
    }
}

/// Whatever an agent can cause at will, also by what it left in its workspace, is excused a limited number of times.
#[test]
fn an_agent_is_excused_for_good_only_by_what_the_endpoint_did() {
    for answers in ACTED {
        for ended_by in ALL_ENDS {
            for last in LAST {
                let decision = after_end(ended_by, answers, LostTime::Less, last, ProbeAnswer::Answered);
                let has_acted = answers == Answers::Some;
                let (is_broken, is_faulted) = (last == LastRequest::Broken, last == LastRequest::Faulted);
                let is_seen = match ended_by {
                    EndedBy::TimeLimit | EndedBy::HarnessReport => is_broken || is_faulted,
                    EndedBy::HarnessExit => is_broken || is_faulted && !has_acted,
                    EndedBy::Finished => (is_broken || is_faulted) && !has_acted,
                    EndedBy::Agent => false,
                };
                let shown = format!("{answers:?} {ended_by:?} {last:?}: {decision:?}");
                assert_eq!(decision == EndAsEndpoint, is_seen, "{shown}");
            }
        }
    }
}

/// As long as no model has said a word, nothing is known of any agent.
#[test]
fn no_end_is_the_agents_before_the_run_was_answered() {
    for ended_by in ALL_ENDS {
        for (lost, last) in LOST.into_iter().flat_map(|lost| LAST.map(|last| (lost, last))) {
            let decision = after_end(ended_by, Answers::NoneInRun, lost, last, ProbeAnswer::NotSent);
            assert_eq!(decision, EndAsEndpoint, "{ended_by:?} {lost:?} {last:?}");
        }
    }
}
