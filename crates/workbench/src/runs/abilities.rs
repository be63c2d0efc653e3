//! What the endpoint of a run can do with its model, against what the harness needs.

use std::time::{Duration, SystemTime};

use gateway::{Abilities, ModelList, Route, Secret, ServerKind, Upstream};
use harness::{Api, Needs};
use model::counted;
use runner::settings::{EndpointSettings, RunSettings};
use serde::{Deserialize, Serialize};
use store::Store;

use crate::api::{Check, CheckState, EndpointAbilities, Fix, FixAction};

/// How long the list of models may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Tokens that a turn needs beside what a harness says of itself: the request, files that are read, an answer.
const LEAST_ROOM: u64 = 8192;
/// Names of models in a sentence.
const NAMED: usize = 5;

/// Most names of a list that are kept, to see whether it has changed.
const LISTED: usize = 50;

/// How long what was found out counts. A server may be started anew without it.
const KEPT: Duration = Duration::from_hours(24);

/// What was found out of endpoints, by address, model and API, in a library; and when the oldest part of it was.
#[derive(Clone, Copy)]
pub(super) struct KeptAbilities<'a>(&'a Store);

impl<'a> KeptAbilities<'a> {
    /// In a library.
    pub(super) const fn new(store: &'a Store) -> Self {
        Self(store)
    }

    /// What was found out within the last day. Nothing where the library cannot be read: it is asked again.
    fn recent(self, (address, model, api): &Place, now: i64) -> Option<(i64, EndpointFindings)> {
        let (start_time, found) = self.0.abilities(address, model, api).ok()??;
        // A clock that was set back makes nothing younger.
        let age = u64::try_from(now.checked_sub(start_time)?).ok()?;
        if age >= KEPT.as_secs() {
            return None;
        }
        Some((start_time, serde_json::from_str(&found).ok()?))
    }

