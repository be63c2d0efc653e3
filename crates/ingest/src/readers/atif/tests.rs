use StepKind::{Agent, System, Tool, User};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(json: &str) -> Transcript {
    transcript(&[serde_json::from_str(json).unwrap()])
}

#[test]
fn results_find_their_calls() {
    let t = read(
        r#"{"schema_version": "ATIF-v1.8", "future": [1], "steps": [
              {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "look"}, {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}]},
              {"step_id": 2, "source": "agent", "message": "", "timestamp": "2026-01-01T00:00:00Z", "reasoning_content": "hm",
               "tool_calls": [{"tool_call_id": "a", "function_name": "bash_command", "arguments": {"keystrokes": "ls\n  -la\n", "duration": 0.1}},
                              {"tool_call_id": "b", "function_name": "edit", "arguments": "raw"}],
               "observation": {"results": [{"source_call_id": "a", "content": "one", "extra": {"is_error": true}}, {"content": "all"}, {"source_call_id": "zz", "content": "lost"}]},
               "metrics": {"prompt_tokens": 8, "completion_tokens": 3, "cost_usd": 0.5}},
              {"step_id": 3, "source": "system", "message": null, "observation": {"results": [{"content": "boot", "subagent_trajectory_ref": [{"trajectory_id": "sub-1"}]}]}}],
             "subagent_trajectories": [{"trajectory_id": "sub-1", "agent": {"name": "summarizer"}, "steps": [{"source": "agent", "message": "short"}]}]}"#,
    );
    assert_eq!(t.format.as_deref(), Some("ATIF-v1.8"));
    let kinds: Vec<StepKind> = t.steps.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [User, Agent, Tool, System, Tool, System, Agent]);
    assert_eq!(t.steps[0].text, "look\n[image: image/png, images/a.png]");
    let calls = &t.steps[1].tool_calls;
    assert_eq!(
        (calls[0].summary.as_str(), calls[0].result.as_deref(), calls[0].is_error),
        ("ls -la", Some("one"), Some(true))
    );
    assert_eq!((calls[1].summary.as_str(), calls[1].result.as_deref()), ("raw", Some("all")));
    assert_eq!(t.steps[1].tokens.unwrap().input, Some(8));
    assert_eq!(t.steps[2].text, "lost");
    assert_eq!(t.steps[4].text, "boot\n[sub-agent: sub-1]");
    assert_eq!(t.steps[5].text, "Sub-agent summarizer sub-1");
    assert_eq!(t.steps.last().unwrap().index, 7);
}

/// Three steps of a model, whose results are entries of the agent, as several harnesses write them.
const LISTED: &str = r#"{"steps": [
        {"source": "user", "message": "go"},
        {"source": "agent", "message": "I look.", "tool_calls": [{"tool_call_id": "a", "function_name": "ls", "arguments": {}},
            {"tool_call_id": "b", "function_name": "cat", "arguments": {}}], "metrics": {"prompt_tokens": 9, "completion_tokens": 2}},
        {"source": "agent", "message": "x.py\n", "observation": {"results": [{"source_call_id": "a", "content": "x.py"}]}},
        {"source": "agent", "message": "", "observation": {"results": [{"source_call_id": "b", "content": "pass", "extra": {"is_error": true}}]}},
        {"source": "agent", "message": "again", "reasoning_content": "hm", "tool_calls": [{"tool_call_id": "a", "function_name": "ls", "arguments": {}}]},
        {"source": "agent", "message": "y.py", "observation": {"results": [{"content": "y.py"}]}},
        {"source": "environment", "message": "", "observation": {"results": [{"source_call_id": "a", "content": "z.py"}]}},
        {"source": "agent", "message": "Ran a hook.", "llm_call_count": 0},
        {"source": "agent", "message": "Done.", "llm_call_count": 1, "observation": {"results": [{"content": "ok"}]}}]}"#;

#[test]
fn results_that_are_listed_as_the_agents_are_no_steps_of_it() {
    let facts: TrajectorySummary = serde_json::from_str(LISTED).unwrap();
    assert_eq!((facts.agent_steps(), facts.tool_calls()), (3, 3));

    let t = read(LISTED);
    let shown: Vec<(StepKind, &str)> = t.steps.iter().map(|s| (s.kind, s.text.as_str())).collect();
    assert_eq!(
        shown,
        [
            (User, "go"),
            (Agent, "I look."),
            (Agent, "again"),
            (Tool, "Ran a hook."),
            (Agent, "Done."),
            (Tool, "ok")
        ]
    );
    let results: Vec<Option<&str>> =
        t.steps.iter().flat_map(|s| &s.tool_calls).map(|c| c.result.as_deref()).collect();
    assert_eq!(results, [Some("x.py"), Some("pass"), Some("y.py\nz.py")], "each once, at its call");
    assert_eq!(t.steps[1].tool_calls[1].is_error, Some(true));
}

