//! Endpoints with the chat completions API of `OpenAI`: `OpenAI` itself, gateways, and local servers.

use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::UnusableModel;
use crate::dialect::{AnswerForm, Bound, Dialect, EndpointKnowledge, has_form};
use crate::model::{
    Call, FORM_NAME, Failure, Model, PROSE_TOKENS, Question, Speaker, THINKING_TOKENS, chain, error_line,
};

/// The base URL of `OpenAI`.
pub const OPENAI: &str = "https://api.openai.com/v1";

/// Whether an address is this machine.
pub(crate) fn is_on_this_machine(url: &reqwest::Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

/// Whether an address is one of this machine: nothing that is sent there leaves it.
pub fn is_address_of_this_machine(address: &str) -> bool {
    reqwest::Url::parse(address).is_ok_and(|url| is_on_this_machine(&url))
}

/// An OpenAI-compatible endpoint.
pub struct OpenAi {
    client: Client<OpenAIConfig>,
    base_url: String,
    model: String,
    key_variable: String,
    /// The key, to remove it from messages of the endpoint.
    key: String,
    /// What the endpoint is known to support.
    learned: EndpointKnowledge,
}

impl OpenAi {
    /// A model at a base URL (`https://api.openai.com/v1`). The key is read from an environment variable. Local endpoints need
    /// no key.
    pub fn new(
        base_url: &str,
        model: &str,
        key_variable: &str,
        answer: usize,
    ) -> Result<Self, UnusableModel> {
        let base_url = base_url.trim_end_matches('/');
        let url = reqwest::Url::parse(base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| {
            UnusableModel(format!("`{base_url}` is not the address of an endpoint (http:// or https://)"))
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UnusableModel(format!(
                "An address of an endpoint carries no user or password; put the key into ${key_variable}"
            )));
        }
        let local = is_on_this_machine(&url);
        let key = std::env::var(key_variable).unwrap_or_default();
        if key.is_empty() && !local {
            return Err(UnusableModel(format!(
                "The key of {base_url} is missing: set the environment variable {key_variable}, or name another with \
                 `llm_sampler.key_variable`"
            )));
        }
        Self::with_key(&url, base_url, local, model, key_variable, key, answer)
    }

    fn with_key(
        url: &reqwest::Url,
        base_url: &str,
        local: bool,
        model: &str,
        key_variable: &str,
        key: String,
        answer: usize,
    ) -> Result<Self, UnusableModel> {
        crate::tls::provide();
        let mut http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        if local {
            http = http.no_proxy();
        }
        if url.scheme() == "http" {
            // This needs no certificates of the system.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|e| UnusableModel(format!("No HTTP client: {}", chain(&e))))?;
        let mut config = OpenAIConfig::new().with_api_base(base_url).with_api_key(key.clone());
        if base_url != OPENAI {
            // The library reads these from the environment. They must not be sent.
            config = config.with_org_id("").with_project_id("");
        }
        let client = Client::build(http.clone(), config).with_http_service(BoundedClient {
            http,
            answer,
            key: key.clone(),
        });
        Ok(Self {
            client,
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            key_variable: key_variable.to_owned(),
            key,
            learned: EndpointKnowledge::new(),
        })
    }

    fn request(&self, question: &Question, dialect: Dialect) -> Value {
        let conversation = match dialect.form {
            AnswerForm::Prose => &question.prose,
            AnswerForm::Schema | AnswerForm::Tool => &question.shaped,
        };
        let mut messages = vec![json!({"role": "system", "content": conversation.system})];
        messages.extend(conversation.messages.iter().map(|message| {
            let role = match message.speaker {
                Speaker::Sampler => "user",
                Speaker::Model => "assistant",
            };
            json!({"role": role, "content": message.text})
        }));
        let mut request = json!({"model": self.model, "messages": messages, "stream": false});
        let tokens = match dialect.form {
            AnswerForm::Prose => PROSE_TOKENS,
            _ if dialect.is_reasoning => question.most_tokens.saturating_add(THINKING_TOKENS),
            _ => question.most_tokens,
        };
        match dialect.bound {
            Bound::MaxTokens => request["max_tokens"] = json!(tokens),
            Bound::MaxCompletionTokens => request["max_completion_tokens"] = json!(tokens),
            Bound::Unbounded => {}
        }
        if dialect.temperature {
            request["temperature"] = json!(question.temperature);
        }
        match dialect.form {
            AnswerForm::Schema => {
                request["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {"name": FORM_NAME, "strict": true, "schema": question.schema},
                });
            }
            AnswerForm::Tool => {
                request["tools"] = json!([{
                    "type": "function",
                    "function": {
                        "name": FORM_NAME,
                        "description": "Takes the answer.",
                        "parameters": question.schema,
                    },
                }]);
                request["tool_choice"] = json!({"type": "function", "function": {"name": FORM_NAME}});
            }
            AnswerForm::Prose => {}
        }
        request
    }

    /// The answer of the model, or the dialect for the next request.
    fn read(&self, dialect: Dialect, completion: Completion) -> Result<String, Dialect> {
        let Some(choice) = completion.choices.into_iter().next() else { return Ok(String::new()) };
        let AssistantMessage { content, tool_calls } = choice.message;
        let called = tool_calls.unwrap_or_default().into_iter().next().map(|call| call.function.arguments);
        // An empty text is an answer too. It is refused, because it has no object.
        let text = called.or(content).unwrap_or_default();
        let is_cut = choice.finish_reason.as_deref() == Some("length");
        if dialect.form != AnswerForm::Prose && is_cut && !dialect.is_reasoning {
            return Err(Dialect { is_reasoning: true, ..dialect });
        }
        Ok(self.without_key(text))
    }

    /// A text from outside, without the key.
    fn without_key(&self, text: String) -> String {
        without_key(text, &self.key)
    }

    fn failure(&self, error: OpenAIError) -> Failure {
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<RequestFailure>() {
                Ok(refused) => {
                    let failure = refused.0;
                    match failure {
                        Failure::Busy { message, after } => {
                            Failure::Busy { message: self.without_key(message), after }
                        }
                        Failure::Final(message) => Failure::Final(self.without_key(message)),
                        Failure::Garbled(message) => Failure::Garbled(self.without_key(message)),
                        other => other,
                    }
                }
                Err(error) => Failure::Unreachable(self.without_key(chain(&*error))),
            },
            OpenAIError::Reqwest(error) => send_failure(&error),
            OpenAIError::JSONDeserialize(error, _) => {
                // The error quotes the response.
                let message = self.without_key(format!("the reply is not a chat completion: {error}"));
                Failure::Garbled(error_line(&message))
            }
            other => Failure::Final(self.without_key(chain(&other))),
        }
    }
}

