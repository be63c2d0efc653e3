//! What was read, in SQLite: one file, written by one connection at a time, read by many.
//!
//! How this crate is built:
//! * A table belongs to one module. Its columns, its migrations ([`schema`]), its writes and its queries stand there.
//! * [`Store`] has the methods of all modules (`impl Store` in each); every method is one transaction, and blocks.
//!   Call them from a thread that may block. The lock on the writing connection is held for the write only.
//! * Readers see the library before or after a write, never in between: each reading method runs in one snapshot.
//! * Row ids ([`SourceId`], [`RunId`], [`EpisodeId`]) are for calls inside the program. Outside, in links and on the
//!   command line, runs and episodes have *slugs*, which survive re-reading and closing ([`slugs`]).
//! * Unknown is NULL. Counts are never stored as text, words of `model` are stored as their `as_str`.
//! * Whatever the tables hold came from a source folder and may be hostile: sizes are capped before they are stored
//!   ([`limits`]), and every value is bound, never written into SQL.

mod abilities;
mod annotations;
mod attempt_totals;
mod cached_input;
mod changes;
mod column_names;
mod connection;
mod copies;
mod episode_turns;
mod episodes;
mod error;
mod grader;
mod identities;
mod interned;
mod library;
pub mod limits;
mod origins;
mod parts;
mod policy;
mod runs;
pub mod schema;
mod search;
mod sessions;
pub mod slugs;
mod sources;
mod summaries;
mod texts;
mod turns;
mod values;
mod views;
mod warnings;
mod withdrawn;

pub use attempt_totals::{AttemptTotals, RewardTotals};
pub use changes::Changes;
pub use connection::Store;
pub use copies::{EpisodeCopy, SharedEpisodes};
pub use episode_turns::{EpisodeTurns, KnownSum, PlayedTurn, Used};
pub use episodes::{EpisodeEntry, EpisodeRecord};
pub use error::StoreError;
pub use grader::{GraderMention, GraderMentions};
pub use identities::OTHER_IDENTITY;
pub use library::{Facet, Facets, GroupBy, GroupEntry, LibraryCounts, RunFilter, RunList, RunOrder};
pub use parts::PartRead;
pub use runs::{EpisodeTimes, RunEntry, RunRecord};
pub use search::{Match, MatchKind, Matches, around, episode_name};
pub use sessions::SessionEntry;
pub use sources::{ClosedSource, Source, SourceCounts};
pub use summaries::{StaleRun, Summary, Totals};
pub use texts::{TextCandidate, TextClaim, TextOwner, TextsKnown, TextsRead, UnindexedEpisode, add_words};
pub use turns::TurnEntry;
pub use warnings::{CodeCount, WarningFilter, WarningPage};

/// Number of a source in the store.
pub type SourceId = i64;
/// Number of a run in the store. Not stable over closing; see the slug for that.
pub type RunId = i64;
/// Number of an episode in the store. Not stable over closing; see the slug for that.
pub type EpisodeId = i64;

/// What every method of [`Store`] gives.
pub type Result<T> = std::result::Result<T, StoreError>;
