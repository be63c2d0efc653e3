//! Changes of analytics.

use super::apply::{Refusal, claim, insert, refuse};
use crate::ir::{Analytic, Gone, Schema};

pub(super) fn add(schema: &mut Schema, analytic: &Analytic) -> Result<(), Refusal> {
    claim(schema, &analytic.key)?;
    if analytic.name != analytic.key {
        claim(schema, &analytic.name)?;
    }
    schema.analytics.push(Analytic { since: schema.turn, ..analytic.clone() });
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
    if analytic.since != schema.turn {
        schema.gone.push(Gone::Analytic { name: analytic.name });
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
    if schema.analytics[at].since != schema.turn {
        schema.gone.push(Gone::Analytic { name: old });
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
