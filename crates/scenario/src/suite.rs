//! The test suite of a turn, as data that any language can run.
//!
//! A [`Suite`] is a list of [`Case`]s. Before each case the server is reset ([`Suite::reset`]). A case is a list of
//! [`Step`]s: either *make* a record by one of the suite's [`Builder`]s, or send a request and hold its answer against
//! [`Assertion`]s. A step may keep its answer's body under a name (`as`); later paths, queries and bodies take values
//! from it.
//!
//! **Captures.** In paths and query values `{orders_1.id}` stands for the value at the dotted path in the body that was
//! kept as `orders_1`. In bodies and expected values an object with the single key `$`, `{"$": "orders_1.id"}`, stands
//! for it. A capture that is not there fails the case.
//!
//! **Equality of JSON.** Numbers are equal if they differ by at most 1e-6 (1 = 1.0); booleans are not numbers; objects
//! compare as sets of keys; lists in order.
//!
//! **Bodies.** In an answer without a body nothing is at any place, `""` included. A body that is no JSON fails a step that
//! has assertions; kept, it is null.
//!
//! **As a file** it is shorter than in memory: what its builders or the files of earlier turns say already is not repeated
//! (`suite/json_writer.rs`).
//!
//! **Identity.** [`Case::id`] is made of keys, so it stays over renames. [`Case::mark`] compares the case with the one of
//! the same id in the suite before, captures and builders resolved.

mod actions;
mod analytics;
mod computed;
mod conventions;
mod deletion;
mod dependencies;
mod draft;
mod failure;
mod fields;
mod generate;
mod guards;
mod json_reader;
mod json_writer;
mod lists;
mod marks;
mod memory_budget;
mod plan;
mod records;
mod references;
mod removed;
mod rules;
mod shorthand;
mod state;
#[cfg(test)]
mod tests;
mod unstated_demands;
mod values;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

pub(crate) use self::dependencies::Blocks;
pub use self::generate::suite;
pub(crate) use self::generate::{NextSuite, PreviousTurn, next_suite};
pub(crate) use self::json_reader::SuiteFile;
pub(crate) use self::json_writer::SuiteFiles;
pub(crate) use self::shorthand::{Shorthand, SimilarBody};
pub use self::unstated_demands::{UnstatedDemand, unstated_demands};

/// The version of this format.
pub const SUITE_VERSION: &str = "stamina-suite/3";

/// All tests of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// [`SUITE_VERSION`].
    pub version: String,
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// Sent before every case; its answer is only checked to be below 400.
    pub reset: Reset,
    /// How records are made.
    pub builders: Vec<Builder>,
    /// In a fixed order: conventions, then entity by entity, then analytics.
    pub cases: Vec<Case>,
}

/// The request that clears all data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// `POST`.
    pub method: Method,
    /// `/reset`.
    pub path: String,
}

/// How records of an entity are made: a create with a valid body. It has the required fields only: what a case is about
/// it gives itself ([`RecordStep::with`]), so that a new field leaves the cases that have nothing to do with it as they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Builder {
    /// Key of the entity.
    pub entity: String,
    /// Of the collection.
    pub path: String,
    /// Expected status.
    pub status: u16,
    /// `bodies[n − 1]` is the body of the `n`th record; all valid beside one another. References are captures of
    /// `{entity}_1.id`, which a case makes before. Three to five.
    pub bodies: Vec<Value>,
}

/// A test.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Stable over turns: `orders.cancel.guard.shipped`.
    pub id: String,
    /// What it checks, in words, with the names of this turn: ``Cancelling an order whose `status` is `shipped` is refused``.
    pub title: String,
    /// What kind of rule it checks.
    pub aspect: Aspect,
    /// Against the suite before.
    pub mark: Mark,
    /// Ids of the clauses of the specification (or, for what was removed, of the request) that state what it demands.
    pub clauses: Vec<String>,
    /// In order; the case ends at the first that fails.
    pub steps: Vec<Step>,
}

impl Case {
    /// What is left of one that was removed.
    pub(crate) fn placeholder() -> Self {
        Self {
            id: String::new(),
            title: String::new(),
            aspect: Aspect::Route,
            mark: Mark::New,
            clauses: Vec::new(),
            steps: Vec::new(),
        }
    }
}

/// What kind of rule a case checks; the classes of failures are made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// A route answers at all, in its simplest use.
    Route,
    /// A record is kept and shown as it was given.
    Record,
    /// Something invalid is refused (fails when validation is too lax).
    Refuses,
    /// Something valid is accepted (fails when validation is too strict or a rule was invented).
    Accepts,
    /// Null refused or accepted.
    Nullability,
    /// What an absent field becomes.
    Default,
    /// Unique values.
    Unique,
    /// Set at creation only.
    Immutable,
    /// A computed field.
    Computed,
    /// What happens to records that refer to a deleted one.
    DeleteRule,
    /// Soft delete.
    SoftDelete,
    /// A filter.
    Filter,
    /// An order.
    Sort,
    /// Pages.
    Page,
    /// A nested route.
    Nested,
    /// An action's effects.
    Effect,
    /// An action's guard.
    Guard,
    /// A number over records.
    Analytic,
    /// Error bodies, statuses, unknown fields, reset.
    Convention,
    /// Something that is not there any more: an old name or route.
    #[serde(rename = "gone")]
    Removed,
}

/// A case against the one of the same id in the turn before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// There was none.
    New,
    /// It demands something else now.
    Changed,
    /// It demands the same: its failure now is a regression if it passed before.
    Kept,
}

/// A request method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[expect(missing_docs, reason = "methods of HTTP")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// `GET`, …
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A step of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// Make a record.
    Record(RecordStep),
    /// Send a request.
    Request(RequestStep),
}

/// Makes a record by a builder and keeps its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordStep {
    /// Key of the entity.
    pub make: String,
    /// Which body, from 1.
    pub nth: u32,
    /// Kept under this name; by custom `{entity}_{nth}`.
    #[serde(rename = "as")]
    pub keep: String,
    /// Replaces keys of the body (JSON names).
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub with: serde_json::Map<String, Value>,
}

/// Sends a request and looks at its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestStep {
    /// Method.
    pub method: Method,
    /// Path, with captures.
    pub path: String,
    /// Query parameters in order; values with captures, not yet encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<(String, String)>,
    /// JSON body, with captures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Expected status.
    pub status: u16,
    /// On the body of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Assertion>,
    /// Keep the body under this name.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
}

/// What the body of an answer must be. `at` is a JSON pointer (RFC 6901), `""` the whole body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Assertion {
    /// The value there equals `value` (with captures).
    Equal {
        /// Where.
        at: String,
        /// What.
        value: Value,
    },
    /// The object there has at least these keys with these values (with captures).
    Has {
        /// Where.
        at: String,
        /// What.
        value: serde_json::Map<String, Value>,
    },
    /// Nothing is there.
    Absent {
        /// Where.
        at: String,
    },
    /// There is a text that is not empty.
    Text {
        /// Where.
        at: String,
    },
    /// There is an integer of at least 1.
    Id {
        /// Where.
        at: String,
    },
    /// The list there has, in this order, objects with these values under `key` (with captures).
    Column {
        /// Where the list is.
        at: String,
        /// Key in each object.
        key: String,
        /// Values.
        values: Vec<Value>,
    },
    /// The list there has exactly these objects, in any order (with captures); each has at least the keys given.
    Rows {
        /// Where the list is.
        at: String,
        /// Rows.
        rows: Vec<serde_json::Map<String, Value>>,
    },
}
