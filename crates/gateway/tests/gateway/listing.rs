//! The models of an endpoint, by stand-ins that answer as each program does, and by ones that do not behave.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use bytes::Bytes;
use futures_util::stream;
use gateway::{EndpointProblem, ListedModel, ModelList, Secret, ServerKind, UnusableEndpoint, list_models};

use crate::endpoint::REAL_KEY;

/// Longer than any answer of a stand-in takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a path answers; other paths answer as `unknown` says.
#[derive(Clone)]
enum CannedAnswer {
    Text(u16, String),
    Moved(String),
    /// Never ends.
    Endless,
    /// Never begins.
    Silence,
}

/// Paths that were asked, each with its `Authorization`.
type ReceivedPaths = Arc<Mutex<Vec<(String, Option<String>)>>>;

struct StandIn {
    address: SocketAddr,
    received_paths: ReceivedPaths,
}

impl StandIn {
    async fn start(paths: &[(&'static str, CannedAnswer)], unknown: CannedAnswer) -> Self {
        let paths: Arc<BTreeMap<&'static str, CannedAnswer>> = Arc::new(paths.iter().cloned().collect());
        let received_paths = ReceivedPaths::default();
        let kept_paths = Arc::clone(&received_paths);
        let router = Router::new().fallback(move |request: Request| {
            let key = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
            kept_paths.lock().unwrap().push((request.uri().path().to_owned(), key));
            let answer = paths.get(request.uri().path()).unwrap_or(&unknown).clone();
            async move {
                match answer {
                    CannedAnswer::Text(status, text) => {
                        Response::builder().status(status).body(Body::from(text)).unwrap()
                    }
                    CannedAnswer::Moved(to) => {
                        Response::builder().status(307).header("location", to).body(Body::empty()).unwrap()
                    }
                    CannedAnswer::Endless => {
                        let piece = || Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 8192]));
                        Response::new(Body::from_stream(stream::repeat_with(piece)))
                    }
                    CannedAnswer::Silence => std::future::pending().await,
                }
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, received_paths }
    }

    fn paths(&self) -> Vec<String> {
        self.received_paths.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    async fn list(&self, patience: Duration) -> Result<ModelList, UnusableEndpoint> {
        list_models(&format!("http://{}/v1/", self.address), None, patience).await
    }
}

fn json(text: &str) -> CannedAnswer {
    CannedAnswer::Text(200, text.to_owned())
}

fn not_found() -> CannedAnswer {
    CannedAnswer::Text(404, r#"{"error":{"message":"Not Found"}}"#.to_owned())
}

async fn listed(paths: &[(&'static str, CannedAnswer)], unknown: CannedAnswer) -> ModelList {
    StandIn::start(paths, unknown).await.list(PATIENCE).await.unwrap()
}

fn model(id: &str, context: Option<u64>, model_context: Option<u64>) -> ListedModel {
    ListedModel { id: id.to_owned(), aliases: Vec::new(), context, model_context }
}

#[tokio::test]
async fn llama_cpp_tells_the_context_of_a_slot() {
    let models = r#"{"models":[{"name":"smollm2-135m","model":"smollm2-135m","capabilities":["completion"]}],
        "object":"list","data":[{"id":"smollm2-135m","object":"model","created":1764000000,"owned_by":"llamacpp",
        "meta":{"vocab_type":2,"n_vocab":49152,"n_ctx_train":8192,"n_embd":576,"n_params":134515008,"size":97000000}}]}"#;
    let props = r#"{"default_generation_settings":{"id":0,"n_ctx":4096,"speculative":false},"total_slots":2,
        "model_path":"model.gguf","chat_template":"{% %}","build_info":"b1-x"}"#;
    let list = listed(&[("/v1/models", json(models)), ("/props", json(props))], not_found()).await;
    assert_eq!(list.server, Some(ServerKind::LlamaCpp));
    assert_eq!(list.models, [model("smollm2-135m", Some(4096), Some(8192))]);
    assert_eq!(list.slots, Some(2));

    // An older one that does not say whose the models are.
    let older = r#"{"object":"list","data":[{"id":"a.gguf","object":"model"}]}"#;
    let list = listed(&[("/v1/models", json(older)), ("/props", json(props))], not_found()).await;
    assert_eq!((list.server, list.models[0].context), (Some(ServerKind::LlamaCpp), Some(4096)));

    // A router of several models: the context of `/props` is that of one of them.
    let two =
        r#"{"object":"list","data":[{"id":"a","owned_by":"llamacpp"},{"id":"b","owned_by":"llamacpp"}]}"#;
    let list = listed(&[("/v1/models", json(two)), ("/props", json(props))], not_found()).await;
    assert_eq!(list.models, [model("a", None, None), model("b", None, None)]);
    // A newer one tells the context of each that is loaded.
    let loaded = r#"{"object":"list","data":[{"id":"a","owned_by":"llamacpp","meta":{"n_ctx":2048,"n_ctx_train":8192}},
        {"id":"b","owned_by":"llamacpp","meta":null}]}"#;
    let list = listed(&[("/v1/models", json(loaded)), ("/props", json(props))], not_found()).await;
    assert_eq!(list.models, [model("a", Some(2048), Some(8192)), model("b", None, None)]);
}

#[tokio::test]
async fn llama_cpp_answers_to_the_other_names_of_a_model() {
    let many: Vec<String> = (0..40).map(|n| format!("other-{n}")).collect();
    let models = serde_json::json!({ "object": "list", "data": [
        { "id": "a", "owned_by": "llamacpp", "aliases": ["a", "short\u{1b}[2J", "", 7], "meta": null },
        { "id": "b", "owned_by": "llamacpp", "aliases": many },
        { "id": "c", "owned_by": "llamacpp", "aliases": "none" },
    ] });
    let list = listed(&[("/v1/models", json(&models.to_string()))], not_found()).await;
    assert_eq!(list.models[0].aliases, ["short[2J"]);
    assert!(
        ["a", "short[2J"].iter().all(|name| list.models[0].is_named(name)) && !list.models[0].is_named("b")
    );
    assert_eq!(list.models[1].aliases.len(), 16);
    assert!(list.models[2].aliases.is_empty());
}

#[tokio::test]
async fn vllm_and_sglang_tell_it_in_the_list() {
    for (owner, server) in [("vllm", ServerKind::Vllm), ("sglang", ServerKind::Sglang)] {
        let models = format!(
            r#"{{"object":"list","data":[{{"id":"Qwen/Qwen3-8B","object":"model","created":1764000000,"owned_by":"{owner}",
            "root":"Qwen/Qwen3-8B","parent":null,"max_model_len":40960}}]}}"#
        );
        let stand_in = StandIn::start(&[("/v1/models", json(&models))], not_found()).await;
        let list = stand_in.list(PATIENCE).await.unwrap();
        assert_eq!(list.server, Some(server));
        assert_eq!(list.models, [model("Qwen/Qwen3-8B", Some(40960), None)]);
        assert_eq!(stand_in.paths(), ["/v1/models"], "nothing else is asked");
    }
}