    /// Keeps what was found out; a part of it since `since`. Not in a library that is only read.
    fn keep(self, (address, model, api): &Place, start_time: i64, found: &EndpointFindings) {
        let Ok(text) = serde_json::to_string(found) else { return };
        if self.0.is_read_only() {
            return;
        }
        if let Err(error) = self.0.keep_abilities(address, model, api, start_time, &text) {
            tracing::warn!(%error, "what an endpoint can do is not kept");
        }
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let start = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(start.as_secs()).unwrap_or(i64::MAX)
}

/// Address, model, and path of the API.
type Place = (String, String, &'static str);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct EndpointFindings {
    abilities: Abilities,
    server: Option<ServerKind>,
    context: Option<u64>,
    /// What the model was made for.
    model_context: Option<u64>,
    slots: Option<u64>,
    /// Which model answers, as the endpoint lists it; where it lists none of that name, all that it lists, as far as they are
    /// kept. Empty = unknown.
    listed: Vec<String>,
}

impl EndpointFindings {
    /// Whether the list of an endpoint tells that another server, or the same one with another model or context, answers now than
    /// `before`. What is unknown tells nothing.
    fn is_of_another(&self, before: &Self) -> bool {
        fn differ<T: PartialEq>(now: Option<&T>, before: Option<&T>) -> bool {
            now.zip(before).is_some_and(|(now, before)| now != before)
        }
        let names = |found: &Self| Some(found.listed.clone()).filter(|names| !names.is_empty());
        differ(self.server.as_ref(), before.server.as_ref())
            || differ(self.context.as_ref(), before.context.as_ref())
            || differ(self.model_context.as_ref(), before.model_context.as_ref())
            || differ(names(self).as_ref(), names(before).as_ref())
    }
}

/// An endpoint that may be asked.
pub(super) struct AskedEndpoint {
    pub(super) base_url: String,
    pub(super) key: Option<Secret>,
    /// Whether it answered a plain request with this model.
    pub(super) answers: bool,
    /// Whether it is asked for all that it can do, whatever was found out before.
    pub(super) is_anew: bool,
}

/// The API by which a harness asks.
pub(super) fn route_of(api: Api) -> Route {
    match api {
        Api::ChatCompletions => Route::ChatCompletions,
        Api::Responses => Route::Responses,
        Api::Messages => Route::Messages,
    }
}

/// How many requests the endpoint of a run works on at once, where that was found out within the last day.
pub(super) fn slots(settings: &RunSettings, kept_abilities: KeptAbilities<'_>) -> Option<u64> {
    let EndpointSettings::Gateway { base_url, .. } = &settings.endpoint else { return None };
    let route = route_of(super::harness_of(settings).ok()?.api);
    let place = (base_url.clone(), settings.model.clone().unwrap_or_default(), route.path());
    kept_abilities.recent(&place, now())?.1.slots
}

/// Checks of model and abilities, and what is known of them. Without `endpoint` nothing is asked, and what was found out before counts.
pub(super) async fn checks(
    settings: &RunSettings,
    base_url: &str,
    route: Route,
    endpoint: Option<AskedEndpoint>,
    kept_abilities: KeptAbilities<'_>,
) -> (Vec<Check>, EndpointAbilities) {
    let model = settings.model.clone().unwrap_or_default();
    let place = (base_url.to_owned(), model.clone(), route.path());
    let now = now();
    let known = kept_abilities.recent(&place, now);
    let mut checks = Vec::new();
    let found = match endpoint {
        None => known.map(|(_, found)| found),
        Some(endpoint) => {
            let list = gateway::list_models(&endpoint.base_url, endpoint.key.clone(), PATIENCE).await.ok();
            checks.extend(list.as_ref().and_then(|list| listed(list, &model, endpoint.answers)));
            // What is carried over is as old as it was, so that it ends.
            let known = known.filter(|_| !endpoint.is_anew);
            // What another server could do, or another model, says nothing of this one.
            let known = known.filter(|(_, known)| {
                !found_in(list.as_ref(), &model, &EndpointFindings::default()).is_of_another(known)
            });
            let (start_time, before) = known.unwrap_or_else(|| (now, EndpointFindings::default()));
            let mut found = found_in(list.as_ref(), &model, &before);
            if endpoint.answers {
                let upstream = Upstream::Http { base_url: endpoint.base_url, key: endpoint.key, model: None };
                // An address that is wrong has failed before.
                found.abilities = gateway::abilities(&upstream, route, &model, before.abilities.clone())
                    .await
                    .unwrap_or(before.abilities);
                kept_abilities.keep(&place, start_time, &found);
            }
            Some(found)
        }
    };
    let Some(found) = found else { return (checks, EndpointAbilities::default()) };
    checks.extend(abilities(settings, &found));
    let EndpointFindings { abilities, context, .. } = found;
    let reported = EndpointAbilities {
        streams: abilities.streams,
        tools: abilities.tools,
        json_schema: abilities.json_schema,
        usage_in_stream: abilities.usage_in_stream,
        cached: abilities.cached,
        context,
    };
    (checks, reported)
}

/// What a list tells of a model. What this one leaves open is as it was `before`, unless another program answers now.
fn found_in(list: Option<&ModelList>, model: &str, before: &EndpointFindings) -> EndpointFindings {
    let Some(list) = list else {
        return EndpointFindings { abilities: Abilities::default(), ..before.clone() };
    };
    let entry = list.models.iter().find(|entry| entry.is_named(model));
    // llama.cpp answers with its only model, whatever name is asked for.
    let only = (list.server == Some(ServerKind::LlamaCpp)).then(|| list.models.first()).flatten();
    let entry = entry.or(only);
    let is_same_program = list.server.is_none() || list.server == before.server;
    let before = is_same_program.then_some(before);
    let listed: Vec<String> = match entry {
        Some(entry) => vec![entry.id.clone()],
        None => list.models.iter().take(LISTED).map(|entry| entry.id.clone()).collect(),
    };
    EndpointFindings {
        abilities: Abilities::default(),
        listed: if listed.is_empty() {
            before.map(|before| before.listed.clone()).unwrap_or_default()
        } else {
            listed
        },
        server: list.server.or(before.and_then(|before| before.server)),
        context: entry.and_then(|entry| entry.context).or(before.and_then(|before| before.context)),
        model_context: entry
            .and_then(|entry| entry.model_context)
            .or(before.and_then(|before| before.model_context)),
        slots: list.slots.or(before.and_then(|before| before.slots)),
    }
}

/// A warning where the endpoint lists models, and not this one.
fn listed(list: &ModelList, model: &str, answers: bool) -> Option<Check> {
    if list.models.is_empty() || list.models.iter().any(|entry| entry.is_named(model)) {
        return None;
    }
    let mut names: Vec<&str> = list.models.iter().take(NAMED).map(|entry| entry.id.as_str()).collect();
    let unnamed = list.models.len().saturating_sub(NAMED);
    let more_named = format!("{unnamed} more");
    if unnamed > 0 {
        names.push(&more_named);
    }
    let answers = if answers { " It answers all the same, perhaps with another model." } else { "" };
    let sentence = format!(
        "The endpoint does not list the model {}. It lists {}.{answers} Choose one that it lists, or check the spelling.",
        model::plain_line(model),
        names.join(", ")
    );
    let mut check = Check::new("model", "Model", CheckState::Warn, "not listed").with_sentence(sentence);
    if let [only] = &list.models[..] {
        let action = FixAction::SetText { field: "model".to_owned(), value: only.id.clone() };
        check.fix = Some(Fix { label: format!("Use {}", only.id), action });
    }
    Some(check)
}

/// What is missing, each with a sentence; `None` = nothing is known.
fn abilities(settings: &RunSettings, found: &EndpointFindings) -> Option<Check> {
    let EndpointFindings { abilities, context, model_context, .. } = found;
    let mut value = Vec::new();
    for (name, is_there) in [
        ("streams", abilities.streams),
        ("tools", abilities.tools),
        ("JSON schema", abilities.json_schema),
        ("usage in streams", abilities.usage_in_stream),
        ("cached tokens", abilities.cached),
    ] {
        match is_there {
            Some(true) => value.push(name.to_owned()),
            Some(false) => value.push(format!("no {name}")),
            None => {}
        }
    }
    value.extend(context.map(|tokens| format!("context {tokens}")));
    if context.is_none() {
        value.extend(model_context.map(|tokens| format!("context unknown, made for {tokens}")));
    }
    if value.is_empty() {
        return None;
    }
    // A harness file that cannot be read has a check of its own.
    let harness = super::harness_of(settings).ok();
    let title = harness
        .as_ref()
        .map_or("The harness".to_owned(), |run_harness| model::plain_line(&run_harness.title));
    let needs = harness.and_then(|run_harness| run_harness.needs);
    let mut doubts = AbilityDoubts::default();
    doubts.tools(found, &title, needs);
    doubts.streams(found, &title, needs);
    doubts.context(settings, found, &title, needs);
    doubts.slots(settings, found);
    doubts.json_schema(settings, found);
    doubts.cached(found);
    let mut check = Check::new("abilities", "Abilities", doubts.state(), value.join(", "));
    if !doubts.sentences.is_empty() {
        check = check.with_sentence(doubts.sentences.join(" "));
    }
    check.fix = doubts.fix;
    Some(check)
}

/// Whether the model that fills in the scenarios is the one of the run, at the same endpoint.
fn is_sampled_here(settings: &RunSettings) -> bool {
    let EndpointSettings::Gateway { base_url, .. } = &settings.endpoint else { return false };
    // The sampler takes an address with `/v1`, the gateway one without.
    let root = |address: &str| {
        let address = address.trim_end_matches('/');
        address.strip_suffix("/v1").unwrap_or(address).trim_end_matches('/').to_owned()
    };
    let sampler = settings.other_values.get("llm_sampler.base_url").and_then(serde_json::Value::as_str);
    crate::sampler::is_sampled(settings)
        && settings.generation.llm_sampler_model_id == settings.model
        && sampler.is_some_and(|address| root(address) == root(base_url))
}

/// What an endpoint lacks or does not tell of what a run needs.
#[derive(Default)]
struct AbilityDoubts {
    sentences: Vec<String>,
    is_missing: bool,
    is_unknown: bool,
    fix: Option<Fix>,
}

impl AbilityDoubts {
    fn state(&self) -> CheckState {
        match (self.is_missing, self.is_unknown) {
            (true, _) => CheckState::Warn,
            (false, true) => CheckState::Unknown,
            (false, false) => CheckState::Ok,
        }
    }