/// The used parts of a chat completion. Compatible servers omit others.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: AssistantMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct AssistantMessage {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    function: CalledFunction,
}

#[derive(Deserialize)]
struct CalledFunction {
    #[serde(default)]
    arguments: String,
}

impl Model for OpenAi {
    fn description(&self) -> String {
        format!("{} at {}", self.model, self.base_url)
    }

    fn advice(&self) -> String {
        format!(
            "Check that the address (`llm_sampler.base_url`), the model (`llm_sampler_model_id`) and the key \
             (environment variable {}) are right.",
            self.key_variable
        )
    }

    fn ask<'a>(&'a self, question: &'a Question) -> Call<'a> {
        Box::pin(async move {
            let mut asking = self.learned.question();
            loop {
                let dialect = asking.dialect();
                let request = self.request(question, dialect);
                let next = match self.client.chat().create_byot::<Value, Completion>(request).await {
                    Ok(completion) => match self.read(dialect, completion) {
                        Ok(text) => {
                            asking.record_answer(dialect, has_form(dialect, &text));
                            return Ok(text);
                        }
                        Err(next) => next,
                    },
                    Err(error) => {
                        let failure = self.failure(error);
                        let next = match &failure {
                            Failure::Final(message) | Failure::Busy { message, .. } => {
                                dialect.after_refusal(status_of(message), message)
                            }
                            _ => None,
                        };
                        match next {
                            Some(next) => next,
                            None => return Err(failure),
                        }
                    }
                };
                asking.proceed(dialect, next);
            }
        })
    }
}

/// The status at the start of a failure; 0 without one.
fn status_of(message: &str) -> u16 {
    message.split(' ').next().and_then(|status| status.parse().ok()).unwrap_or_default()
}

/// Sends a request, and reads no more of the response than the limit of an answer.
#[derive(Clone)]
struct BoundedClient {
    http: reqwest::Client,
    answer: usize,
    /// The key, to remove it from quoted responses.
    key: String,
}