#[tokio::test]
async fn ollama_serves_less_than_a_model_was_made_for() {
    let models = r#"{"object":"list","data":[
        {"id":"llama3.2:latest","object":"model","created":1764000000,"owned_by":"library"},
        {"id":"qwen3:8b","object":"model","created":1764000000,"owned_by":"library"}]}"#;
    let show = r#"{"modelfile":"FROM x","parameters":"stop                           \"<|im_end|>\"\nnum_ctx                        16384",
        "details":{"family":"llama"},"model_info":{"general.architecture":"llama","llama.context_length":131072},
        "capabilities":["completion","tools"]}"#;
    let loaded = r#"{"models":[{"name":"llama3.2:latest","model":"llama3.2:latest","size":1,"size_vram":0,"context_length":4096}]}"#;
    let paths = [("/v1/models", json(models)), ("/api/ps", json(loaded)), ("/api/show", json(show))];
    let list = listed(&paths, not_found()).await;
    assert_eq!(list.server, Some(ServerKind::Ollama));
    assert_eq!(
        list.models,
        [model("llama3.2:latest", Some(4096), Some(131_072)), model("qwen3:8b", Some(16384), Some(131_072))],
        "what is loaded counts; else what its file asks for"
    );

    let bare = r#"{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}"#;
    let paths =
        [("/v1/models", json(models)), ("/api/ps", json(r#"{"models":[]}"#)), ("/api/show", json(bare))];
    let list = listed(&paths, not_found()).await;
    assert_eq!(list.models[1], model("qwen3:8b", None, Some(40960)), "not loaded: unknown, not its maximum");
}

#[tokio::test]
async fn lm_studio_answers_unknown_paths_with_200() {
    let models = r#"{"data":[{"id":"qwen2.5-coder-7b","object":"model","owned_by":"organization_owner"},
        {"id":"other","object":"model","owned_by":"organization_owner"}],"object":"list"}"#;
    let native = r#"{"object":"list","data":[
        {"id":"qwen2.5-coder-7b","object":"model","type":"llm","publisher":"x","arch":"qwen2","compatibility_type":"gguf",
         "quantization":"Q4_K_M","state":"loaded","max_context_length":32768,"loaded_context_length":8192},
        {"id":"other","object":"model","type":"llm","state":"not-loaded","max_context_length":131072}]}"#;
    let unknown = json(r#"{"error":"Unexpected endpoint or method. (GET /api/ps)"}"#);
    let list = listed(&[("/v1/models", json(models)), ("/api/v0/models", json(native))], unknown).await;
    assert_eq!(list.server, Some(ServerKind::LmStudio));
    assert_eq!(
        list.models,
        [model("qwen2.5-coder-7b", Some(8192), Some(32768)), model("other", None, Some(131_072))]
    );
}

