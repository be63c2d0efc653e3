//! A request of an agent: what may pass, and what is changed.
//!
//! Requests are sent with the real key, which gives access to more than a model: files of other people, batches that run after the
//! attempt has ended. So only paths that ask a model, count tokens or list models pass.

use std::collections::BTreeMap;

use axum::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE,
    EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;

use crate::fields::{Fields, may_be_read_as};
use crate::route::Route;
use crate::tools;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// One of the three APIs.
    Model(Route),
    /// Another path that costs something.
    Paid,
    /// Costs nothing.
    Free,
}

impl RequestKind {
    /// Whether it costs something.
    pub(crate) fn is_paid(self) -> bool {
        self != Self::Free
    }

    /// The API whose format the answer has.
    pub(crate) fn route(self) -> Option<Route> {
        match self {
            Self::Model(route) => Some(route),
            Self::Paid | Self::Free => None,
        }
    }

    /// What a method and a path (`/v1/…`) are about. `None` = it does not pass.
    pub(crate) fn from_parts(method: &Method, path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if method == Method::POST {
            return match path {
                "/v1/completions" | "/v1/embeddings" | "/v1/responses/compact" => Some(Self::Paid),
                "/v1/messages/count_tokens" | "/v1/responses/input_tokens" => Some(Self::Free),
                _ => Route::from_path(path).map(Self::Model),
            };
        }
        let name = match (method, path.strip_prefix("/v1/models")?) {
            (&Method::GET | &Method::HEAD, "") => return Some(Self::Free),
            (&Method::GET | &Method::HEAD, name) => name.strip_prefix('/')?,
            _ => return None,
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@/~+".contains(&byte);
        (name.bytes().all(plain) && !name.contains("..")).then_some(Self::Free)
    }
}

/// A request that can be sent, repeatedly.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingRequest {
    /// Method.
    pub(crate) method: Method,
    /// `/v1/messages?beta=true`.
    pub(crate) target: String,
    /// The headers that pass.
    pub(crate) headers: HeaderMap,
    /// The body, with the name of the model replaced.
    pub(crate) body: Bytes,
    /// What it is about.
    pub(crate) kind: RequestKind,
}

/// What was read from a body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BodyFields {
    /// The model that the agent asks for, at most 200 characters.
    pub(crate) model: Option<String>,
    /// The gateway asks for the usage of the stream, not the agent: its chunk is hidden from the agent.
    pub(crate) hides_usage: bool,
    /// Most tokens of the answer, where the request limits them.
    pub(crate) longest_answer: Option<u64>,
}

