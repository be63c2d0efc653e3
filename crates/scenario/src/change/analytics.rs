//! Changes of analytics.

use super::claims::{claim, insert};
use super::refusal::{Refusal, refuse};
use crate::ir::{Analytic, Only, Removed, Schema};

pub(super) fn add(schema: &mut Schema, analytic: &Analytic) -> Result<(), Refusal> {
    claim(schema, &analytic.key)?;
    if analytic.name != analytic.key {
        claim(schema, &analytic.name)?;
    }
    schema.analytics.push(Analytic { introduced_in: schema.turn, ..analytic.clone() });
    Ok(())
}

fn position(schema: &Schema, key: &str) -> Result<usize, Refusal> {
    match schema.analytics.iter().position(|analytic| analytic.key == key) {
        Some(at) => Ok(at),
        None => refuse(format!("there is no analytic `{}`", key.escape_debug())),
    }
}

pub(super) fn remove(schema: &mut Schema, key: &str) -> Result<(), Refusal> {
    let at = position(schema, key)?;
    let analytic = schema.analytics.remove(at);
    insert(&mut schema.used, analytic.key);
    insert(&mut schema.used, analytic.name.clone());
    if analytic.introduced_in != schema.turn {
        schema.removed.push(Removed::Analytic { name: analytic.name });
    }
    Ok(())
}

pub(super) fn rename(schema: &mut Schema, key: &str, name: &str) -> Result<(), Refusal> {
    let at = position(schema, key)?;
    if schema.analytics[at].name == name {
        return refuse(format!("the analytic `{key}` has this name already"));
    }
    // Its first name is its own.
    if name != key {
        claim(schema, name)?;
    }
    let old = std::mem::replace(&mut schema.analytics[at].name, name.to_owned());
    insert(&mut schema.used, key.to_owned());
    insert(&mut schema.used, old.clone());
    if schema.analytics[at].introduced_in != schema.turn {
        schema.removed.push(Removed::Analytic { name: old });
    }
    Ok(())
}

/// Another restriction, or none.
pub(super) fn restrict(schema: &mut Schema, key: &str, only: Option<&Only>) -> Result<(), Refusal> {
    let at = position(schema, key)?;
    let analytic = &mut schema.analytics[at];
    let old = std::mem::replace(&mut analytic.only, only.cloned());
    if let Some(old) = old.filter(|_| only.is_none() && analytic.introduced_in != schema.turn) {
        schema.removed.push(Removed::AnalyticRestriction { analytic: key.to_owned(), only: old });
    }
    Ok(())
}

/// Another query parameter, or none.
pub(super) fn filter(schema: &mut Schema, key: &str, by: Option<&str>) -> Result<(), Refusal> {
    let at = position(schema, key)?;
    let analytic = &mut schema.analytics[at];
    let old = std::mem::replace(&mut analytic.by, by.map(ToOwned::to_owned));
    let new = analytic.introduced_in == schema.turn;
    let entity = analytic.entity.clone();
    // A reference that came in this turn was no parameter before it.
    if let Some(field) = old.filter(|field| !new && !super::lists::is_new(schema, &entity, field)) {
        schema.removed.push(Removed::AnalyticFilter { analytic: key.to_owned(), field });
    }
    Ok(())
}

pub(super) fn change(
    schema: &mut Schema,
    key: &str,
    change: impl FnOnce(&mut Analytic),
) -> Result<(), Refusal> {
    let at = position(schema, key)?;
    change(&mut schema.analytics[at]);
    Ok(())
}
