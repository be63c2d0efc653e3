//! Which models an endpoint offers, how long their context is, and which program serves it.
//!
//! Every answer is a stranger's: sizes and times are bounded, redirects are not followed, control characters are removed.
//!
//! | program | told by | context as served |
//! |---|---|---|
//! | llama.cpp | `owned_by: llamacpp`, else `GET /props` | `default_generation_settings.n_ctx` of `/props` (of one slot), else `meta.n_ctx` of the list |
//! | vLLM, `SGLang` | `owned_by: vllm`, `sglang` | `max_model_len` |
//! | Ollama | `GET /api/ps` has `models` | `context_length` of `/api/ps` once a model is loaded, else `num_ctx` of `/api/show` |
//! | LM Studio | `GET /api/v0/models` has `data` with a `state` | `loaded_context_length` |
//!
//! What a model was made for is another number: Ollama and LM Studio serve less unless they are told to serve it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use futures_util::future::join_all;
use model::is_display_control;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::endpoint_check::UnusableEndpoint;
use crate::error::EndpointProblem;
use crate::request::{OutgoingRequest, RequestKind};
use crate::route::Route;
use crate::secret::Secret;
use crate::text::error_message_without;
use crate::upstream::{BaseUrl, Endpoint, Reply, Source, json_headers};

/// Most bytes of an answer.
const LONGEST_BODY: usize = 2 << 20;
/// Most values of an answer. Each takes up to some 400 bytes of memory, however few it has in the answer.
const MOST_VALUES: usize = 100_000;
/// Most models of an endpoint.
const MOST_MODELS: usize = 1000;
/// Most models of which Ollama is asked for details.
const MOST_DETAILS: usize = 32;
/// Most other names of a model.
const MOST_ALIASES: usize = 16;
/// Longest name of a model, in characters.
const LONGEST_NAME: usize = 300;
/// Fewest characters of a key that is removed from names. Shorter ones are placeholders, and parts of names (`ollama`).
const LEAST_KEY: usize = 8;
/// Longest context that is believed, in tokens.
const LONGEST_CONTEXT: u64 = 100_000_000;

/// A program that serves models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// `llama-server` of llama.cpp.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// LM Studio.
    LmStudio,
    /// `SGLang`.
    Sglang,
}

impl ServerKind {
    /// The port on which it listens by default.
    pub const fn port(self) -> u16 {
        match self {
            Self::Ollama => 11434,
            Self::LlamaCpp => 8080,
            Self::Vllm => 8000,
            Self::LmStudio => 1234,
            Self::Sglang => 30000,
        }
    }

    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ollama, Self::LlamaCpp, Self::Vllm, Self::LmStudio, Self::Sglang];

    /// Its name as its makers write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::LmStudio => "LM Studio",
            Self::Sglang => "SGLang",
        }
    }
}

/// A model that an endpoint offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name, without control characters.
    pub id: String,
    /// Other names to which it answers, likewise, at most 16 (llama.cpp).
    pub aliases: Vec<String>,
    /// Tokens of its context as the endpoint serves it; `None` = not told.
    pub context: Option<u64>,
    /// Tokens of the context that the model was made for, where the server reports it apart.
    pub model_context: Option<u64>,
}

impl ListedModel {
    /// Whether a request for this name is one for this model. Ollama takes a name without `:latest`.
    pub fn is_named(&self, name: &str) -> bool {
        self.id == name
            || self.id.strip_suffix(":latest") == Some(name)
            || self.aliases.iter().any(|alias| alias == name)
    }
}

/// What an endpoint offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelList {
    /// The program, where its answers tell.
    pub server: Option<ServerKind>,
    /// In its order, at most 1000, each name once.
    pub models: Vec<ListedModel>,
    /// Requests that it works on at once, where it tells (llama.cpp).
    pub slots: Option<u64>,
}