    fn missing(&mut self, sentence: String) {
        self.is_missing = true;
        self.sentences.push(sentence);
    }

    fn set(&mut self, label: String, field: &str, value: u64) {
        let action = FixAction::SetNumber { field: field.to_owned(), value: value as f64 };
        self.fix.get_or_insert(Fix { label, action });
    }

    fn tools(&mut self, found: &EndpointFindings, title: &str, needs: Option<Needs>) {
        if !needs.is_some_and(|needs| needs.tools) {
            return;
        }
        match found.abilities.tools {
            Some(true) => {}
            Some(false) => {
                let reason = found.abilities.tools_refused.as_deref().unwrap_or("without a reason");
                let remedy = match found.server {
                    Some(ServerKind::LlamaCpp) => "Start llama-server with --jinja.",
                    Some(ServerKind::Vllm) => {
                        "Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of this model."
                    }
                    Some(ServerKind::Sglang) => "Start SGLang with the --tool-call-parser of this model.",
                    Some(ServerKind::Ollama) => "Choose a model for which `ollama show` lists tools.",
                    Some(ServerKind::LmStudio) => "Choose a model that LM Studio marks for tool use.",
                    None => "Choose a model and an endpoint that call tools.",
                };
                self.missing(format!(
                    "{title} works by tool calls, which the endpoint refuses ({reason}). {remedy}"
                ));
            }
            None => {
                self.is_unknown = true;
                let problem = if found.abilities.tools_uncalled {
                    "the model did not call the one that it was offered. It may do so in a run; where it does not, attempts end as \
                     given up."
                } else {
                    "whether this model calls them is unknown: the endpoint did not answer that question, or the answer was cut \
                     short before a call. Check again, or look at the first attempts of the run."
                };
                self.sentences.push(format!("{title} works by tool calls, and {problem}"));
            }
        }
    }

