//! The sampler with scripted endpoints that support a form of the answer, or refuse it.

mod endpoint;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use endpoint::{Endpoint, ModelRequest, Reply};
use llm_sampler::{Limits, LlmSampler, OpenAi, Replay, Tally};
use scenario::Seed;
use scenario::check::check;
use scenario::config::Generation;
use scenario::pack::{self, Pack, Target};
use scenario::sample::{Origin, ProgrammaticSampler, Sampler, SamplerOutput, Turn};
use serde_json::{Value, json};

const SEED: Seed = Seed { base: 5, scenario: 2 };
const SCHEMA: &[&str] = &["response_format"];
const TOOLS: &[&str] = &["tools"];
const PROSE: &[&str] = &[];

fn sampler(endpoint: &Endpoint) -> LlmSampler {
    let limits = Limits { call: Duration::from_mins(1), tries: 2, ..Limits::default() };
    let model =
        OpenAi::new(&endpoint.base_url(), "scripted", "PATH", limits.answer).expect("a local endpoint");
    LlmSampler::with_model(Box::new(model), limits).expect("a thread")
}

fn turn(sampler: &LlmSampler, count: u32) -> SamplerOutput<Turn> {
    let before = ProgrammaticSampler.first_schema(SEED).expect("a first schema").value;
    sampler.next_turn(SEED, &before, count).unwrap_or_else(|e| panic!("{e}"))
}

/// An answer in the form, with a tool and without.
fn reply_in_form(request: &ModelRequest) -> Reply {
    let answer = request.in_form();
    if request.body.get("tools").is_some() { Reply::Calls(answer) } else { Reply::Says(answer.to_string()) }
}

#[test]
fn an_answer_in_the_form_is_accepted_at_the_first_attempt() {
    for forms in [SCHEMA, TOOLS] {
        let endpoint = Endpoint::taking(forms, reply_in_form);
        let tally = Tally::default();
        let sampler = sampler(&endpoint).counted_by(&tally);
        let first = sampler.first_schema(SEED).expect("a schema");
        assert_eq!(check(&first.value), []);
        assert_eq!(first.value.title, "Made By Model");
        assert!(first.value.entities.iter().all(|entity| entity.key.starts_with("model_")));
        let sampled = turn(&sampler, 12);
        assert_eq!(sampled.value.origins, [Origin::Model; 12]);
        assert_eq!(check(&sampled.value.after), []);
        let counts = tally.counts();
        assert_eq!((counts.taken, counts.taken_first, counts.refused, counts.filled), (13, 13, 0, 0));
        assert_eq!(tally.by_purpose()["change"].taken, 12);

        for request in endpoint.requests() {
            assert!((64..6000).contains(&request.body["max_tokens"].as_u64().expect("a bound")));
            assert_eq!(request.body["temperature"], 0.4);
            let strict = &request.body["response_format"]["json_schema"]["strict"];
            assert_eq!(*strict, if forms == SCHEMA { json!(true) } else { Value::Null });
        }
        drop(endpoint);
        let answers = sampled.answers.clone();
        let replay = LlmSampler::replay(Replay::new(move |_, _| Ok(answers.clone())));
        assert_eq!(turn(&replay, 12), sampled);
    }
}

#[test]
fn a_name_in_use_is_reported_and_requested_again_with_a_higher_temperature() {
    let endpoint = Endpoint::taking(SCHEMA, |request| {
        let mut answer = request.in_form();
        if request.is_first_attempt() {
            for (label, text) in answer["answer"].as_object_mut().expect("an answer") {
                if label != "choice" {
                    *text = json!("id");
                }
            }
        }
        Reply::Says(answer.to_string())
    });
    let sampled = turn(&sampler(&endpoint), 10);
    assert_eq!(sampled.value.origins, [Origin::Model; 10]);
    let refused: Vec<&str> = sampled.answers.iter().filter_map(|answer| answer.refused.as_deref()).collect();
    assert!(!refused.is_empty());
    let again: Vec<ModelRequest> =
        endpoint.requests().into_iter().filter(|request| !request.is_first_attempt()).collect();
    assert_eq!(again.len(), refused.len());
    for (request, reason) in again.iter().zip(refused) {
        assert_eq!(request.body["temperature"], 0.7);
        assert!(request.last().contains(reason));
    }
}

