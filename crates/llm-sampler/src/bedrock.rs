//! Amazon Bedrock, through Converse.

use std::error::Error;
use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::SharedHttpClient;
use aws_sdk_bedrockruntime::config::retry::RetryConfig;
use aws_sdk_bedrockruntime::config::timeout::TimeoutConfig;
use aws_sdk_bedrockruntime::error::SdkError;
use aws_sdk_bedrockruntime::operation::converse::ConverseError;
use aws_sdk_bedrockruntime::types::{
    ContentBlock, ConversationRole, InferenceConfiguration, Message as Said, SystemContentBlock,
};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

use crate::model::{Call, ERROR_CHARS, Failure, Model, Question, Speaker, chain};

/// The region if neither the settings nor the environment name one.
pub const REGION: &str = "us-east-1";

/// Tokens of an answer, at most: a first schema needs the most, about 5,000.
const MOST_TOKENS: i32 = 12_000;

/// A model on Amazon Bedrock.
pub struct Bedrock {
    client: Client,
    model: String,
    region: String,
}

impl Bedrock {
    /// A model in a region (else the one of the environment or profile, else [`REGION`]). The credentials come from
    /// where the AWS tools look for them: environment, profile, instance role. `endpoint` is for tests and gateways.
    pub async fn new(model: &str, region: Option<&str>, endpoint: Option<&str>) -> Self {
        // The client that looks for credentials (the instance's role, an assumed one) needs https as well.
        let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http());
        if let Some(region) = region {
            loader = loader.region(Region::new(region.to_owned()));
        }
        if let Some(endpoint) = endpoint {
            loader = loader.endpoint_url(endpoint);
        }
        Self::with_config(&loader.load().await, model)
    }

    /// A model with a configuration of the AWS tools.
    pub fn with_config(config: &SdkConfig, model: &str) -> Self {
        let region = config.region().cloned().unwrap_or_else(|| Region::from_static(REGION));
        let config = aws_sdk_bedrockruntime::config::Builder::from(config)
            .http_client(http())
            .region(region.clone())
            // Trying again, and time limits, are ours.
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().connect_timeout(Duration::from_secs(10)).build())
            .build();
        Self { client: Client::from_conf(config), model: model.to_owned(), region: region.to_string() }
    }

    fn failure(error: &SdkError<ConverseError>) -> Failure {
        if let Some(what) = without_credentials(error) {
            return Failure::Final(what);
        }
        let what = chain(error);
        match error {
            SdkError::TimeoutError(_) => Failure::TimedOut,
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Failure::TimedOut,
            SdkError::DispatchFailure(failure) if failure.is_io() => Failure::Unreachable(what),
            SdkError::ResponseError(_) => Failure::Garbled(format!("the reply is none of Converse: {what}")),
            SdkError::ServiceError(refused) => {
                let raw = refused.raw();
                let status = raw.status().as_u16();
                let after = raw
                    .headers()
                    .get("retry-after")
                    .and_then(|value| value.trim().parse().ok())
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let said = refused.err().meta().message().unwrap_or("no message");
                let code = refused.err().meta().code().unwrap_or("error");
                let what: String = format!("{status} {code}: {said}")
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(ERROR_CHARS)
                    .collect();
                match refused.err() {
                    ConverseError::ModelTimeoutException(_) => Failure::TimedOut,
                    ConverseError::ThrottlingException(_)
                    | ConverseError::ModelNotReadyException(_)
                    | ConverseError::ServiceUnavailableException(_)
                    | ConverseError::InternalServerException(_)
                    | ConverseError::ModelErrorException(_) => Failure::Busy { what, after },
                    _ if status == 429 || status >= 500 => Failure::Busy { what, after },
                    _ => Failure::Final(what),
                }
            }
            // A request that cannot be made, among others.
            _ => Failure::Final(what),
        }
    }
}

/// In a sentence, that and why the AWS tools gave no credentials; `None` = that is not why a call failed.
fn without_credentials(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    let failed = loop {
        let error = next?;
        if let Some(failed) = error.downcast_ref::<CredentialsError>() {
            break failed;
        }
        next = error.source();
    };
    // The innermost error says what went wrong, those around it where it was met.
    let mut cause: Option<&(dyn Error + 'static)> = failed.source();
    while let Some(inner) = cause.and_then(Error::source) {
        cause = Some(inner);
    }
    let cause: String = cause
        .map(|cause| {
            cause
                .to_string()
                .trim_end_matches('.')
                .chars()
                .filter(|c| !c.is_control())
                .take(ERROR_CHARS)
                .collect()
        })
        .unwrap_or_default();
    let why = if cause.is_empty() { String::new() } else { format!(": {cause}") };
    Some(match failed {
        CredentialsError::CredentialsNotLoaded(_) => {
            "no AWS credentials were found in the environment, in a profile or as a role of this machine"
                .to_owned()
        }
        CredentialsError::ProviderTimedOut(timed_out) => {
            let seconds = timed_out.timeout_duration().as_secs();
            format!("AWS credentials were not found within {seconds} s")
        }
        CredentialsError::InvalidConfiguration(_) => format!("the AWS profile cannot be used{why}"),
        _ => format!("the AWS credentials cannot be loaded{why}"),
    })
}

fn http() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https()
}

impl Model for Bedrock {
    fn described(&self) -> String {
        format!("{} on Amazon Bedrock in {}", self.model, self.region)
    }

    fn advice(&self) -> String {
        "Check the AWS credentials (profile, environment or instance role), the region (AWS_REGION), and that the model \
         (`llm_sampler_model_id`) is enabled there under Model access."
            .to_owned()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> Call<'a> {
        Box::pin(async move {
            let mut request = self
                .client
                .converse()
                .model_id(&self.model)
                .system(SystemContentBlock::Text(question.system.clone()))
                .inference_config(InferenceConfiguration::builder().max_tokens(MOST_TOKENS).build());
            for message in &question.messages {
                let role = match message.from {
                    Speaker::Us => ConversationRole::User,
                    Speaker::Model => ConversationRole::Assistant,
                };
                let said =
                    Said::builder().role(role).content(ContentBlock::Text(message.text.clone())).build();
                request = request.messages(said.map_err(|e| Failure::Final(e.to_string()))?);
            }
            let reply = request.send().await.map_err(|error| Self::failure(&error))?;
            let Some(Ok(said)) = reply.output.as_ref().map(|output| output.as_message()) else {
                return Err(Failure::Garbled("the reply has no message".to_owned()));
            };
            // Other blocks (reasoning) are not part of the answer.
            Ok(said.content.iter().filter_map(|block| block.as_text().ok()).map(String::as_str).collect())
        })
    }
}
