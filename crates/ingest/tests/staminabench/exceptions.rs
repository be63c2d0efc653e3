//! Exceptions and reasons in words.

use model::EndReason;

use crate::staminabench::written;

/// Messages quote paths, requests and output: a word in one is no evidence that something outside failed.
#[test]
fn an_exception_is_from_outside_only_where_the_table_knows_it() {
    let ended = |error: &str| {
        let trajectory = format!(
            r#"{{"n_turns": 3, "turns": [{{"turn": 1, "attempts": [{{"attempt": 1, "error": {error}}}]}}]}}"#
        );
        let read = written(&[("scenario_0/trajectory.json", &trajectory)]);
        (read.episodes[0].end().1, read.episodes[0].unrecognised)
    };
    for (error, want) in [
        (r#""KeyError: File \"/opt/run_in_container.py\", line 9""#, (EndReason::AgentError, true)),
        (
            r#"{"type": "RuntimeError", "message": "unknown option: - Limit the rate (rate limit)"}"#,
            (EndReason::AgentError, true),
        ),
        (
            r#"{"type": "RuntimeError", "message": "docker: the plan was cancelled over budget"}"#,
            (EndReason::AgentError, true),
        ),
        (r#""RateLimitError: litellm.RateLimitError: slow down""#, (EndReason::Endpoint, false)),
        (
            r#""RuntimeError: Docker compose command failed for environment x.""#,
            (EndReason::Environment, false),
        ),
        (
            r#"{"type": "ClientError", "message": "An error occurred (ThrottlingException) when calling the Converse operation: x"}"#,
            (EndReason::Endpoint, false),
        ),
        (r#""server did not start""#, (EndReason::ServerFailed, false)),
        // The agent's server raises these, or a test of it.
        (r#""ModuleNotFoundError: No module named 'flask'""#, (EndReason::AgentError, true)),
        (
            r#"{"type": "requests.exceptions.ConnectionError", "message": "HTTPConnectionPool(host='127.0.0.1', port=8000): Max retries exceeded with url: / (Caused by NewConnectionError('Connection refused'))"}"#,
            (EndReason::AgentError, true),
        ),
        // What a message quotes says nothing of how the agent failed, either.
        (r#""ValueError: the request asks for a timeout of 30 s""#, (EndReason::AgentError, true)),
        (r#""RuntimeError: tool call to docker""#, (EndReason::AgentError, true)),
        (r#""KeyError: 'server_start'""#, (EndReason::AgentError, true)),
        (r#""quoted: 'please give up'""#, (EndReason::AgentError, true)),
        (r#""Request timed out.""#, (EndReason::AgentError, true)),
        (r#""MemoryError: out of memory""#, (EndReason::AgentError, true)),
        (r#""botocore.exceptions.EndpointConnectionError: Could not connect""#, (EndReason::Endpoint, false)),
    ] {
        assert_eq!(ended(error), want, "{error}");
    }
}

/// A flat record that raised something ended there, with or without what the agent used.
#[test]
fn an_exception_without_counts_is_an_end() {
    let ended = |record: &str| {
        let trajectory = format!(r#"[{{"turn": 1, "attempt": 1, "passed": 3, "total": 3}}, {record}]"#);
        let read = written(&[
            ("config.yaml", "restful_server_gen_iterative:\n  n_turns: 3\n"),
            ("scenario_0/trajectory.json", &trajectory),
        ]);
        let episode = &read.episodes[0];
        (episode.end(), episode.unrecognised)
    };
    for record in [
        r#"{"turn": 2, "attempt": 1, "exception": "ValueError: odd"}"#,
        r#"{"turn": 2, "attempt": 1, "exception": {"type": "ValueError", "message": "odd"}}"#,
        r#"{"turn": 2, "attempt": 1, "error": "ValueError: odd", "input_tokens": 5, "output_tokens": 5}"#,
        r#"{"turn": 2, "attempt": 1, "status": "error", "error": "ValueError: odd"}"#,
        // Whether it says so or not, no test failed.
        r#"{"turn": 2, "attempt": 1, "success": false, "exception": "ValueError: odd"}"#,
    ] {
        assert_eq!(ended(record), ((Some(2), EndReason::AgentError), true), "{record}");
    }
    let with_tests = r#"{"turn": 2, "attempt": 1, "passed": 1, "total": 3, "exception": "ValueError: odd"}"#;
    assert_eq!(ended(with_tests), ((Some(2), EndReason::TestsFailed), false));
    let step = r#"{"turn": 2, "attempt": 1, "role": "tool", "error": "exit code 1"}"#;
    assert_eq!(ended(step).0.1, EndReason::Unfinished, "the error of a tool ends nothing");
}

/// A field for the reason may hold a sentence: only a whole label, or an exception that the table knows, censors.
#[test]
fn a_reason_in_words_censors_only_as_a_whole_label() {
    let ended = |fields: &str| {
        let trajectory = format!(
            r#"{{"n_turns": 3, "turns": [{{"turn": 1, "attempts": [{{"attempt": 1, "success": false, {fields}}}]}}]}}"#
        );
        written(&[("scenario_0/trajectory.json", &trajectory)]).episodes[0].end().1
    };
    for (fields, want) in [
        (r#""failure_reason": "the container endpoint returns 404""#, EndReason::TestsFailed),
        (r#""result": "added rate limiting, then cancelled orders""#, EndReason::TestsFailed),
        (r#""failure_reason": "rate limit exceeded""#, EndReason::Endpoint),
        (r#""exit_reason": "cancelled""#, EndReason::Cancelled),
        (r#""failure_reason": "litellm.RateLimitError: slow down""#, EndReason::Endpoint),
        (r#""failure_reason": "the agent gave up on the docker task""#, EndReason::GaveUp),
        (r#""failure_reason": "it says 'please give up' after a timeout""#, EndReason::TestsFailed),
    ] {
        assert_eq!(ended(fields), want, "{fields}");
    }
}

/// A field for the reason may name nothing but the type of what was raised.
#[test]
fn the_name_of_an_exception_is_what_was_raised() {
    let ended = |fields: &str| {
        let trajectory = format!(
            r#"{{"n_turns": 3, "turns": [{{"turn": 1, "attempts": [{{"attempt": 1, {fields}}}]}}]}}"#
        );
        let read = written(&[("scenario_0/trajectory.json", &trajectory)]);
        let attempt = &read.episodes[0].turns[0].attempts[0];
        (read.episodes[0].end().1, read.episodes[0].unrecognised, attempt.exception.clone())
    };
    let raised = |kind: &str, message: &str| Some((kind.to_owned(), message.to_owned()));
    for (fields, reason, unrecognised, exception) in [
        (r#""end_reason": "RuntimeError""#, EndReason::AgentError, true, raised("RuntimeError", "")),
        (
            r#""error_type": "builtins.KeyError""#,
            EndReason::AgentError,
            true,
            raised("builtins.KeyError", ""),
        ),
        (r#""exit_status": "RateLimitError""#, EndReason::Endpoint, false, raised("RateLimitError", "")),
        (r#""exit_status": "LimitsExceeded""#, EndReason::Budget, false, None),
        (r#""status": "CancelledError""#, EndReason::Cancelled, false, raised("CancelledError", "")),
        (
            r#""failure_reason": "ValueError: odd""#,
            EndReason::AgentError,
            true,
            raised("ValueError", "ValueError: odd"),
        ),
        // Type and message apart, in either order.
        (
            r#""error_type": "RuntimeError", "error": "Docker compose command failed for environment x.""#,
            EndReason::Environment,
            false,
            raised("RuntimeError", "Docker compose command failed for environment x."),
        ),
        (
            r#""error": "Docker compose command failed for environment x.", "error_type": "RuntimeError""#,
            EndReason::Environment,
            false,
            raised("RuntimeError", "Docker compose command failed for environment x."),
        ),
        // Words that are no type of an exception.
        (r#""exit_status": "Submitted""#, EndReason::Unfinished, false, None),
        (r#""failure_reason": "Note: it ended""#, EndReason::Unfinished, false, None),
        (r#""finish_reason": "Stop""#, EndReason::Unfinished, false, None),
        (r#""exit_status": "NoError""#, EndReason::Unfinished, false, None),
        (r#""exit_status": "CompletedWithoutError""#, EndReason::Unfinished, false, None),
        (r#""status": "NoError""#, EndReason::Unfinished, false, None),
        (r#""status": "CompletedWithoutError""#, EndReason::Unfinished, false, None),
        (r#""state": "FinishedWithoutAnyException""#, EndReason::Unfinished, false, None),
        (
            r#""exit_status": "NoSuchElementException""#,
            EndReason::AgentError,
            true,
            raised("NoSuchElementException", ""),
        ),
        // A state is any word: what the table does not know is none.
        (r#""status": "HandledTheError""#, EndReason::Unfinished, false, None),
        (
            r#""status": "ValueError: odd""#,
            EndReason::AgentError,
            true,
            raised("ValueError", "ValueError: odd"),
        ),
    ] {
        assert_eq!(ended(fields), (reason, unrecognised, exception), "{fields}");
    }
    // In a flat record it is an end, too, and of tests that failed it is not the reason.
    let flat = r#"[{"turn": 1, "attempt": 1, "passed": 3, "total": 3}, {"turn": 2, "attempt": 1, "exit_status": "RuntimeError"}]"#;
    let read = written(&[("scenario_0/trajectory.json", flat)]);
    assert_eq!(read.episodes[0].end(), (Some(2), EndReason::AgentError));
    assert!(read.episodes[0].unrecognised);
    let (reason, unrecognised, _) = ended(r#""passed": 1, "total": 3, "exit_status": "RuntimeError""#);
    assert_eq!((reason, unrecognised), (EndReason::TestsFailed, false));
}
