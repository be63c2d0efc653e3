//! The sampler with a scripted OpenAI-compatible endpoint: good answers, nonsense, silence, rate limits, and no server.

mod endpoint;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use endpoint::{Endpoint, ModelRequest, Reply, UNUSED_ADDRESS};
use llm_sampler::{ATTEMPTS, Journal, Limits, LlmSampler, OpenAi, Replay, Settings};
use scenario::Seed;
use scenario::check::check;
use scenario::config::Generation;
use scenario::ir::Schema;
use scenario::pack::{self, Pack, PackError, Target};
use scenario::sample::{Answer, Origin, ProgrammaticSampler, SampleError, Sampler, SamplerOutput, Turn};
use serde_json::{Value, json};

const SEED: Seed = Seed { base: 5, scenario: 2 };

/// Only a hanging endpoint exceeds this time, also on a busy machine.
fn limits() -> Limits {
    Limits {
        call: Duration::from_mins(1),
        tries: 3,
        back_off: Duration::from_millis(2),
        longest_wait: Duration::from_secs(3),
        missing_in_a_row: 10,
        ..Limits::default()
    }
}

fn sampler(base_url: &str) -> LlmSampler {
    sampler_within(base_url, limits())
}

fn sampler_within(base_url: &str, limits: Limits) -> LlmSampler {
    // A variable that every system sets replaces the key.
    let model = OpenAi::new(base_url, "scripted", "PATH", limits.answer).expect("a local endpoint");
    LlmSampler::with_model(Box::new(model), limits).expect("a thread")
}

fn reply_with_good_change(request: &ModelRequest) -> Reply {
    Reply::Says(request.good_change())
}

fn before() -> Schema {
    ProgrammaticSampler.first_schema(SEED).expect("a first schema").value
}

fn turn(sampler: &LlmSampler, count: u32) -> SamplerOutput<Turn> {
    sampler.next_turn(SEED, &before(), count).unwrap_or_else(|e| panic!("{e}"))
}

/// A sampler with the recorded answers of a pack.
fn replay(answers: &[Answer]) -> LlmSampler {
    let text = serde_json::to_string(answers).expect("JSON");
    LlmSampler::replay(Replay::new(move |_, _| serde_json::from_str(&text).map_err(|e| e.to_string())))
}

/// A design that differs from the generated one.
fn design() -> String {
    let drawn = before();
    let mut design =
        json!({"title": "Made by a model", "entities": drawn.entities, "analytics": drawn.analytics});
    design["entities"][0]["about"] = json!("something that only a model would say");
    design.to_string()
}

#[test]
fn good_answers_are_accepted_and_replay_to_the_same_turn() {
    let endpoint = Endpoint::start(reply_with_good_change);
    let sampled = turn(&sampler(&endpoint.base_url()), 12);
    assert_eq!(sampled.value.origins, [Origin::Model; 12]);
    assert_eq!(sampled.value.changes.len(), 12);
    assert_eq!(check(&sampled.value.after), []);
    assert_eq!(sampled.value.after.turn, 2);
    assert_eq!(sampled.answers.len(), 12);
    assert!(sampled.answers.iter().all(|answer| answer.attempt == 1 && answer.refused.is_none()));
    let changes = serde_json::to_string(&sampled.value.changes).expect("JSON");
    assert!(changes.contains("_of_model"), "{changes}");
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 12);
    assert!(
        requests
            .iter()
            .all(|request| request.path == "/v1/chat/completions"
                && request.system.contains("one JSON object"))
    );
    drop(endpoint);

    let again = turn(&replay(&sampled.answers), 12);
    assert_eq!(again, sampled);
}

#[test]
fn the_seed_decides_the_kinds_and_later_ones_do_not_matter() {
    let endpoint = Endpoint::start(reply_with_good_change);
    let sampler = sampler(&endpoint.base_url());
    let (few, many) = (turn(&sampler, 3), turn(&sampler, 6));
    assert_eq!(few.value.changes, many.value.changes[..3]);
}

#[test]
fn a_first_design_is_checked_accepted_and_replayed() {
    let endpoint = Endpoint::start(|_| Reply::Says(design()));
    let first = sampler(&endpoint.base_url()).first_schema(SEED).expect("a schema");
    assert_eq!(first.value.title, "Made by a model");
    assert_eq!(first.value.entities[0].about, "something that only a model would say");
    assert_eq!(first.value.conventions, before().conventions);
    assert_eq!(first.value.used, before().used);
    assert_eq!(check(&first.value), []);
    drop(endpoint);
    assert_eq!(replay(&first.answers).first_schema(SEED), Ok(first));
}