/// A call of a model, what its tools gave as an entry of the agent with this message, and the answer.
fn with_results(calls: &[&str], message: &Value, results: &Value) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|id| json!({ "tool_call_id": id, "function_name": "ls", "arguments": {} }))
        .collect();
    json!({ "steps": [
        { "source": "agent", "message": "I look.", "tool_calls": calls },
        { "source": "agent", "message": message, "observation": { "results": results } },
        { "source": "agent", "message": "Done." },
    ] })
}

/// How many steps of the agent are counted, and the texts and results that are shown.
fn counted_and_shown(file: &Value) -> (u32, Vec<String>, Vec<Option<String>>) {
    let text = file.to_string();
    let summary: TrajectorySummary = serde_json::from_str(&text).unwrap();
    let t = read(&text);
    let texts = t.steps.iter().map(|step| step.text.clone()).collect();
    let results = t.steps.iter().flat_map(|step| &step.tool_calls).map(|call| call.result.clone()).collect();
    let shown = t.steps.iter().filter(|step| step.kind == Agent).count();
    assert_eq!(summary.agent_steps() as usize, shown, "what is counted is what is shown as the agent's");
    (summary.agent_steps(), texts, results)
}

#[test]
fn a_message_in_parts_repeats_a_result_as_a_text_does() {
    let parts = json!([{ "type": "text", "text": "out1" }]);
    for (message, content) in [
        (json!("out1"), json!("out1")),
        (parts.clone(), json!("out1")),
        (json!("out1\n"), parts.clone()),
        (parts.clone(), parts),
        (json!([{ "type": "text", "text": "" }]), json!("out1")),
        (json!([]), json!("out1")),
    ] {
        let file = with_results(&["a"], &message, &json!([{ "content": content }]));
        let (steps, texts, results) = counted_and_shown(&file);
        assert_eq!((steps, texts), (2, vec!["I look.".to_owned(), "Done.".to_owned()]), "{message}");
        assert_eq!(results, [Some("out1".to_owned())], "{message}");
    }
    // What has more text than its result is the agent's.
    let longer_message = json!([{ "type": "text", "text": "out1" }, { "type": "text", "text": "I see." }]);
    let file = with_results(&["a"], &longer_message, &json!([{ "content": "out1" }]));
    assert_eq!(counted_and_shown(&file).0, 3);
}

/// Only blanks are no reasoning, and no list of empty texts is.
#[test]
fn empty_reasoning_of_a_result_makes_it_no_step() {
    for reasoning in [json!(" \n"), json!([{ "type": "text", "text": "" }]), json!(null)] {
        let mut file = with_results(&["a"], &json!("out1"), &json!([{ "content": "out1" }]));
        file["steps"][1]["reasoning_content"] = reasoning;
        assert_eq!(counted_and_shown(&file).0, 2, "{file}");
    }
}

#[test]
fn a_message_that_joins_several_results_is_none_of_the_agent() {
    let unnamed = json!([{ "content": "out1" }, { "content": "out2" }]);
    let named =
        json!([{ "source_call_id": "b", "content": "out2" }, { "source_call_id": "a", "content": "out1" }]);
    let alone = vec!["I look.".to_owned(), "Done.".to_owned()];
    for (message, results) in [
        (json!("out1\nout2"), &unnamed),
        (json!("out1\n\nout2\n"), &unnamed),
        (json!([{ "type": "text", "text": "out1" }, { "type": "text", "text": "out2" }]), &unnamed),
        (json!("out2\nout1"), &named),
    ] {
        let (steps, texts, shown) = counted_and_shown(&with_results(&["a", "b"], &message, results));
        assert_eq!((steps, texts), (2, alone.clone()), "{message}");
        assert_eq!(
            shown,
            [Some("out1".to_owned()), Some("out2".to_owned())],
            "each once, at its call: {message}"
        );
    }
    // One call that gave both.
    let (steps, texts, shown) = counted_and_shown(&with_results(&["a"], &json!("out1\nout2"), &unnamed));
    assert_eq!((steps, texts, shown), (2, alone, vec![Some("out1\nout2".to_owned())]));
    // A call that another result names has no claim to one that names none.
    let mixed = json!([{ "source_call_id": "a", "content": "out1" }, { "content": "x" }]);
    let (steps, texts, shown) = counted_and_shown(&with_results(&["a"], &json!(""), &mixed));
    assert_eq!((steps, texts), (2, ["I look.", "x", "Done."].map(str::to_owned).to_vec()));
    assert_eq!(shown, [Some("out1".to_owned())]);
    // Another order is another text.
    assert_eq!(counted_and_shown(&with_results(&["a", "b"], &json!("out2\nout1"), &unnamed)).0, 3);
}