/// Asks an endpoint for its models (`GET /v1/models`), and for their contexts where its program is one of [`ServerKind`]. Each
/// request may take `patience`. The programs are asked for what only they have at addresses with `http://`, not at `https://`.
pub async fn list_models(
    base_url: &str,
    key: Option<Secret>,
    patience: Duration,
) -> Result<ModelList, UnusableEndpoint> {
    let invalid = |message: String| problem(EndpointProblem::Address, message);
    let base = BaseUrl::parse(base_url)
        .map_err(|reason| invalid(format!("The address of the endpoint is invalid: {reason}")))?;
    let endpoint = Endpoint::new(base_url, key.clone(), None).map_err(|error| invalid(error.to_string()))?;
    let request = ListRequest { endpoint, host: base.host.clone(), patience };
    let body = request.list().await.map_err(|error| UnusableEndpoint {
        message: key.as_ref().map_or(error.message.clone(), |key| key.scrub(&error.message)),
        ..error
    })?;
    let (mut list, llama_cpp_contexts) = models_of(&body, key.as_ref()).ok_or_else(|| {
        problem(EndpointProblem::Api, format!("{} answered, but not with a list of models", base.host))
    })?;
    // It may be large, and others are asked for.
    drop(body);
    if base.has_own_paths() {
        request.add_contexts(&mut list, &llama_cpp_contexts).await;
    }
    Ok(list)
}

fn problem(problem: EndpointProblem, message: String) -> UnusableEndpoint {
    let mut error = UnusableEndpoint::new(problem, message, Route::ChatCompletions);
    if problem == EndpointProblem::Api {
        "Check the path of the address, and whether this is an endpoint of models."
            .clone_into(&mut error.hint);
    }
    error
}

struct ListRequest {
    endpoint: Endpoint,
    host: String,
    patience: Duration,
}