/// A failure, as an error of the client library.
#[derive(Debug, thiserror::Error)]
#[error("{0:?}")]
struct RequestFailure(Failure);

impl From<Failure> for RequestFailure {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<RequestFailure> for OpenAIError {
    fn from(refused: RequestFailure) -> Self {
        Self::Boxed(Box::new(refused))
    }
}

impl tower_service::Service<HttpRequestFactory> for BoundedClient {
    type Response = Response;
    type Error = OpenAIError;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let Self { http, answer, key } = self.clone();
        Box::pin(async move {
            let request = request.build().await?;
            Ok(send(&http, request, answer, &key).await.map_err(RequestFailure)?)
        })
    }
}

async fn send(
    http: &reqwest::Client,
    request: reqwest::Request,
    answer: usize,
    key: &str,
) -> Result<Response, Failure> {
    let mut response = http.execute(request).await.map_err(|error| send_failure(&error))?;
    let status = response.status();
    let after = response
        .headers()
        .get("retry-after")
        .and_then(|value| retry_after(value.to_str().ok()?, SystemTime::now()));
    // The response has JSON escapes and other fields in addition to the answer.
    let most = answer.saturating_mul(2) + 64 * 1024;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| send_failure(&error))? {
        if body.len() + chunk.len() > most {
            return Err(Failure::Garbled(format!("the reply is longer than {most} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    if status.is_success() {
        return Ok(Response::from(http::Response::new(body)));
    }
    let message = format!("{status}: {}", error_text(&body, key));
    Err(match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_EARLY => {
            Failure::Busy { message, after }
        }
        // Waiting does not restore an exhausted quota.
        StatusCode::TOO_MANY_REQUESTS if message.contains("insufficient_quota") => Failure::Final(message),
        StatusCode::TOO_MANY_REQUESTS => Failure::Busy { message, after },
        _ if status.is_server_error() => Failure::Busy { message, after },
        _ => Failure::Final(message),
    })
}

/// `Retry-After` in both of its forms (RFC 9110, 10.2.3): seconds, or a date. A date in the past is no wait.
fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()),
    }
}

/// A text from outside without the key. A key of fewer than eight characters is a placeholder that may be part of words.
fn without_key(text: String, key: &str) -> String {
    if key.len() < 8 { text } else { text.replace(key, "[key]") }
}

/// The message in the error body of an endpoint, in one short line. The key is removed before the line is cut.
fn error_text(body: &[u8], key: &str) -> String {
    let text = String::from_utf8_lossy(body);
    let message_text = serde_json::from_slice::<Value>(body).ok().and_then(|value| {
        let error = value.get("error").unwrap_or(&value);
        let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str())?;
        let code = error.get("code").and_then(Value::as_str);
        Some(code.map_or_else(|| message.to_owned(), |code| format!("{message} ({code})")))
    });
    let message_text = without_key(message_text.unwrap_or_else(|| text.into_owned()), key);
    error_line(&message_text)
}

fn send_failure(error: &reqwest::Error) -> Failure {
    if error.is_timeout() { Failure::TimedOut } else { Failure::Unreachable(chain(error)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ERROR_CHARS;

    #[test]
    fn no_part_of_a_key_stays_at_the_cut_of_an_error() {
        let key = "sk-0123456789abcdef";
        for before in ERROR_CHARS - 18..=ERROR_CHARS {
            let message = format!("{}{key}", "x".repeat(before));
            for body in [message.clone(), json!({"error": {"message": message}}).to_string()] {
                let message_text = error_text(body.as_bytes(), key);
                assert!(
                    !message_text.contains('s') && message_text.chars().count() <= ERROR_CHARS,
                    "{message_text}"
                );
            }
        }
        assert_eq!(error_text(b"no key", "no"), "no key", "a placeholder is not a secret");
    }

    #[test]
    fn a_requested_wait_is_parsed_in_both_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_246_554);
        for (value, wait) in [
            ("7", Some(7.0)),
            (" 1.5 ", Some(1.5)),
            ("Sat, 21 Nov 2026 07:36:24 GMT", Some(30.0)),
            ("Sat, 21 Nov 2020 07:36:24 GMT", Some(0.0)),
            ("-3", None),
            ("1e300", None),
            ("soon", None),
        ] {
            assert_eq!(retry_after(value, now), wait.map(Duration::from_secs_f64), "{value}");
        }
    }
}
