//! What a model endpoint can do.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What an endpoint can do with a model. `None` = unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EndpointAbilities {
    /// It sends an answer in pieces.
    pub streams: Option<bool>,
    /// The model calls a tool that it is offered.
    pub tools: Option<bool>,
    /// It keeps to a JSON schema.
    pub json_schema: Option<bool>,
    /// A stream reports its usage.
    pub usage_in_stream: Option<bool>,
    /// Usage tells the cached part of the input.
    pub cached: Option<bool>,
    /// Tokens of the context with which the model is served.
    #[ts(type = "number | null")]
    pub context: Option<u64>,
}