#[test]
fn a_faulty_design_is_requested_again_with_its_faults() {
    let endpoint = Endpoint::start(|request| {
        let mut bad: Value = serde_json::from_str(&design()).expect("JSON");
        match request.number {
            0 => bad["entities"][0]["fields"][0]["name"] = json!("Not A Name"),
            1 => bad["entities"] = json!([bad["entities"][0]]),
            _ => {}
        }
        Reply::Says(bad.to_string())
    });
    let first = sampler(&endpoint.base_url()).first_schema(SEED).expect("a schema");
    assert_eq!(first.value.title, "Made by a model");
    let refused: Vec<&str> = first.answers.iter().filter_map(|answer| answer.refused.as_deref()).collect();
    assert_eq!(refused.len(), 2);
    assert!(refused[1].contains("1 entities"), "{refused:?}");
    let requests = endpoint.requests();
    assert!(requests[1].last().contains(refused[0]) && requests[2].last().contains(refused[1]));

    let nonsense = Endpoint::start(|_| Reply::Says("{}".to_owned()));
    let first = sampler(&nonsense.base_url()).first_schema(SEED).expect("a schema");
    assert_eq!(first.value, before(), "the generated one replaces it");
    assert_eq!(first.answers.len() as u32, ATTEMPTS);
}

#[test]
fn after_nonsense_the_answer_is_requested_again_then_replaced_and_marked() {
    let endpoint = Endpoint::start(|request| {
        let mut other = request.example();
        other["change"] = json!("remove_everything");
        Reply::Says(match request.messages.len() {
            1 if request.number % 2 == 0 => "I would rather talk about the weather.".to_owned(),
            1 => "{\"change\": ".to_owned(),
            _ => other.to_string(),
        })
    });
    let sampled = turn(&sampler(&endpoint.base_url()), 2);
    assert_eq!(sampled.value.origins, [Origin::Replaced; 2]);
    assert_eq!(check(&sampled.value.after), []);
    let attempts: Vec<(&str, u32)> =
        sampled.answers.iter().map(|answer| (answer.purpose.as_str(), answer.attempt)).collect();
    assert_eq!(
        attempts,
        [
            ("change 1", 1),
            ("change 1", 2),
            ("change 1", 3),
            ("change 2", 1),
            ("change 2", 2),
            ("change 2", 3)
        ]
    );
    let requests = endpoint.requests();
    for (answer, next) in sampled.answers.iter().zip(&requests[1..]) {
        let refused = answer.refused.as_deref().expect("all are refused");
        if answer.attempt < ATTEMPTS {
            assert!(next.last().contains(refused), "{refused} in {}", next.last());
            assert_eq!(next.messages[1], ("assistant".to_owned(), answer.text.clone()));
        }
    }
    drop(endpoint);
    assert_eq!(turn(&replay(&sampled.answers), 2), sampled);
}

#[test]
fn a_change_that_the_schema_refuses_is_corrected() {
    let endpoint = Endpoint::start(|request| {
        let mut change = request.example();
        if request.is_first_attempt() {
            for part in ["entity", "analytic"] {
                if change[part].is_string() {
                    change[part] = json!("nothing_of_this_name");
                } else if change[part].is_object() {
                    change[part]["name"] = json!("id");
                }
            }
            return Reply::Says(change.to_string());
        }
        Reply::Says(request.good_change())
    });
    let sampled = turn(&sampler(&endpoint.base_url()), 8);
    assert_eq!(sampled.value.origins, [Origin::Model; 8]);
    let refused: Vec<&str> = sampled.answers.iter().filter_map(|answer| answer.refused.as_deref()).collect();
    assert!(refused.len() >= 4, "{refused:?}");
}

#[test]
fn rate_limits_are_respected_and_server_errors_are_retried() {
    let endpoint = Endpoint::start(|request| match request.number {
        0 => Reply::Http(
            429,
            vec![("retry-after", "1".to_owned())],
            json!({"error": {"message": "slow down", "type": "rate_limit", "code": null}}).to_string(),
        ),
        1 => Reply::Http(503, Vec::new(), "<html>no JSON</html>".to_owned()),
        _ => reply_with_good_change(request),
    });
    let begun = Instant::now();
    let sampled = turn(&sampler(&endpoint.base_url()), 1);
    assert!(begun.elapsed() >= Duration::from_secs(1), "it waits for the requested time");
    assert_eq!(sampled.value.origins, [Origin::Model]);
    assert_eq!(sampled.answers.len(), 1, "only texts of the model are answers");
    assert_eq!(endpoint.requests().len(), 3);
}

