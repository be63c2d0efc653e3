//! The sampler that lets a model fill in names, fields and details.
//!
//! [`LlmSampler`] generates the same parts from the seed as the programmatic sampler: the domain topic, the conventions, the
//! size of the first schema, and the kind of every change. It requests the content of a change from a model. If the endpoint
//! supports a form of the answer (a JSON schema, else a tool), the form has the changes that the schema accepts. Otherwise
//! the request is in prose.
//!
//! An answer is accepted only if it is a change of this kind that [`scenario::change::apply`] accepts. Otherwise the model
//! gets the reason and a new request. After [`ATTEMPTS`] attempts, the generated change is used instead
//! ([`Origin::Replaced`](scenario::sample::Origin)). Every answer is recorded, so that a pack replays without the model
//! ([`Replay`]), and written at once, so that an aborted generation can be resumed ([`Journal`]).
//!
//! The text of a model is hostile until it is checked: [`answer`] parses and bounds it.

mod answer;
mod answer_request;
#[cfg(feature = "bedrock")]
mod bedrock;
mod change_meanings;
mod dialect;
mod journal;
mod model;
mod model_calls;
mod offered_choices;
mod openai;
mod part_keys;
mod prompt;
mod replay;
mod sampler;
mod schema_text;
mod settings;
mod tally;
mod tls;

pub use self::answer_request::ATTEMPTS;
#[cfg(feature = "bedrock")]
pub use self::bedrock::{Bedrock, REGION};
pub use self::journal::Journal;
pub use self::model::{Call, Conversation, Failure, Message, Model, Question, Speaker};
pub use self::model_calls::Limits;
pub use self::openai::{OPENAI, OpenAi, is_address_of_this_machine};
pub use self::replay::Replay;
pub use self::sampler::LlmSampler;
pub use self::settings::{Endpoint, Settings};
pub use self::tally::{Counts, Tally};

/// Why no model is usable, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableModel(pub String);
