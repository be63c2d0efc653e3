//! Amazon Bedrock, through the Converse API.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::SharedHttpClient;
use aws_sdk_bedrockruntime::config::retry::RetryConfig;
use aws_sdk_bedrockruntime::config::timeout::TimeoutConfig;
use aws_sdk_bedrockruntime::error::SdkError;
use aws_sdk_bedrockruntime::operation::converse::{ConverseError, ConverseOutput};
use aws_sdk_bedrockruntime::types::{
    AnyToolChoice, ContentBlock, ConversationRole, InferenceConfiguration, Message as ConverseMessage,
    StopReason, SystemContentBlock, Tool, ToolChoice, ToolConfiguration, ToolInputSchema, ToolSpecification,
};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_types::{Document, Number};
use serde_json::Value;

use crate::dialect::{AnswerForm, Bound, Dialect, EndpointKnowledge, has_form};
use crate::model::{
    Call, FORM_NAME, Failure, Model, PROSE_TOKENS, Question, Speaker, THINKING_TOKENS, chain, error_line,
};

/// The region if neither the settings nor the environment name one.
pub const REGION: &str = "us-east-1";

/// A model on Amazon Bedrock.
pub struct Bedrock {
    client: Client,
    model: String,
    region: String,
    /// What the model is known to support: [`AnswerForm::Schema`] is a tool that it must call, [`AnswerForm::Tool`] a tool that it may
    /// call.
    learned: EndpointKnowledge,
}

impl Bedrock {
    /// A model in a region (else the region of the environment or profile, else [`REGION`]). The credentials come from the
    /// usual places of the AWS tools: environment, profile, instance role. `endpoint` is for tests and gateways.
    pub async fn new(model: &str, region: Option<&str>, endpoint: Option<&str>) -> Self {
        // The client for credentials (role of the instance, assumed role) needs https as well.
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
            // `live` has the retries and the time limits.
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().connect_timeout(Duration::from_secs(10)).build())
            .build();
        Self {
            client: Client::from_conf(config),
            model: model.to_owned(),
            region: region.to_string(),
            learned: EndpointKnowledge::new(),
        }
    }

    async fn call(&self, question: &Question, dialect: Dialect) -> Result<ConverseOutput, Failure> {
        let (conversation, tokens) = match dialect.form {
            AnswerForm::Prose => (&question.prose, PROSE_TOKENS),
            _ if dialect.is_reasoning => {
                (&question.shaped, question.most_tokens.saturating_add(THINKING_TOKENS))
            }
            _ => (&question.shaped, question.most_tokens),
        };
        let mut inference = InferenceConfiguration::builder();
        if dialect.bound != Bound::Unbounded {
            inference = inference.max_tokens(i32::try_from(tokens).unwrap_or(i32::MAX));
        }
        if dialect.temperature {
            inference = inference.temperature(question.temperature as f32);
        }
        let mut request = self
            .client
            .converse()
            .model_id(&self.model)
            .system(SystemContentBlock::Text(conversation.system.clone()))
            .inference_config(inference.build());
        if dialect.form != AnswerForm::Prose {
            request = request.tool_config(tool(question, dialect.form == AnswerForm::Schema)?);
        }
        for message in &conversation.messages {
            let role = match message.speaker {
                Speaker::Sampler => ConversationRole::User,
                Speaker::Model => ConversationRole::Assistant,
            };
            let part = ConverseMessage::builder()
                .role(role)
                .content(ContentBlock::Text(message.text.clone()))
                .build();
            request = request.messages(part.map_err(|e| Failure::Final(e.to_string()))?);
        }
        request.send().await.map_err(|error| Self::failure(&error))
    }

    fn failure(error: &SdkError<ConverseError>) -> Failure {
        if let Some(message) = without_credentials(error) {
            return Failure::Final(message);
        }
        let message = chain(error);
        match error {
            SdkError::TimeoutError(_) => Failure::TimedOut,
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Failure::TimedOut,
            SdkError::DispatchFailure(failure) if failure.is_io() => Failure::Unreachable(message),
            SdkError::ResponseError(_) => {
                Failure::Garbled(format!("the reply is none of Converse: {message}"))
            }
            SdkError::ServiceError(refused) => {
                let raw = refused.raw();
                let status = raw.status().as_u16();
                let after = raw
                    .headers()
                    .get("retry-after")
                    .and_then(|value| value.trim().parse().ok())
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let reason = refused.err().meta().message().unwrap_or("no message");
                let code = refused.err().meta().code().unwrap_or("error");
                let message = error_line(&format!("{status} {code}: {reason}"));
                match refused.err() {
                    ConverseError::ModelTimeoutException(_) => Failure::TimedOut,
                    ConverseError::ThrottlingException(_)
                    | ConverseError::ModelNotReadyException(_)
                    | ConverseError::ServiceUnavailableException(_)
                    | ConverseError::InternalServerException(_)
                    | ConverseError::ModelErrorException(_) => Failure::Busy { message, after },
                    _ if status == 429 || status >= 500 => Failure::Busy { message, after },
                    _ => Failure::Final(message),
                }
            }
            // For example a request that cannot be built.
            _ => Failure::Final(message),
        }
    }
}