#[tokio::test]
async fn other_endpoints_are_asked_for_the_list_with_their_key() {
    let models = r#"{"data":[{"id":"some/model","context_length":200000},{"id":"plain"}]}"#;
    let stand_in = StandIn::start(&[("/v1/models", json(models))], not_found()).await;
    let key = Some(Secret::new(REAL_KEY.to_owned()));
    let list = list_models(&format!("http://{}", stand_in.address), key, PATIENCE).await.unwrap();
    assert_eq!(list.server, None);
    assert_eq!(list.models, [model("some/model", Some(200_000), None), model("plain", None, None)]);
    assert_eq!(stand_in.received_paths.lock().unwrap()[0].1.as_deref(), Some(&*format!("Bearer {REAL_KEY}")));

    // An address with a version has no paths beside those of the API.
    let versioned = StandIn::start(&[("/api/paas/v4/models", json(models))], not_found()).await;
    let list =
        list_models(&format!("http://{}/api/paas/v4", versioned.address), None, PATIENCE).await.unwrap();
    assert_eq!(list.models.len(), 2);
    assert_eq!(versioned.paths(), ["/api/paas/v4/models"]);
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn names_that_steer_the_display_are_cleaned_and_numbers_checked() {
    let models = r#"{"data":[{"id":"a\u001b[2J\u202eb\nc","max_model_len":-5},{"id":7},{"id":"  "},"x",
        {"id":"huge","max_model_len":18446744073709551615},{"name":"no id"}]}"#;
    let list = listed(&[("/v1/models", json(models))], not_found()).await;
    assert_eq!(list.models, [model("a[2Jbc", None, None), model("huge", None, None)]);
    let long = format!(r#"{{"data":[{{"id":"{}"}},{{"id":"short"}}]}}"#, "x".repeat(301));
    assert_eq!(
        listed(&[("/v1/models", json(&long))], not_found()).await.models,
        [model("short", None, None)]
    );
    let many: Vec<String> = (0..5000).map(|n| format!(r#"{{"id":"m{n}"}}"#)).collect();
    let many = format!(r#"{{"data":[{}]}}"#, many.join(","));
    assert_eq!(listed(&[("/v1/models", json(&many))], not_found()).await.models.len(), 1000);
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn a_name_that_comes_twice_is_listed_once() {
    let models = r#"{"data":[{"id":"a","max_model_len":4096},{"id":"b"},{"id":"a"},{"id":"b\u200e\u202e"},{"id":"a\u0000"}]}"#;
    let list = listed(&[("/v1/models", json(models))], not_found()).await;
    assert!(
        list.models.contains(&model("a", Some(4096), None)) && list.models.contains(&model("b", None, None))
    );
    let mut names: Vec<&str> = list.models.iter().map(|model| model.id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), list.models.len(), "{names:?}");
    assert!(names.len() < 4, "{names:?}");
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn no_part_of_a_key_comes_back_in_a_name_or_an_error() {
    let key = || Some(Secret::new(REAL_KEY.to_owned()));
    let models = format!(r#"{{"data":[{{"id":"echo/{REAL_KEY}"}},{{"id":"other"}}]}}"#);
    let stand_in = StandIn::start(&[("/v1/models", json(&models))], not_found()).await;
    let list = list_models(&format!("http://{}", stand_in.address), key(), PATIENCE).await.unwrap();
    assert_eq!(list.models, [model("echo/…", None, None), model("other", None, None)]);
    // The line is cut within the key.
    let message = format!("{}{REAL_KEY}", "x".repeat(300 - REAL_KEY.len() / 2));
    let answer = CannedAnswer::Text(401, format!(r#"{{"error":{{"message":"{message}"}}}}"#));
    let stand_in = StandIn::start(&[("/v1/models", answer)], not_found()).await;
    let error = list_models(&format!("http://{}", stand_in.address), key(), PATIENCE).await.unwrap_err();
    assert!(!error.message.contains(&REAL_KEY[..8]), "{error}");
    // A placeholder in place of a key is a part of names.
    let stand_in =
        StandIn::start(&[("/v1/models", json(r#"{"data":[{"id":"ollama/x"}]}"#))], not_found()).await;
    let placeholder = Some(Secret::new("ollama".to_owned()));
    let list = list_models(&format!("http://{}", stand_in.address), placeholder, PATIENCE).await.unwrap();
    assert_eq!(list.models, [model("ollama/x", None, None)]);
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn what_is_no_list_of_models_is_described() {
    let deep = "[".repeat(50_000);
    for (answer, kind, words) in [
        (CannedAnswer::Endless, EndpointProblem::Api, "longer than 2 MiB"),
        (json("<!doctype html><title>x</title>"), EndpointProblem::Api, "a web page"),
        (json("{}"), EndpointProblem::Api, "not with a list"),
        (json(&deep), EndpointProblem::Api, "no JSON"),
        (json("{\"data\":[{\"id\":\"cut"), EndpointProblem::Api, "no JSON"),
        (CannedAnswer::Text(401, "{\"error\":\"Unauthorized\"}".to_owned()), EndpointProblem::Key, "the key"),
        (
            CannedAnswer::Text(503, "{\"error\":{\"message\":\"Loading model\"}}".to_owned()),
            EndpointProblem::Fault,
            "Loading model",
        ),
        (not_found(), EndpointProblem::Api, "no /v1/models"),
    ] {
        let stand_in = StandIn::start(&[("/v1/models", answer)], not_found()).await;
        let error = stand_in.list(PATIENCE).await.unwrap_err();
        assert_eq!(error.problem, kind, "{error}");
        assert!(error.message.contains(words) && !error.hint.is_empty(), "{error}");
    }
    let error = list_models("127.0.0.1:8080", None, PATIENCE).await.unwrap_err();
    assert_eq!(error.problem, EndpointProblem::Address);
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn an_answer_of_very_many_small_values_is_not_kept() {
    let many = |value: &str| vec![value; 120_000].join(",");
    // A list that would take a hundred times its size in memory.
    let bomb = json(&format!(r#"{{"data":[{{"id":"m"}}],"x":[{}]}}"#, many(r#"{"":0}"#)));
    let stand_in = StandIn::start(&[("/v1/models", bomb.clone())], not_found()).await;
    let error = stand_in.list(PATIENCE).await.unwrap_err();
    assert!(error.problem == EndpointProblem::Api && error.message.contains("100000 values"), "{error}");
    // Commas in texts are no values.
    let described = json(&format!(r#"{{"data":[{{"id":"m","description":"\"{}"}}]}}"#, many("a")));
    assert_eq!(listed(&[("/v1/models", described)], not_found()).await.models, [model("m", None, None)]);
    // What only some programs have is left out where it is too much.
    let models = json(r#"{"data":[{"id":"m"}]}"#);
    let loaded =
        json(&format!(r#"{{"models":[{{"model":"m","context_length":4096}}],"x":[{}]}}"#, many(r#"{"":0}"#)));
    let list = listed(&[("/v1/models", models), ("/api/ps", loaded), ("/props", bomb)], not_found()).await;
    assert_eq!((list.server, list.models), (None, vec![model("m", None, None)]));
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn contexts_of_many_models_are_not_each_looked_for_in_the_whole_list() {
    let others = vec![r#"{"id":"other"}"#; 45_000].join(",");
    let mut quickest = [Duration::MAX; 2];
    for (count, quickest) in [100, 1000].into_iter().zip(&mut quickest) {
        let models = (0..count).map(|n| format!(r#"{{"id":"m{n}"}}"#)).collect::<Vec<_>>().join(",");
        let models = json(&format!(r#"{{"data":[{models}]}}"#));
        let last = format!("m{}", count - 1);
        let first = format!(
            r#"{{"id":"{last}","state":"loaded","loaded_context_length":4096,"max_context_length":8192}}"#
        );
        let again = format!(r#"{{"id":"{last}","loaded_context_length":1}}"#);
        let studio = json(&format!(r#"{{"data":[{others},{first},{again}]}}"#));
        for _ in 0..3 {
            let paths = [("/v1/models", models.clone()), ("/api/v0/models", studio.clone())];
            let begun = std::time::Instant::now();
            let list = listed(&paths, not_found()).await;
            *quickest = begun.elapsed().min(*quickest);
            assert_eq!(list.server, Some(ServerKind::LmStudio));
            assert_eq!(list.models.last(), Some(&model(&last, Some(4096), Some(8192))));
        }
    }
    // Most of it is the list of others, which is as long for both. Compared one by one, 45 million names took half a minute, and a
    // tenth of them a tenth of that.
    let [few, many] = quickest;
    assert!(many < few * 4, "{few:?}, and of ten times as many models {many:?}");
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn a_redirect_is_not_followed() {
    let other = StandIn::start(&[], json(r#"{"data":[]}"#)).await;
    let moved = CannedAnswer::Moved(format!("http://{}/v1/models", other.address));
    let stand_in = StandIn::start(&[("/v1/models", moved)], not_found()).await;
    let error = stand_in.list(PATIENCE).await.unwrap_err();
    assert_eq!(error.problem, EndpointProblem::Address);
    assert!(error.message.contains("redirects") && other.paths().is_empty(), "{error}");
}

#[tokio::test]
// docs/security.md: The list of a model endpoint
async fn silence_ends_at_the_deadline() {
    let silent = StandIn::start(&[], CannedAnswer::Silence).await;
    let error = silent.list(Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.problem, EndpointProblem::Silent);

    // What only some programs have may be silent: the list is there all the same.
    let models = json(r#"{"data":[{"id":"m"}]}"#);
    let half = StandIn::start(&[("/v1/models", models)], CannedAnswer::Silence).await;
    // What answers and what is silent have one limit: a busy machine gets a longer one.
    let mut patience = Duration::from_millis(500);
    let list = loop {
        match half.list(patience).await {
            Ok(list) => break list,
            Err(error) if error.problem == EndpointProblem::Silent && patience < PATIENCE => patience *= 2,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!((list.server, list.models), (None, vec![model("m", None, None)]));
}
