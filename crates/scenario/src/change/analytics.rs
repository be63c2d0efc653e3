//! Changes of analytics.

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::claims::{claim, insert};
use super::refusal::{Refusal, refuse};
use crate::ir::{Analytic, Key, Measure, RecordRestriction, Removed, Schema};

/// A change of an analytic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, EnumDiscriminants)]
#[serde(tag = "change", rename_all = "snake_case")]
#[strum_discriminants(name(AnalyticKind), derive(PartialOrd, Ord, IntoStaticStr, VariantNames))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "A kind of [`AnalyticChange`].")]
#[expect(missing_docs, reason = "fields are the keys of what is changed and its new value")]
pub enum AnalyticChange {
    /// A new analytic.
    AddAnalytic { analytic: Analytic },
    /// An analytic goes.
    RemoveAnalytic { analytic: Key },
    /// A new name for an analytic.
    RenameAnalytic { analytic: Key, name: String },
    /// It measures something else.
    ChangeMeasure { analytic: Key, measure: Measure },
    /// It is grouped by something else, or no more.
    ChangeGrouping { analytic: Key, group_by: Option<Key> },
    /// It takes other records.
    ChangeRestriction { analytic: Key, only: Option<RecordRestriction> },
    /// It gets, changes or loses its query parameter.
    ChangeAnalyticFilter { analytic: Key, by: Option<Key> },
}

impl AnalyticChange {
    /// The key of the analytic.
    pub fn analytic(&self) -> &str {
        match self {
            Self::AddAnalytic { analytic } => &analytic.key,
            Self::RemoveAnalytic { analytic }
            | Self::RenameAnalytic { analytic, .. }
            | Self::ChangeMeasure { analytic, .. }
            | Self::ChangeGrouping { analytic, .. }
            | Self::ChangeRestriction { analytic, .. }
            | Self::ChangeAnalyticFilter { analytic, .. } => analytic,
        }
    }

    pub(super) fn perform(&self, schema: &mut Schema) -> Result<(), Refusal> {
        let key = self.analytic();
        match self {
            Self::AddAnalytic { analytic } => add(schema, analytic),
            Self::RemoveAnalytic { .. } => remove(schema, key),
            Self::RenameAnalytic { name, .. } => rename(schema, key, name),
            Self::ChangeMeasure { measure, .. } => {
                let index = position(schema, key)?;
                schema.analytics[index].measure = measure.clone();
                Ok(())
            }
            Self::ChangeGrouping { group_by, .. } => {
                let index = position(schema, key)?;
                schema.analytics[index].group_by.clone_from(group_by);
                Ok(())
            }
            Self::ChangeRestriction { only, .. } => restrict(schema, key, only.as_ref()),
            Self::ChangeAnalyticFilter { by, .. } => filter(schema, key, by.as_deref()),
        }
    }
}

fn add(schema: &mut Schema, analytic: &Analytic) -> Result<(), Refusal> {
    claim(schema, &analytic.key)?;
    if analytic.name != analytic.key {
        claim(schema, &analytic.name)?;
    }
    schema.analytics.push(Analytic { introduced_in: schema.turn, ..analytic.clone() });
    Ok(())
}

fn position(schema: &Schema, key: &str) -> Result<usize, Refusal> {
    match schema.analytics.iter().position(|analytic| analytic.key == key) {
        Some(index) => Ok(index),
        None => refuse(format!("there is no analytic `{}`", key.escape_debug())),
    }
}

pub(super) fn remove(schema: &mut Schema, key: &str) -> Result<(), Refusal> {
    let index = position(schema, key)?;
    let analytic = schema.analytics.remove(index);
    insert(&mut schema.used, analytic.key);
    insert(&mut schema.used, analytic.name.clone());
    if analytic.introduced_in != schema.turn {
        schema.removed.push(Removed::Analytic { name: analytic.name });
    }
    Ok(())
}

fn rename(schema: &mut Schema, key: &str, name: &str) -> Result<(), Refusal> {
    let index = position(schema, key)?;
    if schema.analytics[index].name == name {
        return refuse(format!("the analytic `{key}` has this name already"));
    }
    // Its first name is its own.
    if name != key {
        claim(schema, name)?;
    }
    let old = std::mem::replace(&mut schema.analytics[index].name, name.to_owned());
    insert(&mut schema.used, key.to_owned());
    insert(&mut schema.used, old.clone());
    if schema.analytics[index].introduced_in != schema.turn {
        schema.removed.push(Removed::Analytic { name: old });
    }
    Ok(())
}

/// Another restriction, or none.
fn restrict(schema: &mut Schema, key: &str, only: Option<&RecordRestriction>) -> Result<(), Refusal> {
    let index = position(schema, key)?;
    let analytic = &mut schema.analytics[index];
    let old = std::mem::replace(&mut analytic.only, only.cloned());
    if let Some(old) = old.filter(|_| only.is_none() && analytic.introduced_in != schema.turn) {
        schema.removed.push(Removed::AnalyticRestriction { analytic: key.to_owned(), only: old });
    }
    Ok(())
}

/// Another query parameter, or none.
fn filter(schema: &mut Schema, key: &str, group_field: Option<&str>) -> Result<(), Refusal> {
    let index = position(schema, key)?;
    let analytic = &mut schema.analytics[index];
    let old = std::mem::replace(&mut analytic.by, group_field.map(ToOwned::to_owned));
    let new = analytic.introduced_in == schema.turn;
    let entity = analytic.entity.clone();
    // A reference that came in this turn was no parameter before it.
    if let Some(field) = old.filter(|field| !new && !super::lists::is_new(schema, &entity, field)) {
        schema.removed.push(Removed::AnalyticFilter { analytic: key.to_owned(), field });
    }
    Ok(())
}
