//! The sampler with a scripted endpoint for the Converse API of Amazon Bedrock.
#![cfg(feature = "bedrock")]

mod endpoint;

use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_bedrockruntime::config::{Credentials, SharedCredentialsProvider};
use endpoint::{Endpoint, ModelRequest, Reply, UNUSED_ADDRESS};
use llm_sampler::{Bedrock, Limits, LlmSampler, Replay};
use scenario::Seed;
use scenario::sample::{Origin, ProgrammaticSampler, SampleError, Sampler, SamplerOutput, Turn};
use serde_json::json;

const SEED: Seed = Seed { base: 9, scenario: 0 };

/// Only a hanging endpoint exceeds this time, also on a busy machine.
fn limits() -> Limits {
    Limits { call: Duration::from_mins(1), tries: 3, back_off: Duration::from_millis(2), ..Limits::default() }
}

fn sampler(endpoint_url: &str) -> LlmSampler {
    sampler_within(endpoint_url, limits())
}

fn sampler_within(endpoint_url: &str, limits: Limits) -> LlmSampler {
    let config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .credentials_provider(SharedCredentialsProvider::new(Credentials::for_tests()))
        .endpoint_url(endpoint_url)
        .build();
    let model = Bedrock::with_config(&config, "zai.glm-5");
    LlmSampler::with_model(Box::new(model), limits).expect("a thread")
}

fn turn(sampler: &LlmSampler, count: u32) -> Result<SamplerOutput<Turn>, SampleError> {
    let before = ProgrammaticSampler.first_schema(SEED).expect("a first schema").value;
    sampler.next_turn(SEED, &before, count)
}

fn refused(status: u16, code: &str, message: &str, after: Option<u32>) -> Reply {
    let mut headers = vec![("x-amzn-errortype", code.to_owned())];
    headers.extend(after.map(|seconds| ("retry-after", seconds.to_string())));
    Reply::Http(status, headers, json!({"message": message}).to_string())
}

#[test]
fn good_answers_are_accepted_and_nonsense_is_requested_again_then_replaced() {
    let endpoint = Endpoint::start(|request: &ModelRequest| {
        // The second change of the turn gets only nonsense.
        let nonsense = (1..=3).contains(&request.number);
        Reply::Says(if nonsense { "Certainly! []".to_owned() } else { request.good_change() })
    });
    let sampled = turn(&sampler(&endpoint.endpoint_url()), 3).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sampled.value.origins, [Origin::Model, Origin::Replaced, Origin::Model]);
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|request| request.path == "/model/zai.glm-5/converse"));
    assert!(
        requests[0].system.contains("one JSON object")
            && requests[0].authorization.contains("eu-central-1/bedrock")
    );
    let reason = sampled.answers[1].refused.as_deref().expect("refused");
    assert!(requests[2].last().contains(reason));
    drop(endpoint);

    let answers = sampled.answers.clone();
    let again = turn(&LlmSampler::replay(Replay::new(move |_, _| Ok(answers.clone()))), 3);
    assert_eq!(again, Ok(sampled));
}

#[test]
fn a_tool_gets_the_answer_if_the_model_supports_tools() {
    let endpoint =
        Endpoint::taking(&["toolConfig"], |request: &ModelRequest| Reply::Calls(request.in_form()));
    let sampled = turn(&sampler(&endpoint.endpoint_url()), 8).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sampled.value.origins, [Origin::Model; 8]);
    assert_eq!(sampled.answers.len(), 8);
    for request in endpoint.requests() {
        assert!(request.body["toolConfig"]["toolChoice"]["any"].is_object(), "{}", request.body);
        let inference = &request.body["inferenceConfig"];
        assert!((64..6000).contains(&inference["maxTokens"].as_u64().expect("a bound")));
        assert!(inference["temperature"].as_f64().is_some_and(|warmth| (0.3..0.5).contains(&warmth)));
    }
    drop(endpoint);
    let answers = sampled.answers.clone();
    assert_eq!(turn(&LlmSampler::replay(Replay::new(move |_, _| Ok(answers.clone()))), 8), Ok(sampled));
}

#[test]
fn a_cut_answer_is_requested_again_with_tokens_for_reasoning() {
    let endpoint = Endpoint::taking(&["toolConfig"], |request: &ModelRequest| {
        let tokens = request.body["inferenceConfig"]["maxTokens"].as_u64().expect("a bound");
        if tokens >= 8000 {
            return Reply::Calls(request.in_form());
        }
        let call =
            json!({"toolUse": {"toolUseId": "1", "name": "answer", "input": {"answer": {"choice": "1"}}}});
        let cut = json!({
            "output": {"message": {"role": "assistant", "content": [call]}},
            "stopReason": "max_tokens",
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        });
        Reply::Http(200, Vec::new(), cut.to_string())
    });
    let sampled = turn(&sampler(&endpoint.endpoint_url()), 2).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sampled.value.origins, [Origin::Model; 2]);
    assert_eq!((sampled.answers.len(), endpoint.requests().len()), (2, 3));
}