impl ListRequest {
    /// The list as it was sent.
    async fn list(&self) -> Result<Value, UnusableEndpoint> {
        let host = &self.host;
        let answer = tokio::time::timeout(self.patience, self.send(Method::GET, "/v1/models", None)).await;
        let (status, text) = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err((kind, reason))) => {
                return Err(problem(kind, format!("{host} does not list its models: {reason}")));
            }
            Err(_) => {
                let message = format!("{host} did not answer for {} s", self.patience.as_secs());
                return Err(problem(EndpointProblem::Silent, message));
            }
        };
        let detail = error_message_without(self.endpoint.key.as_ref(), &text);
        match status.as_u16() {
            200..300 if files::most_values(text.as_bytes()) > MOST_VALUES => Err(problem(
                EndpointProblem::Api,
                format!("{host} answered /v1/models with more than {MOST_VALUES} values"),
            )),
            200..300 => serde_json::from_str(&text).map_err(|_| {
                let content = if text.trim_start().starts_with('<') { "a web page" } else { "no JSON" };
                problem(EndpointProblem::Api, format!("{host} answered /v1/models with {content}"))
            }),
            300..=399 => Err(problem(
                EndpointProblem::Address,
                format!("{host} redirects to another address ({status}), which is not asked"),
            )),
            401 | 403 => Err(problem(
                EndpointProblem::Key,
                format!("{host} does not accept the key ({status}: {detail})"),
            )),
            429 => Err(problem(EndpointProblem::Busy, format!("{host} is busy ({status}: {detail})"))),
            500.. => Err(problem(
                EndpointProblem::Fault,
                format!("{host} has an internal error ({status}: {detail})"),
            )),
            _ => Err(problem(EndpointProblem::Api, format!("{host} has no /v1/models ({status}: {detail})"))),
        }
    }

    async fn send(
        &self,
        method: Method,
        target: &str,
        body: Option<Value>,
    ) -> Result<(StatusCode, String), (EndpointProblem, String)> {
        let request = OutgoingRequest {
            method,
            target: target.to_owned(),
            headers: body.as_ref().map_or_else(HeaderMap::new, |_| json_headers("application/json")),
            body: body.map(|body| body.to_string()).unwrap_or_default().into(),
            kind: RequestKind::Free,
        };
        let Reply { status, body, .. } =
            self.endpoint.send(&request).await.map_err(|error| (error.problem, error.message))?;
        let text = read(body).await.map_err(|reason| (EndpointProblem::Api, reason))?;
        Ok((status, text))
    }

    /// What `take` finds in the JSON of a path that only some programs have. The rest is not kept, because it may be large.
    async fn find_in_answer<T>(
        &self,
        method: Method,
        target: &str,
        body: Option<Value>,
        take: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let (status, text) =
            tokio::time::timeout(self.patience, self.send(method, target, body)).await.ok()?.ok()?;
        if !status.is_success() || files::most_values(text.as_bytes()) > MOST_VALUES {
            return None;
        }
        take(&serde_json::from_str(&text).ok()?)
    }

    async fn add_contexts(&self, list: &mut ModelList, llama_cpp_contexts: &[Contexts]) {
        if matches!(list.server, Some(ServerKind::Vllm | ServerKind::Sglang)) {
            return;
        }
        if list.server.is_none() {
            // LM Studio answers unknown paths with 200, so each has to have the form that only its program gives it.
            let (loaded, studio) = tokio::join!(
                self.find_in_answer(Method::GET, "/api/ps", None, loaded_by_ollama),
                self.find_in_answer(Method::GET, "/api/v0/models", None, listed_by_lm_studio)
            );
            if let Some(loaded) = loaded {
                list.server = Some(ServerKind::Ollama);
                self.add_ollama(list, &loaded).await;
                return;
            }
            if let Some(studio) = studio {
                list.server = Some(ServerKind::LmStudio);
                for model in &mut list.models {
                    if let Some(contexts) = studio.get(&model.id) {
                        (model.context, model.model_context) = *contexts;
                    }
                }
                return;
            }
        }
        let props_context = |props: &Value| {
            let settings = props.get("default_generation_settings")?;
            let slots = props.get("total_slots").and_then(Value::as_u64).filter(|slots| *slots > 0);
            Some((context(settings.get("n_ctx")), slots))
        };
        if let Some((served, slots)) = self.find_in_answer(Method::GET, "/props", None, props_context).await {
            list.server = Some(ServerKind::LlamaCpp);
            list.slots = slots;
            // A server of several models tells the context of each that is loaded in the list, not here.
            if let [only] = &mut list.models[..] {
                only.context = served;
            }
        }
        if list.server == Some(ServerKind::LlamaCpp) {
            for (model, (served, made_for)) in list.models.iter_mut().zip(llama_cpp_contexts) {
                model.context = model.context.or(*served);
                model.model_context = *made_for;
            }
        }
    }

    async fn add_ollama(&self, list: &mut ModelList, loaded: &BTreeMap<String, Option<u64>>) {
        let details_contexts = |details: &Value| Some((num_ctx(details), made_for(details)));
        let details = list.models.iter().take(MOST_DETAILS).map(|model| {
            self.find_in_answer(
                Method::POST,
                "/api/show",
                Some(json!({ "model": model.id })),
                details_contexts,
            )
        });
        let details = join_all(details).await;
        for (model, details) in list.models.iter_mut().zip(details) {
            (model.context, model.model_context) = details.unwrap_or_default();
        }
        for model in &mut list.models {
            if let Some(Some(served)) = loaded.get(&model.id) {
                model.context = Some(*served);
            }
        }
    }
}

async fn read(mut body: Source) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LONGEST_BODY {
            return Err(format!("its answer is longer than {} MiB", LONGEST_BODY >> 20));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Tokens of a context as it is served, and of the one that the model was made for.
type Contexts = (Option<u64>, Option<u64>);

/// A number of tokens that can be one.
fn context(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_u64).filter(|tokens| (1..=LONGEST_CONTEXT).contains(tokens))
}

fn entries(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("data").and_then(Value::as_array).into_iter().flatten()
}

fn name_of(entry: &Value) -> Option<String> {
    name(entry.get("id")?)
}

fn name(value: &Value) -> Option<String> {
    let name: String =
        value.as_str()?.chars().filter(|c| !c.is_control() && !is_display_control(*c)).collect();
    (!name.trim().is_empty() && name.chars().count() <= LONGEST_NAME).then_some(name)
}