#[test]
fn silence_is_recorded_as_a_missing_answer() {
    let endpoint = Endpoint::start(|_| Reply::Hangs);
    // Nothing has to come within this limit.
    let limits = Limits { call: Duration::from_millis(500), ..limits() };
    let sampled = turn(&sampler_within(&endpoint.base_url(), limits), 1);
    assert_eq!(sampled.value.origins, [Origin::Replaced]);
    assert_eq!(sampled.answers.len(), 3);
    for answer in &sampled.answers {
        assert_eq!(answer.text, "");
        let refused = answer.refused.clone().expect("a reason");
        assert!(
            refused.contains("no answer within 0.5 s") && refused.contains("timeout_seconds"),
            "{refused}"
        );
    }
    // After an attempt whose calls timed out, the next one is a new question without an earlier answer.
    assert!(endpoint.requests().iter().all(ModelRequest::is_first_attempt));
    drop(endpoint);
    assert_eq!(turn(&replay(&sampled.answers), 1), sampled);
}

#[test]
fn an_invalid_or_too_long_reply_is_a_missing_answer() {
    let endpoint = Endpoint::start(|request| match request.number {
        0 => Reply::Http(200, Vec::new(), "{\"weather\": \"fine\"}".to_owned()),
        1 => Reply::Http(200, Vec::new(), "not even JSON".to_owned()),
        2 => Reply::Says("x".repeat(300_000)),
        _ => reply_with_good_change(request),
    });
    let sampled = turn(&sampler(&endpoint.base_url()), 2);
    assert_eq!(sampled.value.origins, [Origin::Replaced, Origin::Model]);
    assert!(sampled.answers.iter().all(|answer| answer.text.len() < 10_000));
}

/// The replies of an endpoint.
type Script = Box<dyn Fn(&ModelRequest) -> Reply + Send + Sync>;

#[test]
fn a_permanent_failure_of_an_endpoint_ends_it_with_advice_and_without_the_key() {
    let key = std::env::var("PATH").expect("a variable that is set");
    let echo = key.clone();
    let cases: [(Script, &str); 3] = [
        (
            Box::new(|_| Reply::Http(500, Vec::new(), "broken".to_owned())),
            "500 Internal Server Error: broken",
        ),
        (
            Box::new(move |_| {
                let error = json!({"error": {"message": format!("Incorrect API key: {echo}"), "code": "invalid_api_key"}});
                Reply::Http(401, Vec::new(), error.to_string())
            }),
            "401 Unauthorized: Incorrect API key",
        ),
        (
            Box::new(|_| Reply::Http(429, vec![("retry-after", "4000".to_owned())], String::new())),
            "asks to wait 4000 s",
        ),
    ];
    for (script, expected) in cases {
        let endpoint = Endpoint::start(script);
        let Err(SampleError::Endpoint(text)) = sampler(&endpoint.base_url()).next_turn(SEED, &before(), 1)
        else {
            panic!("{expected}");
        };
        assert!(text.contains(expected) && text.contains(&endpoint.base_url()), "{text}");
        assert!(text.contains("llm_sampler.base_url") && !text.contains(&key), "{text}");
        assert_eq!(endpoint.requests()[0].authorization, format!("Bearer {key}"));
    }
}

#[test]
fn a_missing_server_is_reported_plainly() {
    let begun = Instant::now();
    let url = format!("{UNUSED_ADDRESS}/v1");
    let Err(SampleError::Endpoint(text)) = sampler(&url).first_schema(SEED) else { panic!("nobody listens") };
    assert!(text.contains("3 calls") && text.contains("refused") && text.contains(&url), "{text}");
    assert!(begun.elapsed() < limits().call, "no call waits for its time limit");
}

#[test]
fn an_aborted_generation_resumes_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pack.answers.jsonl");
    let journal = || Arc::new(Journal::open(&path, json!("these settings")).expect("a journal"));
    let refusing = |threshold: usize| {
        Endpoint::start(move |request| {
            if request.number >= threshold {
                return Reply::Http(401, Vec::new(), "over".to_owned());
            }
            if request.number == 1 { Reply::Says("Hm.".to_owned()) } else { reply_with_good_change(request) }
        })
    };
    // Three changes in four calls, and at the fifth the endpoint refuses.
    let endpoint = refusing(4);
    let broken = sampler(&endpoint.base_url()).keeping(&journal()).next_turn(SEED, &before(), 6);
    assert!(matches!(broken, Err(SampleError::Endpoint(_))), "{broken:?}");
    drop(endpoint);

    let endpoint = Endpoint::start(reply_with_good_change);
    let kept = journal();
    assert_eq!(kept.known(), 4);
    let sampled = turn(&sampler(&endpoint.base_url()).keeping(&kept), 6);
    assert_eq!(sampled.value.origins, [Origin::Model; 6]);
    assert_eq!(
        (sampled.answers.len(), endpoint.requests().len()),
        (7, 3),
        "only missing answers are requested"
    );
    assert_eq!(sampled.answers[1].text, "Hm.");
    drop((endpoint, kept));
    assert_eq!(journal().known(), 7);
    assert_eq!(turn(&replay(&sampled.answers), 6), sampled);
}