#[test]
fn an_endpoint_that_accepts_and_ignores_a_form_gets_prose() {
    let endpoint = Endpoint::taking(&["response_format", "tools"], |request| {
        Reply::Says(if request.form().is_some() { "Gladly!".to_owned() } else { request.good_change() })
    });
    let tally = Tally::default();
    let sampled = turn(&sampler(&endpoint).counted_by(&tally), 3);
    assert_eq!(sampled.value.origins, [Origin::Replaced, Origin::Model, Origin::Model]);
    assert_eq!(sampled.answers.len(), 6, "an answer without the form is refused");
    let counts = tally.counts();
    assert_eq!((counts.taken, counts.refused, counts.filled), (2, 4, 1));
    let forms: Vec<bool> = endpoint.requests().iter().map(|request| request.form().is_some()).collect();
    assert_eq!(forms, [true, true, true, true, false, false], "it is learned once");
}

#[test]
fn later_questions_keep_the_form_after_one_answer_in_prose() {
    // The model refuses the third question once, then the fifth three times.
    let endpoint = Endpoint::taking(SCHEMA, |request| match request.number {
        2 | 5..8 => Reply::Says("I'm sorry, I cannot do that.".to_owned()),
        _ => reply_in_form(request),
    });
    let sampled = turn(&sampler(&endpoint), 7);
    let [model, filled] = [Origin::Model, Origin::Replaced];
    assert_eq!(sampled.value.origins, [model, model, model, model, filled, model, model]);
    assert!(endpoint.requests().iter().all(|request| request.body.get("response_format").is_some()));
    let refused: Vec<&str> =
        sampled.answers.iter().filter(|answer| answer.refused.is_some()).map(|a| &*a.text).collect();
    assert_eq!(refused, ["I'm sorry, I cannot do that."; 4], "each is recorded");
    drop(endpoint);
    let answers = sampled.answers.clone();
    assert_eq!(turn(&LlmSampler::replay(Replay::new(move |_, _| Ok(answers.clone()))), 7), sampled);
}

#[test]
fn a_bound_that_is_refused_for_one_answer_stays_for_others() {
    let endpoint = Endpoint::taking(SCHEMA, |request| {
        let bounded = request.body.get("max_tokens").is_some();
        if request.number == 1 && bounded {
            let message = "max_tokens is too large: 900. The request has 3500 tokens of a context of 4096.";
            return Reply::Http(400, Vec::new(), json!({"error": {"message": message}}).to_string());
        }
        reply_in_form(request)
    });
    let sampled = turn(&sampler(&endpoint), 3);
    assert_eq!(sampled.value.origins, [Origin::Model; 3]);
    let bounded: Vec<bool> =
        endpoint.requests().iter().map(|request| request.body.get("max_tokens").is_some()).collect();
    assert_eq!(bounded, [true, true, false, true]);
}

#[test]
fn a_repeated_example_is_refused_unless_it_is_one_of_several_choices() {
    for (forms, has_choices) in [(SCHEMA, true), (PROSE, false)] {
        // The example is the last line of a question, and complete.
        let endpoint = Endpoint::taking(forms, |request| {
            let question = &request.messages[0].1;
            Reply::Says(question.lines().last().unwrap_or_default().to_owned())
        });
        let tally = Tally::default();
        let sampler = sampler(&endpoint).counted_by(&tally);
        let first = sampler.first_schema(SEED).expect("a schema");
        assert_eq!(first.value, ProgrammaticSampler.first_schema(SEED).expect("a schema").value);
        let sampled = turn(&sampler, 8);
        assert_eq!(tally.by_purpose()["first"].filled, 1);
        let by_purpose = tally.by_purpose();
        let change = &by_purpose["change"];
        if has_choices {
            assert!(change.taken_first >= 7, "{change:?}");
            continue;
        }
        assert!(change.filled > 0, "{change:?}");
        for (change, origin) in sampled.value.changes.iter().zip(&sampled.value.origins) {
            let text = serde_json::to_value(change).expect("JSON");
            let kind = text["change"].as_str().expect("a kind");
            let brings_names = kind.starts_with("rename_")
                || ["add_entity", "add_field", "add_enum_value", "add_action", "add_analytic"]
                    .contains(&kind);
            assert!(!brings_names || *origin == Origin::Replaced, "{kind} {origin:?}");
        }
    }
}