#[test]
fn throttling_server_errors_and_time_outs_are_retried() {
    let endpoint = Endpoint::start(|request: &ModelRequest| match request.number {
        0 => refused(429, "ThrottlingException", "Too many requests", Some(1)),
        1 => refused(500, "InternalServerException", "Trouble", None),
        3 | 4 => refused(408, "ModelTimeoutException", "The model took too long", None),
        _ => Reply::Says(request.good_change()),
    });
    let sampled = turn(&sampler(&endpoint.endpoint_url()), 2).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sampled.value.origins, [Origin::Model; 2]);
    assert_eq!(sampled.answers.len(), 3, "an answer, a missing answer, an answer");
    assert_eq!(sampled.answers[1].text, "");
}

#[test]
fn silence_is_a_missing_answer() {
    let endpoint = Endpoint::start(|_: &ModelRequest| Reply::Hangs);
    // Nothing has to come within this limit.
    let limits = Limits { call: Duration::from_millis(500), ..limits() };
    let sampler = sampler_within(&endpoint.endpoint_url(), limits);
    let sampled = turn(&sampler, 1).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sampled.value.origins, [Origin::Replaced]);
    assert!(sampled.answers.iter().all(|answer| answer.text.is_empty()), "{:?}", sampled.answers);
}

#[test]
fn a_permanent_failure_ends_it_with_advice() {
    let denied = "You don't have access to the model with the specified model ID.";
    let endpoint =
        Endpoint::start(move |_: &ModelRequest| refused(403, "AccessDeniedException", denied, None));
    let Err(SampleError::Endpoint(text)) = turn(&sampler(&endpoint.endpoint_url()), 1) else {
        panic!("denied")
    };
    assert!(text.contains(denied) && text.contains("1 call") && text.contains("Model access"), "{text}");
    assert_eq!(endpoint.requests().len(), 1, "a retry cannot succeed");

    let Err(SampleError::Endpoint(text)) = turn(&sampler(UNUSED_ADDRESS), 1) else {
        panic!("nobody listens")
    };
    assert!(text.contains("3 calls") && text.contains("AWS_REGION"), "{text}");
}

#[test]
fn errors_are_sentences() {
    let without_credentials = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .endpoint_url(UNUSED_ADDRESS)
        .build();
    let model = Bedrock::with_config(&without_credentials, "zai.glm-5");
    let nobody_knows_us = LlmSampler::with_model(Box::new(model), limits()).expect("a thread");
    let nobody_listens = sampler(UNUSED_ADDRESS);
    for sampler in [nobody_knows_us, nobody_listens] {
        let error = turn(&sampler, 1).expect_err("there is no model").to_string();
        let raw = ["{", "Some(", "None", "source:", "DispatchFailure"];
        assert!(!raw.iter().any(|raw| error.contains(raw)), "{error}");
        assert!(error.contains("The model does not answer"), "{error}");
    }
}

/// A provider without credentials, with the nested errors of the AWS tools.
#[derive(Debug)]
struct NoCredentials(fn() -> CredentialsError);

impl ProvideCredentials for NoCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Err((self.0)()))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("failed to load a token")]
struct Outer {
    source: std::io::Error,
}

#[test]
fn missing_credentials_are_reported_in_one_sentence() {
    let not_there: fn() -> CredentialsError =
        || CredentialsError::not_loaded("no providers in chain provided credentials");
    let forbidden: fn() -> CredentialsError =
        || CredentialsError::provider_error(Outer { source: std::io::Error::other("request forbidden.") });
    let profile: fn() -> CredentialsError =
        || CredentialsError::invalid_configuration("a profile names itself");
    let slow: fn() -> CredentialsError = || CredentialsError::provider_timed_out(Duration::from_secs(5));
    for (error, sentence) in [
        (
            not_there,
            "no AWS credentials were found in the environment, in a profile or as a role of this machine.",
        ),
        (forbidden, "the AWS credentials cannot be loaded: request forbidden."),
        (profile, "the AWS profile cannot be used: a profile names itself."),
        (slow, "AWS credentials were not found within 5 s."),
    ] {
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-central-1"))
            .credentials_provider(SharedCredentialsProvider::new(NoCredentials(error)))
            .endpoint_url(UNUSED_ADDRESS)
            .build();
        let model = Bedrock::with_config(&config, "zai.glm-5");
        let sampler = LlmSampler::with_model(Box::new(model), limits()).expect("a thread");
        let error = turn(&sampler, 1).expect_err("there is no model").to_string();
        assert!(error.contains(&format!("(1 call): {sentence} Check the AWS credentials")), "{error}");
        assert!(!error.contains("dispatch") && !error.contains("an error occurred"), "{error}");
    }
}
