//! The sampler that lets a model fill in names, fields and details.
//!
//! [`LlmSampler`] draws from the seed what the programmatic sampler would: the domain topic, the conventions, the size of
//! the first schema, and the kind of every change. What a change is about it asks a model for: in a form made of the
//! changes that the schema accepts where the endpoint takes one (JSON schema, else a tool), else in prose. An answer is
//! taken only if it is a change of that kind that [`scenario::change::apply`] accepts; otherwise the model hears why and is asked
//! again, and after [`ATTEMPTS`] attempts the change that was drawn takes its place
//! ([`Origin::Replaced`](scenario::sample::Origin)). Every answer is recorded, so that a pack replays without the model
//! ([`Replay`]), and kept as it comes, so that a generation that breaks off can be resumed ([`Journal`]).
//!
//! What a model says is hostile until it has been checked: [`answer`] reads and bounds it.

mod answer;
mod ask;
#[cfg(feature = "bedrock")]
mod bedrock;
mod compact;
mod dialect;
mod journal;
mod kinds;
mod live;
mod model;
mod offer;
mod openai;
mod prompt;
mod rekey;
mod replay;
mod sampler;
mod settings;
mod tally;
mod tls;

pub use self::ask::ATTEMPTS;
#[cfg(feature = "bedrock")]
pub use self::bedrock::{Bedrock, REGION};
pub use self::journal::Journal;
pub use self::live::Limits;
pub use self::model::{Call, Conversation, Failure, Message, Model, Question, Speaker};
pub use self::openai::{OPENAI, OpenAi};
pub use self::replay::Replay;
pub use self::sampler::LlmSampler;
pub use self::settings::{Endpoint, Settings};
pub use self::tally::{Counts, Tally};

/// Why no model can be asked at all, in words that say what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unready(pub String);
