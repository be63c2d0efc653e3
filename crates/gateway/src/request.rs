//! A request of an agent: what may pass, and what is changed on the way.
//!
//! The real key stands behind what passes, and it opens more at an endpoint than a model: files of other people, batches
//! that run after the attempt has ended. So only paths that ask a model, count tokens or list models pass.

use std::collections::BTreeMap;

use axum::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE,
    EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;

use crate::fields::{Fields, may_be_read_as};
use crate::{Route, tools};

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of the three APIs.
    Model(Route),
    /// Another path that costs something.
    Paid,
    /// Costs nothing.
    Free,
}

impl Kind {
    /// Whether budgets and prices have to do with it.
    pub(crate) fn is_paid(self) -> bool {
        self != Self::Free
    }

    /// The API whose words answers are in.
    pub(crate) fn route(self) -> Option<Route> {
        match self {
            Self::Model(route) => Some(route),
            Self::Paid | Self::Free => None,
        }
    }

    /// What a method and a path (`/v1/…`) are about; `None` = does not pass.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if method == Method::POST {
            return match path {
                "/v1/completions" | "/v1/embeddings" | "/v1/responses/compact" => Some(Self::Paid),
                "/v1/messages/count_tokens" | "/v1/responses/input_tokens" => Some(Self::Free),
                _ => Route::of(path).map(Self::Model),
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

/// A request, ready to be sent, as often as needed.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// Its method.
    pub(crate) method: Method,
    /// `/v1/messages?beta=true`.
    pub(crate) target: String,
    /// What passes of its headers.
    pub(crate) headers: HeaderMap,
    /// With the model's name put in.
    pub(crate) body: Bytes,
    /// What it is about.
    pub(crate) kind: Kind,
}

/// What was read and changed in a body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The model that was asked for, at most 200 characters.
    pub(crate) model: Option<String>,
    /// The agent did not ask for the usage of the stream, we did: its chunk is not for the agent.
    pub(crate) hides_usage: bool,
    /// The most tokens that the answer may have, where it says so.
    pub(crate) longest: Option<u64>,
}