/// A sentence about missing AWS credentials, with the reason; `None` = the call failed for another reason.
fn without_credentials(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    let failed = loop {
        let error = next?;
        if let Some(failed) = error.downcast_ref::<CredentialsError>() {
            break failed;
        }
        next = error.source();
    };
    // The innermost error has the reason, the outer errors its context.
    let mut cause: Option<&(dyn Error + 'static)> = failed.source();
    while let Some(inner) = cause.and_then(Error::source) {
        cause = Some(inner);
    }
    let cause = cause.map(|cause| error_line(cause.to_string().trim_end_matches('.'))).unwrap_or_default();
    let suffix = if cause.is_empty() { String::new() } else { format!(": {cause}") };
    Some(match failed {
        CredentialsError::CredentialsNotLoaded(_) => {
            "no AWS credentials were found in the environment, in a profile or as a role of this machine"
                .to_owned()
        }
        CredentialsError::ProviderTimedOut(timed_out) => {
            let seconds = timed_out.timeout_duration().as_secs();
            format!("AWS credentials were not found within {seconds} s")
        }
        CredentialsError::InvalidConfiguration(_) => format!("the AWS profile cannot be used{suffix}"),
        _ => format!("the AWS credentials cannot be loaded{suffix}"),
    })
}

fn http() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https()
}

impl Model for Bedrock {
    fn description(&self) -> String {
        format!("{} on Amazon Bedrock in {}", self.model, self.region)
    }

    fn advice(&self) -> String {
        "Check the AWS credentials (profile, environment or instance role), the region (AWS_REGION), and that the model \
         (`llm_sampler_model_id`) is enabled there under Model access."
            .to_owned()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> Call<'a> {
        Box::pin(async move {
            let mut asking = self.learned.question();
            loop {
                let dialect = asking.dialect();
                let next = match self.call(question, dialect).await {
                    Ok(reply) => match read(&reply, dialect)? {
                        Ok(text) => {
                            asking.record_answer(dialect, has_form(dialect, &text));
                            return Ok(text);
                        }
                        Err(next) => next,
                    },
                    Err(failure) => match &failure {
                        Failure::Final(message) => match after_refusal(dialect, message) {
                            Some(next) => next,
                            None => return Err(failure),
                        },
                        _ => return Err(failure),
                    },
                };
                asking.proceed(dialect, next);
            }
        })
    }
}

/// A tool whose input is the answer.
fn tool(question: &Question, forced: bool) -> Result<ToolConfiguration, Failure> {
    let unmade = |error: aws_sdk_bedrockruntime::error::BuildError| Failure::Final(error.to_string());
    let tool = ToolSpecification::builder()
        .name(FORM_NAME)
        .description("Takes the answer.")
        .input_schema(ToolInputSchema::Json(document(&question.schema)))
        .build()
        .map_err(unmade)?;
    let mut tools = ToolConfiguration::builder().tools(Tool::ToolSpec(tool));
    if forced {
        tools = tools.tool_choice(ToolChoice::Any(AnyToolChoice::builder().build()));
    }
    tools.build().map_err(unmade)
}

