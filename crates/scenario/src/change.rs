//! The action space: every kind of change that a turn can bring, as typed data.
//!
//! A [`Change`] is applied by [`apply`], a pure function from schema to schema that keeps the schema valid
//! ([`crate::check::check`]) or refuses with a reason. It never changes a schema half. Changes carry everything that is
//! needed to apply them again (a pack replays without its sampler). Entities, fields, actions, guards, analytics are
//! addressed by their keys; what is new is carried whole, with its keys.
//!
//! Each part of a schema has a file with the kinds of its changes, and with what they do.

mod actions;
mod analytics;
mod apply;
mod claims;
mod constraints;
mod conventions;
mod entities;
mod enums;
mod fields;
mod lists;
mod parts;
mod refusal;
pub mod uses;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use strum::VariantNames as _;

pub use self::actions::{ActionChange, ActionKind};
pub use self::analytics::{AnalyticChange, AnalyticKind};
pub(crate) use self::apply::FollowingSchema;
pub use self::apply::{apply, next_turn};
pub use self::constraints::{ConstraintChange, ConstraintKind};
pub use self::conventions::{ConventionChange, ConventionKind, ErrorKind, StatusKind};
pub use self::entities::{EntityChange, EntityKind};
pub use self::fields::{FieldChange, FieldKind};
pub use self::lists::{ListChange, ListKind};
pub use self::refusal::Refusal;

/// One change of a schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the parts of a schema")]
pub enum Change {
    Entity(EntityChange),
    Field(FieldChange),
    Constraint(ConstraintChange),
    Action(ActionChange),
    Analytic(AnalyticChange),
    List(ListChange),
    Convention(ConventionChange),
}

/// A kind of [`Change`], without what is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants of Change")]
pub enum ChangeKind {
    Entity(EntityKind),
    Field(FieldKind),
    Constraint(ConstraintKind),
    Action(ActionKind),
    Analytic(AnalyticKind),
    List(ListKind),
    Convention(ConventionKind),
}

impl Change {
    /// Its kind.
    pub fn kind(&self) -> ChangeKind {
        match self {
            Self::Entity(change) => ChangeKind::Entity(change.into()),
            Self::Field(change) => ChangeKind::Field(change.into()),
            Self::Constraint(change) => ChangeKind::Constraint(change.into()),
            Self::Action(change) => ChangeKind::Action(change.into()),
            Self::Analytic(change) => ChangeKind::Analytic(change.into()),
            Self::List(change) => ChangeKind::List(change.into()),
            Self::Convention(change) => ChangeKind::Convention(change.into()),
        }
    }

    /// The key of the entity that it is about; none for analytics and conventions.
    pub fn entity(&self) -> Option<&str> {
        match self {
            Self::Entity(change) => Some(change.entity()),
            Self::Field(change) => Some(change.keys().0),
            Self::Constraint(change) => Some(change.keys().0),
            Self::Action(change) => Some(change.keys().0),
            Self::List(change) => Some(change.entity()),
            Self::Analytic(_) | Self::Convention(_) => None,
        }
    }
}

impl ChangeKind {
    /// The word of the kind in packs: `add_field`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Entity(kind) => kind.into(),
            Self::Field(kind) => kind.into(),
            Self::Constraint(kind) => kind.into(),
            Self::Action(kind) => kind.into(),
            Self::Analytic(kind) => kind.into(),
            Self::List(kind) => kind.into(),
            Self::Convention(kind) => kind.into(),
        }
    }
}

type PartReader = fn(Value) -> Result<Change, serde_json::Error>;

/// The words of the kinds of each part, and what reads them. Serde's own untagged enums would only say that nothing fits.
static PARTS: [(&[&str], PartReader); 7] = [
    (EntityKind::VARIANTS, |json| serde_json::from_value(json).map(Change::Entity)),
    (FieldKind::VARIANTS, |json| serde_json::from_value(json).map(Change::Field)),
    (ConstraintKind::VARIANTS, |json| serde_json::from_value(json).map(Change::Constraint)),
    (ActionKind::VARIANTS, |json| serde_json::from_value(json).map(Change::Action)),
    (AnalyticKind::VARIANTS, |json| serde_json::from_value(json).map(Change::Analytic)),
    (ListKind::VARIANTS, |json| serde_json::from_value(json).map(Change::List)),
    (ConventionKind::VARIANTS, |json| serde_json::from_value(json).map(Change::Convention)),
];

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        let word = json.get("change").and_then(Value::as_str);
        let word = word.ok_or_else(|| D::Error::missing_field("change"))?;
        let Some((_, read)) = PARTS.iter().find(|(words, _)| words.contains(&word)) else {
            let words = PARTS.map(|(words, _)| words).concat().join("`, `");
            return Err(D::Error::custom(format!("unknown variant `{word}`, expected one of `{words}`")));
        };
        read(json).map_err(D::Error::custom)
    }
}

#[cfg(test)]
pub(crate) mod tests;