/// Puts the model's name in, asks for the usage of a stream of chat completions, and takes back the wish that an answer be
/// made in the background, where it would go on unmetered when the attempt is over. Unless `hosted`, tools that the endpoint
/// would run go (`tools.rs`). Everything else stays as it was, byte for byte. `None` = the body is no JSON object. It must not
/// pass: an endpoint may read what this program can not, and with it a model of the agent's choice.
pub(crate) fn prepare(body: Bytes, kind: Kind, model: Option<&str>, hosted: bool) -> Option<(Bytes, Told)> {
    let Fields(fields) = serde_json::from_slice(&body).ok()?;
    let left = if hosted { BTreeMap::new() } else { tools::without_hosted(&fields) };
    let named = |name: &str| fields.iter().rev().find(|(field, _)| field == name).map(|(_, raw)| *raw);
    let told_model = named("model")
        .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
        .map(|name| name.chars().take(200).collect());
    let streams = named("stream").is_some_and(|raw| raw.get() == "true");
    let options = named("stream_options")
        .and_then(|raw| serde_json::from_str::<serde_json::Map<_, _>>(raw.get()).ok())
        .unwrap_or_default();
    let asks = options.get("include_usage").and_then(serde_json::Value::as_bool) == Some(true);
    let hides_usage = kind == Kind::Model(Route::ChatCompletions) && streams && !asks;
    let longest = ["max_tokens", "max_completion_tokens", "max_output_tokens"]
        .iter()
        .filter_map(|name| serde_json::from_str(named(name)?.get()).ok())
        .max();
    let told = Told { model: told_model, hides_usage, longest };

    let strays = model.is_some() && fields.iter().any(|(name, _)| is_other_model(name));
    let disguised = fields.iter().filter(|(name, _)| is_model(name)).count() > 1;
    let model = model.filter(|model| disguised || told.model.as_deref() != Some(model));
    let lingers = kind == Kind::Model(Route::Responses)
        && fields.iter().any(|(name, raw)| may_be_read_as(name, "background") && raw.get() != "false");
    if model.is_none() && !hides_usage && !lingers && !strays && left.is_empty() {
        return Some((body, told));
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
    for (at, (name, raw)) in fields.iter().enumerate() {
        let raw = match (name.as_str(), &model) {
            _ if left.contains_key(&at) => match &left[&at] {
                Some(own) => own,
                None => continue,
            },
            (name, Some(model)) if is_model(name) => model,
            ("stream_options", _) if options.is_some() => continue,
            (name, _) if strays && is_other_model(name) => continue,
            (name, _) if lingers && may_be_read_as(name, "background") => "false",
            _ => raw.get(),
        };
        field(name, raw);
    }
    if let Some(model) = model.filter(|_| named("model").is_none()) {
        field("model", &model);
    }
    if let Some(options) = options {
        field("stream_options", &options);
    }
    out.push(b'}');
    Some((Bytes::from(out), told))
}

/// Whether an endpoint may read a field as the model's name. Of several fields it is not known which one counts.
fn is_model(field: &str) -> bool {
    may_be_read_as(field, "model")
}

/// Whether a field names further models, for endpoints that choose among several. A run is one of one model.
fn is_other_model(field: &str) -> bool {
    ["models", "fallbacks"].iter().any(|name| may_be_read_as(field, name))
}

/// Whether a body comes as it is written, not packed: what is packed could not be looked at.
pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// What passes of a request's headers: not what belongs to the connection (RFC 9110, 7.6.1), to the agent's own key, or
/// would make the answer unreadable here; nor whose account is meant, which is the key's matter: with a foreign one an
/// agent could have the endpoint refuse it.
pub(crate) fn headers(from: &HeaderMap) -> HeaderMap {
    let own = [&HOST, &CONTENT_LENGTH, &AUTHORIZATION, &ACCEPT_ENCODING, &COOKIE, &EXPECT];
    // A key that is used twice for different requests is a conflict that an agent could make.
    let account = ["x-api-key", "openai-organization", "openai-project", "idempotency-key"];
    let mut headers = passing(from, |name| own.contains(&name) || account.contains(&name.as_str()));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // As the body was read here, so it is to be read there: not as a form, nor in other letters.
    if headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers
}

/// What passes of an answer's headers: not what belongs to the connection, and not whose account it is.
pub(crate) fn answer_headers(from: &HeaderMap) -> HeaderMap {
    passing(from, |name| {
        let text = name.as_str();
        *name == CONTENT_LENGTH
            || *name == SET_COOKIE
            || ["organization", "project", "workspace"].iter().any(|word| text.contains(word))
    })
}

fn passing(from: &HeaderMap, dropped: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let of_connection =
        [&CONNECTION, &PROXY_AUTHENTICATE, &PROXY_AUTHORIZATION, &TE, &TRAILER, &TRANSFER_ENCODING, &UPGRADE];
    let named: Vec<String> = from
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut headers = HeaderMap::with_capacity(from.len());
    for (name, value) in from {
        let stays = of_connection.contains(&name)
            || matches!(name.as_str(), "keep-alive" | "proxy-connection")
            || named.iter().any(|other| other == name.as_str());
        if !stays && !dropped(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const CHAT: Kind = Kind::Model(Route::ChatCompletions);

    fn prepared(body: &str, kind: Kind, model: Option<&str>) -> (String, Told) {
        let (body, told) = prepare(Bytes::from(body.to_owned()), kind, model, false).unwrap();
        (String::from_utf8(body.to_vec()).unwrap(), told)
    }

    #[test]
    fn what_needs_no_change_stays_byte_for_byte() {
        for (body, kind, model) in [
            (r#"{ "model" : "m", "x":[1 ,2] }"#, CHAT, None),
            (r#"{ "model" : "m", "stream":false }"#, CHAT, Some("m")),
            (r#"{"stream":true, "stream_options":{"include_usage":true}}"#, CHAT, None),
            (r#"{"stream":true}"#, Kind::Model(Route::Messages), None),
        ] {
            assert_eq!(prepared(body, kind, model).0, body);
        }
    }

    #[test]
    fn what_the_endpoint_would_run_itself_is_taken_out() {
        let body = r#"{"model":"m","tools":[{"type":"web_search"}, {"type":"function" ,"name":"a"}],"web_search_options":{},"x":1}"#;
        let (sent, _) = prepared(body, CHAT, None);
        assert_eq!(sent, r#"{"model":"m","tools":[{"type":"function" ,"name":"a"}],"x":1}"#);
        let (sent, _) =
            prepared(r#"{"tools":[{"type":"mcp"}],"Tools":[{"type":"mcp"}],"model":"m"}"#, CHAT, None);
        assert_eq!(sent, r#"{"model":"m"}"#);
        let (open, _) = prepare(Bytes::from_static(body.as_bytes()), CHAT, None, true).unwrap();
        assert_eq!(open, body, "where agents reach the internet anyway");
    }

    #[test]
    fn what_can_not_be_read_here_is_not_passed_on() {
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
    fn no_second_name_of_the_model_gets_through() {
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
    fn the_model_is_put_in_and_the_rest_keeps_its_bytes() {
        let (body, told) =
            prepared("{\"model\":\"a\",\"n\":1.50,\"t\":\"\\u00e9\",\"model\":\"b\"}", CHAT, Some("x\"y"));
        assert_eq!(body, "{\"model\":\"x\\\"y\",\"n\":1.50,\"t\":\"\\u00e9\",\"model\":\"x\\\"y\"}");
        assert_eq!(told.model.as_deref(), Some("b"));
        assert_eq!(prepared("{}", CHAT, Some("m")).0, r#"{"model":"m"}"#);
    }

    #[test]
    fn usage_is_asked_for_where_the_agent_does_not() {
        for options in ["", r#","stream_options":null"#, r#","stream_options":{"include_usage":false,"a":1}"#]
        {
            let (body, told) = prepared(&format!(r#"{{"stream":true{options}}}"#), CHAT, None);
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["stream_options"]["include_usage"], json!(true));
            assert!(told.hides_usage);
        }
        assert!(!prepared(r#"{"stream":true}"#, Kind::Model(Route::Responses), None).1.hides_usage);
    }

    #[test]
    fn no_answer_is_made_behind_the_attempts_back() {
        let asked = r#"{"model":"m","background":true,"input":"x"}"#;
        let (body, _) = prepared(asked, Kind::Model(Route::Responses), None);
        assert_eq!(body, r#"{"model":"m","background":false,"input":"x"}"#);
        assert_eq!(prepared(asked, CHAT, None).0, asked);
        let (body, _) = prepared(r#"{"Bac\u212aground":1}"#, Kind::Model(Route::Responses), None);
        assert!(body.ends_with(":false}"), "{body}");
    }

    #[test]
    fn the_key_says_whose_account_it_is() {
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
            (Method::POST, "/v1/messages", Some(Kind::Model(Route::Messages))),
            (Method::POST, "/v1/messages/count_tokens", Some(Kind::Free)),
            (Method::GET, "/v1/models", Some(Kind::Free)),
            (Method::GET, "/v1/models/org/name:free", Some(Kind::Free)),
            (Method::GET, "/v1/models/../files", None),
            (Method::GET, "/v1/models/%2e%2e/files", None),
            (Method::GET, "/v1/modelsx", None),
            (Method::DELETE, "/v1/models/mine", None),
            (Method::GET, "/v1/files", None),
            (Method::POST, "/v1/batches", None),
            (Method::GET, "/v1/chat/completions", None),
            (Method::POST, "/admin", None),
        ] {
            assert_eq!(Kind::of(&method, path), kind, "{method} {path}");
        }
    }

    #[test]
    fn headers_of_the_connection_and_keys_do_not_pass() {
        let mut from = HeaderMap::new();
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
            from.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let headers = headers(&from);
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept-encoding", "anthropic-beta", "anthropic-version"]);
        assert_eq!(headers.get_all("anthropic-beta").iter().count(), 2);
        assert_eq!(headers["accept-encoding"], "identity");
        from.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        assert_eq!(super::headers(&from)["content-type"], "application/json");
    }

    #[test]
    fn a_packed_body_is_known_by_its_head() {
        let given = |values: &[&'static str]| {
            let mut from = HeaderMap::new();
            for value in values {
                from.append(CONTENT_ENCODING, HeaderValue::from_static(value));
            }
            is_plain(&from)
        };
        assert!(given(&[]) && given(&["identity"]) && given(&["Identity"]));
        assert!(
            !given(&["gzip"]) && !given(&["identity", "zstd"]) && !given(&["identity, br"]) && !given(&[""])
        );
    }
}