/// Prepares a body for the endpoint.
///
/// - The name of the model is replaced.
/// - The usage of a stream of chat completions is requested.
/// - `background` is cleared: such an answer would continue unmetered after the attempt.
/// - Unless `hosted_tools`, tools that the endpoint would run are removed (`tools.rs`).
///
/// Everything else stays the same, byte for byte. `None` = the body is not a JSON object. It must not pass: an endpoint may read
/// what this program cannot, and with it a model that the agent chose.
pub(crate) fn prepare(
    body: Bytes,
    kind: RequestKind,
    model: Option<&str>,
    hosted_tools: bool,
) -> Option<(Bytes, BodyFields)> {
    let Fields(fields) = serde_json::from_slice(&body).ok()?;
    let changed_tools = if hosted_tools { BTreeMap::new() } else { tools::without_hosted(&fields) };
    let field_named = |name: &str| fields.iter().rev().find(|(field, _)| field == name).map(|(_, raw)| *raw);
    let asked_model = field_named("model")
        .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
        .map(|name| name.chars().take(200).collect());
    let streams = field_named("stream").is_some_and(|raw| raw.get() == "true");
    let options = field_named("stream_options")
        .and_then(|raw| serde_json::from_str::<serde_json::Map<_, _>>(raw.get()).ok())
        .unwrap_or_default();
    let wants_usage = options.get("include_usage").and_then(serde_json::Value::as_bool) == Some(true);
    let hides_usage = kind == RequestKind::Model(Route::ChatCompletions) && streams && !wants_usage;
    let longest_answer = ["max_tokens", "max_completion_tokens", "max_output_tokens"]
        .iter()
        .filter_map(|name| serde_json::from_str(field_named(name)?.get()).ok())
        .max();
    let read = BodyFields { model: asked_model, hides_usage, longest_answer };

    let names_others = model.is_some() && fields.iter().any(|(name, _)| is_other_model(name));
    let is_ambiguous = fields.iter().filter(|(name, _)| is_model(name)).count() > 1;
    let model = model.filter(|model| is_ambiguous || read.model.as_deref() != Some(model));
    let in_background = kind == RequestKind::Model(Route::Responses)
        && fields.iter().any(|(name, raw)| may_be_read_as(name, "background") && raw.get() != "false");
    if model.is_none() && !hides_usage && !in_background && !names_others && changed_tools.is_empty() {
        return Some((body, read));
    }
    let model = model.map(|model| serde_json::Value::from(model).to_string());
    let options = hides_usage.then(|| {
        let mut options = options;
        options.insert("include_usage".to_owned(), true.into());
        serde_json::Value::from(options).to_string()
    });
    let mut out = Vec::with_capacity(body.len() + 128);
    let mut field = |name: &str, raw: &str| {
        out.push(if out.is_empty() { b'{' } else { b',' });
        out.extend_from_slice(serde_json::Value::from(name).to_string().as_bytes());
        out.push(b':');
        out.extend_from_slice(raw.as_bytes());
    };
    for (index, (name, raw)) in fields.iter().enumerate() {
        let raw = match (name.as_str(), &model) {
            _ if changed_tools.contains_key(&index) => match &changed_tools[&index] {
                Some(change) => change,
                None => continue,
            },
            (name, Some(model)) if is_model(name) => model,
            ("stream_options", _) if options.is_some() => continue,
            (name, _) if names_others && is_other_model(name) => continue,
            (name, _) if in_background && may_be_read_as(name, "background") => "false",
            _ => raw.get(),
        };
        field(name, raw);
    }
    if let Some(model) = model.filter(|_| field_named("model").is_none()) {
        field("model", &model);
    }
    if let Some(options) = options {
        field("stream_options", &options);
    }
    out.push(b'}');
    Some((Bytes::from(out), read))
}

/// Whether an endpoint may read a field as the name of the model. Which one of several counts is unknown.
fn is_model(field: &str) -> bool {
    may_be_read_as(field, "model")
}

/// Whether a field names further models, for endpoints that choose among several. A run uses one model.
fn is_other_model(field: &str) -> bool {
    ["models", "fallbacks"].iter().any(|name| may_be_read_as(field, name))
}

/// Whether a body is not compressed. The gateway cannot inspect a compressed one.
pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// The headers of a request that pass. Dropped are those of the connection (RFC 9110, 7.6.1), the key of the agent, and those that
/// would make the answer unreadable here. The account is dropped, too: with a foreign one an agent could have the endpoint refuse
/// it.
pub(crate) fn headers(source: &HeaderMap) -> HeaderMap {
    let replaced = [&HOST, &CONTENT_LENGTH, &AUTHORIZATION, &ACCEPT_ENCODING, &COOKIE, &EXPECT];
    // An agent could cause a conflict with one idempotency key for two requests.
    let account = ["x-api-key", "openai-organization", "openai-project", "idempotency-key"];
    let mut headers =
        passed_headers(source, |name| replaced.contains(&name) || account.contains(&name.as_str()));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // The endpoint must read the body as it was read here: not as a form, nor in another encoding.
    if headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers
}

/// The headers of an answer that pass: not those of the connection, and not those that name the account.
pub(crate) fn answer_headers(source: &HeaderMap) -> HeaderMap {
    passed_headers(source, |name| {
        let text = name.as_str();
        *name == CONTENT_LENGTH
            || *name == SET_COOKIE
            || ["organization", "project", "workspace"].iter().any(|word| text.contains(word))
    })
}