/// The text of the model, or (inside) the dialect for the next request.
fn read(reply: &ConverseOutput, dialect: Dialect) -> Result<Result<String, Dialect>, Failure> {
    let Some(Ok(message)) = reply.output.as_ref().map(|output| output.as_message()) else {
        return Err(Failure::Garbled("the reply has no message".to_owned()));
    };
    // The input of a cut call is only a part of an answer.
    if dialect.form != AnswerForm::Prose
        && reply.stop_reason == StopReason::MaxTokens
        && !dialect.is_reasoning
    {
        return Ok(Err(Dialect { is_reasoning: true, ..dialect }));
    }
    if let Some(called) = message.content.iter().find_map(|block| block.as_tool_use().ok()) {
        return Ok(Ok(value(&called.input).to_string()));
    }
    // Other blocks (reasoning) are not part of the answer.
    Ok(Ok(message.content.iter().filter_map(|block| block.as_text().ok()).map(String::as_str).collect()))
}

/// The dialect after a refused request; `None` if the refusal names nothing that can be left out.
fn after_refusal(dialect: Dialect, refusal: &str) -> Option<Dialect> {
    let refusal = refusal.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| refusal.contains(word));
    if !refusal.starts_with("400 ") {
        return None;
    }
    if dialect.temperature && names(&["temperature"]) {
        return Some(Dialect { temperature: false, ..dialect });
    }
    if dialect.form == AnswerForm::Schema && names(&["toolchoice", "tool_choice", "tool choice"]) {
        return Some(Dialect { form: AnswerForm::Tool, ..dialect });
    }
    if dialect.form != AnswerForm::Prose && names(&["tool"]) {
        return Some(Dialect { form: AnswerForm::Prose, ..dialect });
    }
    if dialect.bound != Bound::Unbounded && names(&["max_tokens", "maxtokens", "maximum tokens"]) {
        return Some(Dialect { bound: Bound::Unbounded, ..dialect });
    }
    None
}

fn document(value: &Value) -> Document {
    match value {
        Value::Null => Document::Null,
        Value::Bool(is) => Document::Bool(*is),
        Value::Number(number) => Document::Number(match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Number::PosInt(number),
            (None, Some(number)) => Number::NegInt(number),
            (None, None) => Number::Float(number.as_f64().unwrap_or_default()),
        }),
        Value::String(text) => Document::String(text.clone()),
        Value::Array(parts) => Document::Array(parts.iter().map(document).collect()),
        Value::Object(parts) => {
            Document::Object(parts.iter().map(|(key, part)| (key.clone(), document(part))).collect())
        }
    }
}

/// The keys in order, so that the same answer is recorded as the same text.
fn value(document: &Document) -> Value {
    match document {
        Document::Null => Value::Null,
        Document::Bool(is) => Value::Bool(*is),
        Document::Number(Number::PosInt(number)) => Value::from(*number),
        Document::Number(Number::NegInt(number)) => Value::from(*number),
        Document::Number(Number::Float(number)) => Value::from(*number),
        Document::String(text) => Value::String(text.clone()),
        Document::Array(parts) => Value::Array(parts.iter().map(value).collect()),
        Document::Object(parts) => {
            let sorted: BTreeMap<&String, &Document> = parts.iter().collect();
            Value::Object(sorted.into_iter().map(|(key, part)| (key.clone(), value(part))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_becomes_its_value_again() {
        let original = json!({"a": [1, -2, 0.5, true, null, "x"], "b": {"c": {}}});
        assert_eq!(value(&document(&original)), original);
    }

    #[test]
    fn a_model_that_refuses_tools_gets_requests_without_them() {
        let best = Dialect::FIRST_CHOICE;
        let may = Dialect { form: AnswerForm::Tool, ..best };
        let prose = Dialect { form: AnswerForm::Prose, ..best };
        for (before, refusal, after) in [
            (
                best,
                "400 ValidationException: This model doesn't support the toolConfig.toolChoice.any field. Remove it.",
                Some(may),
            ),
            (best, "400 ValidationException: This model doesn't support tool use.", Some(prose)),
            (may, "400 ValidationException: This model doesn't support tool use.", Some(prose)),
            (
                prose,
                "400 ValidationException: The maximum tokens you requested exceeds the model limit of 4096.",
                Some(Dialect { bound: Bound::Unbounded, ..prose }),
            ),
            (prose, "400 ValidationException: This model doesn't support tool use.", None),
            (best, "403 AccessDeniedException: tool", None),
        ] {
            assert_eq!(after_refusal(before, refusal), after, "{refusal}");
        }
    }
}