#[test]
fn an_aborted_pack_is_resumed_marked_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path_of = |name: &str| folder.path().join(name);
    let settings = Generation {
        n_scenarios: 1,
        n_turns: 2,
        num_changes_per_turn: 2,
        use_llm_sampler: true,
        llm_sampler_model_id: Some("scripted".to_owned()),
        ..Generation::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let journal =
        || Arc::new(Journal::open(&path_of("answers"), json!("these settings")).expect("a journal"));
    let write = |sampler: &LlmSampler, name: &str| {
        let (target, options) = (Target::Folder(path_of(name)), pack::Options::default());
        pack::generate(&settings, sampler, &target, &options, &|_| {}, &stop)
            .map(|made_pack| made_pack.manifest)
    };
    // The answer for a change is not a design, so the first schema takes three calls and is replaced.
    let breaks = Endpoint::start(|request| match request.number {
        0..4 => reply_with_good_change(request),
        _ => Reply::Http(401, Vec::new(), "over".to_owned()),
    });
    let broken = write(&sampler(&breaks.base_url()).keeping(&journal()), "pack");
    assert!(matches!(broken, Err(PackError::Sample { error: SampleError::Endpoint(_), .. })), "{broken:?}");
    assert!(!path_of("pack").exists() && journal().known() == 4);
    drop(breaks);

    let (begun_sender, begun) = std::sync::mpsc::channel();
    let hangs = Endpoint::start(move |_| {
        let _ = begun_sender.send(());
        Reply::Hangs
    });
    let slow = Limits { call: Duration::from_mins(5), ..limits() };
    let waits = sampler_within(&hangs.base_url(), slow).stopped_by(&stop).keeping(&journal());
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| write(&waits, "pack"));
        begun.recv().expect("it is asked");
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(stopped.join().expect("no panic"), Err(PackError::Cancelled)));
    });
    stop.store(false, Ordering::Relaxed);
    drop((hangs, waits));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "only the answers stay");

    let whole = Endpoint::start(reply_with_good_change);
    let kept = journal();
    let made_pack = write(&sampler(&whole.base_url()).keeping(&kept), "pack").expect("a pack");
    assert_eq!(whole.requests().len(), 1, "only missing answers are requested");
    assert_eq!(made_pack.scenarios[0].origin, Origin::Replaced);
    kept.remove().expect("it is there");
    drop(whole);
    let pack = Pack::open_path(&path_of("pack")).expect("a pack");
    let answers = Replay::new(move |scenario, turn| pack.answers(scenario, turn).map_err(|e| e.to_string()));
    assert_eq!(write(&LlmSampler::replay(answers), "again").expect("a pack"), made_pack);
}

#[test]
fn a_stopped_call_is_dropped() {
    let (begun_sender, begun) = std::sync::mpsc::channel();
    let endpoint = Endpoint::start(move |_| {
        let _ = begun_sender.send(());
        Reply::Hangs
    });
    let slow = Limits { call: Duration::from_mins(5), ..limits() };
    let stop = Arc::new(AtomicBool::new(false));
    let sampler = sampler_within(&endpoint.base_url(), slow).stopped_by(&stop);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sampler.next_turn(SEED, &before(), 1));
        begun.recv().expect("it is asked");
        stop.store(true, Ordering::Relaxed);
        assert_eq!(waiting.join().expect("no panic"), Err(SampleError::Stopped));
    });
    assert!(start.elapsed() < slow.call, "it does not wait");
}

#[test]
fn a_replay_without_its_answers_names_what_is_missing() {
    let empty = replay(&[]);
    let Err(SampleError::NotRecorded(message)) = empty.next_turn(SEED, &before(), 1) else {
        panic!("no answers")
    };
    assert!(message.contains("change 1") && message.contains("turn 2 of scenario 2"), "{message}");
}

#[test]
fn an_unusable_address_or_key_is_refused_before_any_request() {
    for (url, expected) in [
        ("localhost:80", "not the address"),
        ("ftp://localhost", "not the address"),
        ("https://user:secret@example.org/v1", "no user or password"),
        ("https://example.org/v1", "NO_SUCH_VARIABLE_HERE"),
    ] {
        let values = [
            ("llm_sampler.base_url", json!(url)),
            ("llm_sampler.key_variable", json!("NO_SUCH_VARIABLE_HERE")),
        ];
        let settings = Settings::new("m", values.iter().map(|(key, value)| (*key, value))).expect("settings");
        let error = LlmSampler::new(&settings).err().expect(url);
        assert!(error.0.contains(expected), "{error}");
    }
}