    fn streams(&mut self, found: &EndpointFindings, title: &str, needs: Option<Needs>) {
        if !needs.is_some_and(|needs| needs.streams) {
            return;
        }
        if found.abilities.streams == Some(false) {
            self.missing(format!(
                "{title} reads answers as streams, and the endpoint sends none. Choose an endpoint that streams, or another harness."
            ));
        } else if found.abilities.usage_in_stream == Some(false) {
            self.missing(
                "Streams of the endpoint do not tell how many tokens they used: tokens and cost will be unknown. Choose an endpoint \
                 that takes stream_options.include_usage."
                    .to_owned(),
            );
        }
    }

    fn context(
        &mut self,
        settings: &RunSettings,
        found: &EndpointFindings,
        title: &str,
        needs: Option<Needs>,
    ) {
        let Some(context) = found.context else {
            self.made_for(settings, found, title);
            return;
        };
        // No setting of the server helps where it serves all that the model was made for.
        let is_all = found.model_context.is_some_and(|made_for| context >= made_for);
        let larger = match found.server.filter(|_| !is_all) {
            Some(ServerKind::LlamaCpp) => {
                "start llama-server with a larger -c, which its slots (-np) may have to share"
            }
            Some(ServerKind::Vllm) => "start vLLM with a larger --max-model-len",
            Some(ServerKind::Sglang) => "start SGLang with a larger --context-length",
            Some(ServerKind::Ollama) => "start Ollama with a larger OLLAMA_CONTEXT_LENGTH",
            Some(ServerKind::LmStudio) => "load the model with a longer context in LM Studio",
            None => "choose a model with a longer context",
        };
        if settings.context_window > context {
            self.missing(format!(
                "The endpoint serves {context} tokens of context, and endpoint.context_window says {}: {title} would ask for more than \
                 fits. Set it to {context}, or {larger}.",
                settings.context_window
            ));
            self.set(format!("Change to {context}"), "context_window", context);
        }
        if let Some(needs) = needs
            && context < needs.first_request_tokens() + LEAST_ROOM
        {
            self.missing(format!(
                "A context of {context} tokens is short: {title} needs about {} for its first request, and {LEAST_ROOM} more for the \
                 task, files and answers. To play long episodes, {larger}.",
                needs.first_request_tokens()
            ));
        }
    }