#[test]
fn a_reasoning_model_gets_tokens_for_it() {
    let endpoint = Endpoint::taking(SCHEMA, |request| {
        if request.body["max_completion_tokens"].is_null() {
            let message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
            return Reply::Http(400, Vec::new(), json!({"error": {"message": message}}).to_string());
        }
        if request.body["max_completion_tokens"].as_u64().is_some_and(|tokens| tokens < 8000) {
            let cut = json!({"choices": [{"finish_reason": "length", "message": {"content": ""}}]});
            return Reply::Http(200, Vec::new(), cut.to_string());
        }
        reply_in_form(request)
    });
    let sampled = turn(&sampler(&endpoint), 2);
    assert_eq!(sampled.value.origins, [Origin::Model; 2]);
    assert_eq!((sampled.answers.len(), endpoint.requests().len()), (2, 4));
}

#[test]
fn a_pack_records_by_turn_how_much_the_model_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Generation {
        n_scenarios: 2,
        n_turns: 3,
        num_changes_per_turn: 2,
        use_llm_sampler: true,
        llm_sampler_model_id: Some("scripted".to_owned()),
        ..Generation::default()
    };
    // The first schema and the first change of each scenario are accepted, and no others.
    let endpoint = Endpoint::taking(SCHEMA, |request| {
        let question = &request.messages[0].1;
        let first = question.contains("the first version of a system");
        let already = question.contains("Already changed");
        Reply::Says(if first || !already { request.in_form().to_string() } else { "{}".to_owned() })
    });
    let write = |sampler: &LlmSampler, name: &str| {
        let target = Target::Folder(folder.path().join(name));
        let never = AtomicBool::new(false);
        pack::generate(&settings, sampler, &target, &pack::Options::default(), &|_| {}, &never)
            .unwrap_or_else(|e| panic!("{e}"))
            .manifest
    };
    let pack = write(&sampler(&endpoint), "pack");
    drop(endpoint);
    for scenario in &pack.scenarios {
        assert_eq!((&scenario.sampled[..], &scenario.fallback[..]), (&[1, 1, 1][..], &[0, 1, 1][..]));
    }
    let read = Pack::open_path(&folder.path().join("pack")).expect("a pack");
    assert_eq!(*read.manifest(), pack);
    for turn in 1..=3 {
        assert_eq!(read.verify_turn(0, turn), None);
    }
    // Counts without a hash are checked against the turns.
    let path = folder.path().join("pack/manifest.json");
    let text = std::fs::read_to_string(&path).expect("a manifest");
    let wrong = text.replacen(
        "\"fallback\": [\n        0,\n        1,",
        "\"fallback\": [\n        0,\n        2,",
        1,
    );
    assert_ne!(wrong, text);
    std::fs::write(&path, wrong).expect("it is written");
    let misstated = Pack::open_path(&folder.path().join("pack")).expect("a pack").verify_turn(0, 2);
    assert!(
        misstated
            .is_some_and(|mismatch| mismatch.what.contains("2 by the seed instead; the turn has 1 and 1"))
    );
    let answers = Replay::new(move |scenario, turn| read.answers(scenario, turn).map_err(|e| e.to_string()));
    assert_eq!(write(&LlmSampler::replay(answers), "again"), pack);
}