/// The models of an answer to `GET /v1/models`, and what llama.cpp tells there of each; `None` = it is no such answer. Some endpoints add the context, each under a name of
/// its own. A name that comes twice counts once: models are chosen by name, and cleaning can make two equal.
fn models_of(body: &Value, key: Option<&Secret>) -> Option<(ModelList, Vec<Contexts>)> {
    const CONTEXTS: [&str; 4] = ["max_model_len", "context_length", "context_window", "max_context_length"];
    body.get("data").filter(|data| data.is_array())?;
    let key = key.filter(|key| key.reveal().chars().count() >= LEAST_KEY);
    let mut names = BTreeSet::new();
    let (models, llama_cpp_contexts) = entries(body)
        .filter_map(|entry| {
            let shown = |name: String| key.map_or_else(|| name.clone(), |key| key.scrub(&name));
            let id = shown(name_of(entry)?);
            if !names.insert(id.clone()) {
                return None;
            }
            let context = CONTEXTS.iter().find_map(|name| context(entry.get(*name)));
            let aliases = entry
                .get("aliases")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(name)
                .map(shown)
                .filter(|alias| *alias != id)
                .take(MOST_ALIASES)
                .collect();
            let tokens_at = |pointer: &str| self::context(entry.pointer(pointer));
            let llama_cpp_contexts = (tokens_at("/meta/n_ctx"), tokens_at("/meta/n_ctx_train"));
            Some((ListedModel { id, aliases, context, model_context: None }, llama_cpp_contexts))
        })
        .take(MOST_MODELS)
        .unzip();
    let owner =
        |name: &str| entries(body).any(|entry| entry.get("owned_by").and_then(Value::as_str) == Some(name));
    let server =
        [("llamacpp", ServerKind::LlamaCpp), ("vllm", ServerKind::Vllm), ("sglang", ServerKind::Sglang)]
            .into_iter()
            .find_map(|(name, server)| owner(name).then_some(server));
    Some((ModelList { server, models, slots: None }, llama_cpp_contexts))
}

/// The contexts with which Ollama serves the models that are loaded, by the names to which they answer; `None` = this is not Ollama.
fn loaded_by_ollama(body: &Value) -> Option<BTreeMap<String, Option<u64>>> {
    let mut loaded = BTreeMap::new();
    for entry in body.get("models")?.as_array()? {
        let Some(name) = entry.get("model").or_else(|| entry.get("name")).and_then(Value::as_str) else {
            continue;
        };
        for name in [Some(name), name.strip_suffix(":latest")].into_iter().flatten() {
            loaded.entry(name.to_owned()).or_insert_with(|| context(entry.get("context_length")));
        }
    }
    Some(loaded)
}

/// The contexts of the models of LM Studio by their names; `None` = this is not LM Studio.
fn listed_by_lm_studio(body: &Value) -> Option<BTreeMap<String, Contexts>> {
    let has_its_form =
        |entry: &Value| entry.get("state").is_some() && entry.get("max_context_length").is_some();
    if !entries(body).any(has_its_form) {
        return None;
    }
    let mut listed = BTreeMap::new();
    for entry in entries(body) {
        if let Some(name) = name_of(entry) {
            listed.entry(name).or_insert_with(|| {
                (context(entry.get("loaded_context_length")), context(entry.get("max_context_length")))
            });
        }
    }
    Some(listed)
}

/// `num_ctx` of the parameters that `/api/show` prints, a name and a value a line.
fn num_ctx(details: &Value) -> Option<u64> {
    let parameters = details.get("parameters")?.as_str()?;
    parameters.lines().find_map(|line| {
        let value = line.trim().strip_prefix("num_ctx")?.trim().parse::<u64>().ok()?;
        context(Some(&json!(value)))
    })
}

/// The context that the model was made for: `llama.context_length` of `model_info`, where `llama` is the architecture.
fn made_for(details: &Value) -> Option<u64> {
    let info = details.get("model_info")?.as_object()?;
    let architecture = info.get("general.architecture")?.as_str()?;
    context(info.get(&format!("{architecture}.context_length")))
}
