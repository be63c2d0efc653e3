//! Model endpoints and the models that they offer.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::KeyPlace;

/// Asks which models there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct ListEndpoints {
    /// Addresses of endpoints, with or without `/v1`; none = the usual ports of this machine's loopback address.
    pub urls: Vec<String>,
    /// Where the key of these addresses is. The usual ports are asked without one.
    pub key_place: KeyPlace,
    /// Name of the variable or keychain entry.
    pub key_name: String,
}

/// Endpoints that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EndpointList {
    /// In the order in which they were named; of the usual ports those at which an endpoint answers.
    pub endpoints: Vec<ListedEndpoint>,
}

/// An endpoint and its models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ListedEndpoint {
    /// Its address.
    pub base_url: String,
    /// `ollama`, `llama_cpp`, `vllm`, `lm_studio` or `sglang`; `None` = unknown.
    pub server: Option<String>,
    /// The same for a person: `llama.cpp`.
    pub title: Option<String>,
    /// Its models, in its order.
    pub models: Vec<OfferedModel>,
    /// Requests that it works on at once; `None` = not told.
    #[ts(type = "number | null")]
    pub slots: Option<u64>,
    /// Why it tells no models, and what to do.
    pub problem: Option<String>,
}

/// A model that an endpoint offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OfferedModel {
    /// Its name at the endpoint.
    pub id: String,
    /// Tokens of the context with which it is served; `None` = not told.
    #[ts(type = "number | null")]
    pub context: Option<u64>,
    /// Tokens of the context that it was made for, which may be more than is served; `None` = not told.
    #[ts(type = "number | null")]
    pub model_context: Option<u64>,
}