#[test]
fn an_entry_of_an_unknown_source_is_shown_as_such_and_not_counted() {
    let file = json!({ "steps": [
        { "source": "agent", "message": "a" }, { "source": "critic", "message": "b" }, { "message": "c" },
        { "source": null, "message": "", "tool_calls": [{ "function_name": "ls" }] }, { "source": " ", "message": "d" },
    ] });
    let (steps, texts, _) = counted_and_shown(&file);
    assert_eq!(steps, 1);
    assert_eq!(
        texts,
        ["a", "[source: critic]\nb", "[source: unknown]\nc", "[source: unknown]", "[source: unknown]\nd"]
    );
    let kinds: Vec<StepKind> = read(&file.to_string()).steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [Agent, System, System, System, System]);
    // Also where it only holds a result of a call.
    for (source, chip) in [(json!("critic"), "[source: critic]"), (json!(null), "[source: unknown]")] {
        let mut file = with_results(&["a"], &json!(""), &json!([{ "source_call_id": "a", "content": "x" }]));
        file["steps"][1]["source"] = source;
        let (steps, texts, results) = counted_and_shown(&file);
        assert_eq!((steps, texts), (2, ["I look.", chip, "Done."].map(str::to_owned).to_vec()));
        assert_eq!(results, [Some("x".to_owned())]);
    }
}

#[test]
fn context_that_an_embedded_sub_agent_took_over_is_marked() {
    let copied = json!({ "source": "agent", "message": "x", "is_copied_context": true });
    let inner =
        json!({ "agent": { "name": "inner" }, "steps": [copied, { "source": "agent", "message": "deep" }] });
    let outer = json!({
        "agent": { "name": "outer" }, "subagent_trajectories": [inner],
        "steps": [copied, copied, { "source": "agent", "message": "own" }],
    });
    let file = json!({ "steps": [{ "source": "user", "message": "go" }], "subagent_trajectories": [outer] });
    let t = read(&file.to_string());
    let texts: Vec<&str> = t.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "go",
            "Sub-agent outer",
            "Copied context: 2 steps taken over from another transcript, not shown",
            "own",
            "Sub-agent inner",
            "Copied context: 1 step taken over from another transcript, not shown",
            "deep"
        ]
    );
}

#[test]
fn a_continuation_does_not_repeat_what_it_took_over() {
    let first = serde_json::from_str(r#"{"steps": [{"source": "user", "message": "a"}], "continued_trajectory_ref": "trajectory.cont-1.json"}"#).unwrap();
    let second = serde_json::from_str(r#"{"steps": [{"source": "user", "message": "a", "is_copied_context": true}, {"source": "agent", "message": "b"}]}"#).unwrap();
    assert_eq!(Document::continued_in(&first), Some("trajectory.cont-1.json"));
    let t = transcript(&[first, second]);
    assert_eq!(t.steps.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn context_from_elsewhere_is_marked_where_it_stood() {
    let t = read(
        r#"{"agent": {"name": "a"}, "steps": [{"source": "user", "message": "go"}, {"source": "agent", "message": "x", "is_copied_context": true},
                {"source": "agent", "message": "y", "is_copied_context": true}, {"source": "agent", "message": "new"}]}"#,
    );
    let texts: Vec<_> = t.steps.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts, ["go", "Copied context: 2 steps taken over from another transcript, not shown", "new"]);
    assert_eq!(t.agent.as_deref(), Some("a"));
}

#[test]
fn large_files_are_cut_and_say_so() {
    let steps = r#"{"source": "agent", "message": "x"},"#.repeat(STEP_CAP + 2);
    let t = read(&format!("{{\"steps\": [{steps} {{\"source\": \"agent\", \"message\": \"{}\"}}]}}", "y"));
    assert_eq!((t.steps.len(), t.steps_cut), (STEP_CAP, 3));
    let t = read(&format!(
        "{{\"steps\": [{{\"source\": \"agent\", \"message\": \"{}\"}}]}}",
        "y".repeat(TEXT_CAP + 10)
    ));
    assert_eq!((t.steps[0].text.len(), t.steps[0].text_cut), (TEXT_CAP, 10));
}

#[test]
fn odd_shapes_are_taken() {
    for json in [
        "{}",
        r#"{"steps": null}"#,
        r#"{"steps": [3, null, "x", {}, {"source": 4, "message": {"a": 1}, "tool_calls": {}, "observation": []}]}"#,
    ] {
        read(json);
    }
    assert!(serde_json::from_str::<Document>(r#"{"steps": 3}"#).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[a-z ä\n]{0,12}".prop_map(Into::into),
        prop::sample::select(vec!["agent", "user", "image", "a", "text"]).prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 48, 4, |inner| {
        let key = prop::sample::select(vec![
            "source",
            "message",
            "tool_calls",
            "tool_call_id",
            "observation",
            "results",
            "source_call_id",
            "content",
            "arguments",
            "function_name",
            "metrics",
            "type",
            "text",
            "path",
            "subagent_trajectory_ref",
            "steps",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|map| { Value::Object(map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()) }),
        ]
    })
}

proptest! {
    #[test]
    fn no_shape_breaks_it(steps in prop::collection::vec(any_json(), 0..6), agents in any_json()) {
        let text = json!({"steps": steps, "subagent_trajectories": agents}).to_string();
        let t = read(&text);
        prop_assert!(t.steps.iter().zip(1..).all(|(s, i)| s.index == i));
    }
}
