//! The only way from an agent to a model.
//!
//! A [`Gateway`] listens where containers can reach it. Every attempt has its own address and key ([`Gateway::open`]). They
//! are worthless elsewhere and stop working when the attempt ends ([`Attempt::close`]).
//!
//! The gateway forwards requests to the [`Upstream`] with the real key and streams the answers back. It records every request
//! ([`Record`]): model, tokens, latency, status, retries. Faults of the endpoint are retried with back-off. Where they
//! persist, the attempt ends with [`StopReason::Endpoint`], which does not count as a failure of the agent. All decisions of
//! this kind are rows of one table: `fault_attribution/table.rs`. Budgets are enforced here: once one is spent, no request is
//! forwarded ([`StopReason::Budget`]).
//!
//! Three APIs pass unchanged: `OpenAI` chat completions, `OpenAI` responses, Anthropic messages. The gateway does not
//! translate between them: the endpoint has to speak the API of the harness.
//!
//! One upstream needs no endpoint: the simulated model ([`simulated_model`]).

mod abilities;
mod accounts;
mod attempt;
mod attempt_state;
pub mod clock;
mod cost;
mod endpoint_check;
mod endpoint_time;
mod error;
mod fault_attribution;
mod fields;
mod forward;
mod hash;
mod in_flight;
pub mod keys;
mod listener;
mod listing;
mod log;
mod overflow;
mod price;
mod record;
mod recorder;
mod refusal;
mod request;
mod request_state;
mod retry;
mod route;
mod secret;
mod send;
mod serve;
mod settings;
pub mod simulated_model;
mod small_request;
mod socket;
mod speed;
mod sse;
mod state;
mod stream;
mod text;
mod tools;
mod upstream;
mod usage;

pub use abilities::{Abilities, abilities};
pub use attempt::Attempt;
pub use endpoint_check::{UnusableEndpoint, UsableEndpoint, check_endpoint};
pub use error::{EndpointProblem, GatewayError};
pub use fault_attribution::table::EndedBy;
pub use fault_attribution::{EndpointFault, FaultTreatment};
pub use listing::{ListedModel, ModelList, ServerKind, list_models};
pub use log::{LogLine, LogTotals, RequestFault, RequestStart, read_totals};
pub use price::PriceTable;
pub use record::{
    AttemptKey, AttemptSummary, Guess, Record, Scope, Spent, StopReason, StreamTimes, Termination,
    WaitingRequest,
};
pub use route::{Answer, Route};
pub use secret::Secret;
pub use serve::Gateway;
pub use settings::{Budget, Budgets, Price, Retry, Settings, Upstream};
pub use speed::{Speed, Speeds, TokensPerSecond};
