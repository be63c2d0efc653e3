//! The library in SQLite: one file, which one connection at a time writes and many read.
//!
//! How this crate is built:
//! * A table belongs to one module, which has its columns, its migrations ([`schema`]), its writes and its queries.
//!   `tests/schema.sql` shows every table with its module.
//! * [`Store`] has the methods of all modules (`impl Store` in each). Every method is one transaction and blocks the
//!   thread. The lock on the writing connection is held for the write only.
//! * Readers see the library before or after a write, never during it: each reading method runs in one snapshot.
//! * Row ids ([`SourceId`], [`RunId`], [`EpisodeId`]) are for calls inside the program. Links and the command line use
//!   *slugs* of runs and episodes, which survive reading again and closing ([`slugs`]).
//! * Unknown is NULL. Counts are never stored as text. Words of `model` are stored as their `as_str`.
//! * Values come from source folders and may be hostile. Their sizes are capped before they are stored ([`limits`]), and
//!   every value is bound, never written into SQL.

mod abilities;
mod annotations;
mod attempt_remarks;
mod attempt_totals;
mod cached_input;
mod changes;
mod column_names;
mod connection;
mod copied_runs;
mod copies;
mod copy_quality;
mod episode_turns;
mod episodes;
mod error;
mod excerpt;
mod grader;
mod identities;
mod import_report;
mod insert;
mod interned;
mod latest_answer;
mod library;
pub mod limits;
mod migration;
mod omitted_counts;
mod origins;
mod parts;
mod policy;
mod processes_left;
mod rows;
mod runs;
pub mod schema;
mod search;
mod sessions;
mod shared_trials;
mod shown_warnings;
pub mod slugs;
mod sources;
mod summaries;
mod texts;
mod turns;
mod undeclared_turns;
mod values;
mod views;
mod withdrawn;
mod withdrawn_filter;
mod write;

pub use attempt_remarks::{AttemptRemarks, IncompleteAttempt, RetriedAttempt};
pub use attempt_totals::{AttemptTotals, RewardTotals};
pub use changes::Changes;
pub use connection::Store;
pub use copied_runs::{CopiesLeftOut, LeftOutRun};
pub use copies::{EpisodeCopy, SharedEpisodes};
pub use episode_turns::{EpisodeTurns, KnownSum, PlayedTurn, UsedTotals};
pub use episodes::{EpisodeEntry, EpisodeRecord};
pub use error::StoreError;
pub use excerpt::excerpt_around;
pub use grader::{GraderMention, GraderMentions};
pub use identities::{OTHER_IDENTITY, REGRADED, SOURCE_TRIAL};
pub use import_report::{WarningFilter, WarningGroup, WarningPage};
pub use library::{Facets, GroupEntry, LibraryCounts, RunFilter, RunGrouping, RunList, RunSort};
pub use omitted_counts::OmittedCounts;
pub use parts::ParsedPart;
pub use processes_left::{ProcessesLeft, UnconfirmedAttempt};
pub use runs::{EpisodeTimes, JOB_ID, RunEntry, RunRecord};
pub use search::{
    MatchKind, MatchRank, SearchHit, SearchHits, SearchQuery, SearchTerm, by_rank, episode_name,
};
pub use sessions::SessionEntry;
pub use sources::{ClosedSource, Source, SourceCounts};
pub use summaries::{StaleRun, Summary, Totals};
pub use texts::{
    IndexProgress, TextCandidate, TextClaim, TextCoverage, TextOwner, UnindexedEpisode, add_words,
};
pub use turns::TurnRow;
pub use undeclared_turns::UndeclaredTurns;
pub use views::SavedView;

/// Number of a source in the store.
pub type SourceId = i64;
/// Number of a run in the store. It changes when its source is closed and opened again; a slug does not.
pub type RunId = i64;
/// Number of an episode in the store. It changes when its source is closed and opened again; a slug does not.
pub type EpisodeId = i64;

/// The result of every method of [`Store`].
pub type Result<T> = std::result::Result<T, StoreError>;