fn passed_headers(source: &HeaderMap, dropped: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let connection_headers =
        [&CONNECTION, &PROXY_AUTHENTICATE, &PROXY_AUTHORIZATION, &TE, &TRAILER, &TRANSFER_ENCODING, &UPGRADE];
    let named: Vec<String> = source
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut headers = HeaderMap::with_capacity(source.len());
    for (name, value) in source {
        let is_of_connection = connection_headers.contains(&name)
            || matches!(name.as_str(), "keep-alive" | "proxy-connection")
            || named.iter().any(|other| other == name.as_str());
        if !is_of_connection && !dropped(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const CHAT: RequestKind = RequestKind::Model(Route::ChatCompletions);

    fn prepared(body: &str, kind: RequestKind, model: Option<&str>) -> (String, BodyFields) {
        let (body, read) = prepare(Bytes::from(body.to_owned()), kind, model, false).unwrap();
        (String::from_utf8(body.to_vec()).unwrap(), read)
    }

    #[test]
    fn a_body_that_needs_no_change_stays_byte_for_byte() {
        for (body, kind, model) in [
            (r#"{ "model" : "m", "x":[1 ,2] }"#, CHAT, None),
            (r#"{ "model" : "m", "stream":false }"#, CHAT, Some("m")),
            (r#"{"stream":true, "stream_options":{"include_usage":true}}"#, CHAT, None),
            (r#"{"stream":true}"#, RequestKind::Model(Route::Messages), None),
        ] {
            assert_eq!(prepared(body, kind, model).0, body);
        }
    }

    #[test]
    fn tools_that_the_endpoint_would_run_are_removed() {
        let body = r#"{"model":"m","tools":[{"type":"web_search"}, {"type":"function" ,"name":"a"}],"web_search_options":{},"x":1}"#;
        let (sent, _) = prepared(body, CHAT, None);
        assert_eq!(sent, r#"{"model":"m","tools":[{"type":"function" ,"name":"a"}],"x":1}"#);
        let (sent, _) =
            prepared(r#"{"tools":[{"type":"mcp"}],"Tools":[{"type":"mcp"}],"model":"m"}"#, CHAT, None);
        assert_eq!(sent, r#"{"model":"m"}"#);
        let (open, _) = prepare(Bytes::from_static(body.as_bytes()), CHAT, None, true).unwrap();
        assert_eq!(open, body, "agents reach the internet anyway");
    }

    #[test]
    fn an_unreadable_body_does_not_pass() {
        for body in [
            &b"[1]"[..],
            b"no json",
            b"",
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\xff\"}",
            b"{} {}",
            b"{\0}\0",
            b"\x1f\x8b\x08",
        ] {
            assert_eq!(prepare(Bytes::copy_from_slice(body), CHAT, Some("m"), false), None, "{body:?}");
            assert_eq!(prepare(Bytes::copy_from_slice(body), CHAT, None, false), None, "{body:?}");
        }
    }

    #[test]
    fn no_second_name_of_a_model_passes() {
        for body in
            [r#"{"model":"m","MODEL":"mine"}"#, r#"{"Model":"mine","model":"m"}"#, r#"{"mod\u0065l":"mine"}"#]
        {
            let (body, _) = prepared(body, CHAT, Some("m"));
            assert!(!body.contains("mine") && body.contains(r#""model":"m""#), "{body}");
        }
        let several = r#"{"model":"m","models":["mine"],"Fallbacks":[{"model":"mine"}],"n":1}"#;
        assert_eq!(prepared(several, CHAT, Some("m")).0, r#"{"model":"m","n":1}"#);
        assert_eq!(prepared(several, CHAT, None).0, several, "no model is set");
    }

    #[test]
    fn the_model_is_replaced_and_the_rest_keeps_its_bytes() {
        let (body, read) =
            prepared("{\"model\":\"a\",\"n\":1.50,\"t\":\"\\u00e9\",\"model\":\"b\"}", CHAT, Some("x\"y"));
        assert_eq!(body, "{\"model\":\"x\\\"y\",\"n\":1.50,\"t\":\"\\u00e9\",\"model\":\"x\\\"y\"}");
        assert_eq!(read.model.as_deref(), Some("b"));
        assert_eq!(prepared("{}", CHAT, Some("m")).0, r#"{"model":"m"}"#);
    }

    #[test]
    fn usage_is_requested_where_the_agent_does_not() {
        for options in ["", r#","stream_options":null"#, r#","stream_options":{"include_usage":false,"a":1}"#]
        {
            let (body, read) = prepared(&format!(r#"{{"stream":true{options}}}"#), CHAT, None);
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["stream_options"]["include_usage"], json!(true));
            assert!(read.hides_usage);
        }
        assert!(!prepared(r#"{"stream":true}"#, RequestKind::Model(Route::Responses), None).1.hides_usage);
    }

    #[test]
    fn no_answer_is_made_in_the_background() {
        let original = r#"{"model":"m","background":true,"input":"x"}"#;
        let (body, _) = prepared(original, RequestKind::Model(Route::Responses), None);
        assert_eq!(body, r#"{"model":"m","background":false,"input":"x"}"#);
        assert_eq!(prepared(original, CHAT, None).0, original);
        let (body, _) = prepared(r#"{"Bac\u212aground":1}"#, RequestKind::Model(Route::Responses), None);
        assert!(body.ends_with(":false}"), "{body}");
    }

    #[test]
    fn only_the_key_names_the_account() {
        let mut given = HeaderMap::new();
        for name in ["openai-organization", "openai-project", "x-api-key", "authorization", "idempotency-key"]
        {
            given.insert(HeaderName::from_static(name), HeaderValue::from_static("mine"));
        }
        given.insert(HeaderName::from_static("openai-beta"), HeaderValue::from_static("responses"));
        let names: Vec<String> = headers(&given).keys().map(ToString::to_string).collect();
        assert_eq!(names, ["openai-beta", "accept-encoding"]);
    }

    #[test]
    fn only_paths_of_models_pass() {
        for (method, path, kind) in [
            (Method::POST, "/v1/chat/completions", Some(CHAT)),
            (Method::POST, "/v1/messages", Some(RequestKind::Model(Route::Messages))),
            (Method::POST, "/v1/messages/count_tokens", Some(RequestKind::Free)),
            (Method::GET, "/v1/models", Some(RequestKind::Free)),
            (Method::GET, "/v1/models/org/name:free", Some(RequestKind::Free)),
            (Method::GET, "/v1/models/../files", None),
            (Method::GET, "/v1/models/%2e%2e/files", None),
            (Method::GET, "/v1/modelsx", None),
            (Method::DELETE, "/v1/models/mine", None),
            (Method::GET, "/v1/files", None),
            (Method::POST, "/v1/batches", None),
            (Method::GET, "/v1/chat/completions", None),
            (Method::POST, "/admin", None),
        ] {
            assert_eq!(RequestKind::from_parts(&method, path), kind, "{method} {path}");
        }
    }

    #[test]
    fn headers_of_the_connection_and_keys_do_not_pass() {
        let mut request_headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("authorization", "Bearer agent"),
            ("x-api-key", "agent"),
            ("host", "gateway"),
            ("accept-encoding", "gzip, br"),
            ("anthropic-version", "2023-06-01"),
            ("anthropic-beta", "a"),
            ("anthropic-beta", "b"),
        ] {
            request_headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let headers = headers(&request_headers);
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept-encoding", "anthropic-beta", "anthropic-version"]);
        assert_eq!(headers.get_all("anthropic-beta").iter().count(), 2);
        assert_eq!(headers["accept-encoding"], "identity");
        request_headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        assert_eq!(super::headers(&request_headers)["content-type"], "application/json");
    }

    #[test]
    fn a_compressed_body_is_recognized_by_its_headers() {
        let given = |values: &[&'static str]| {
            let mut request_headers = HeaderMap::new();
            for value in values {
                request_headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
            }
            is_plain(&request_headers)
        };
        assert!(given(&[]) && given(&["identity"]) && given(&["Identity"]));
        assert!(
            !given(&["gzip"]) && !given(&["identity", "zstd"]) && !given(&["identity, br"]) && !given(&[""])
        );
    }
}