    /// Ollama and LM Studio tell what they keep of a conversation once the model is loaded. It is no more than the model was made for.
    fn made_for(&mut self, settings: &RunSettings, found: &EndpointFindings, title: &str) {
        let Some(tokens) = found.model_context.filter(|tokens| settings.context_window > *tokens) else {
            return;
        };
        self.missing(format!(
            "The model was made for {tokens} tokens of context, and endpoint.context_window says {}: {title} would ask for more than \
             fits. Set it to what the server keeps, which is not told and at most {tokens}.",
            settings.context_window
        ));
        self.set(format!("Change to {tokens}"), "context_window", tokens);
    }

    fn slots(&mut self, settings: &RunSettings, found: &EndpointFindings) {
        let Some(slots) = found.slots.filter(|slots| u64::from(settings.batch_size) > *slots) else { return };
        self.missing(format!(
            "The endpoint works on {} at once, and batch_size is {}: requests wait for one another while the time of their attempts \
             runs. Set it to {slots}, or start llama-server with -np {}.",
            counted(slots, "request"),
            settings.batch_size,
            settings.batch_size
        ));
        self.set(format!("Change to {slots}"), "batch_size", slots);
    }

    /// No harness needs it. The model that fills in scenarios is asked for it first, then for calls of a tool, then in prose.
    fn json_schema(&mut self, settings: &RunSettings, found: &EndpointFindings) {
        if found.abilities.json_schema != Some(false) {
            return;
        }
        if !is_sampled_here(settings) {
            self.sentences.push(
                "Answers do not keep to a JSON schema. No harness needs that; with use_llm_sampler the model would be asked in another \
                 form."
                    .to_owned(),
            );
            return;
        }
        let remedy = match found.server {
            Some(ServerKind::LlamaCpp) => "Use a newer llama-server.",
            Some(ServerKind::Vllm) => "Use a newer vLLM.",
            Some(ServerKind::Sglang) => "Start SGLang with --grammar-backend xgrammar.",
            Some(ServerKind::Ollama) => "Use Ollama 0.5 or later.",
            Some(ServerKind::LmStudio) => "Choose a model that LM Studio runs with structured output.",
            None => "Choose an endpoint and a model that take response_format with a JSON schema.",
        };
        let form = if found.abilities.tools == Some(true) { "by a tool" } else { "by a tool or in prose" };
        self.missing(format!(
            "The model that fills in the scenarios does not keep to a JSON schema: it is asked {form}, and more of its answers are \
             refused. {remedy}"
        ));
    }

    /// Nothing needs it, so it is no warning.
    fn cached(&mut self, found: &EndpointFindings) {
        if found.abilities.cached != Some(false) {
            return;
        }
        let remedy = match found.server {
            Some(ServerKind::Vllm) => " Start vLLM with --enable-prompt-tokens-details to have them told.",
            Some(ServerKind::Sglang) => " Start SGLang with --enable-cache-report to have them told.",
            _ => "",
        };
        self.sentences.push(format!("Cached tokens are not told and stay unknown.{remedy}"));
    }
}

#[cfg(test)]
mod tests;
