//! Mutants: servers that are wrong in one way. A suite is worth what it notices.
//!
//! An [`Operator`] is a way to be wrong, a [`Site`] a place of a schema where it can be done. [`sites`] lists them all,
//! in a fixed order and without making anything, so that a caller can take a sample; [`Site::make`] makes the
//! [`Mutant`]: a changed schema, or the same schema with a [`Flaw`] of the reference server. What could not be told from
//! the reference by any request is no site. A mutant's schema may break rules of [`scenario::check`]; servers take it all
//! the same.

mod actions;
mod analytics;
mod changes;
mod conventions;
mod entities;
mod facts;
mod fields;
mod flaws;
mod operator;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use scenario::change::Change;
use scenario::ir::Schema;
use scenario::reference::Flaw;

pub use self::operator::Operator;

/// A server that is wrong in one way.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutant {
    /// In which way.
    pub operator: Operator,
    /// Where, in keys as in the ids of cases, and after a space in which way if there are several: `orders.title`,
    /// `orders.total integer min 1`, `orders.cancel.guard.shipped`; for a flaw its name.
    pub site: String,
    /// What it interprets.
    pub schema: Arc<Schema>,
    /// What else is wrong with it.
    pub flaws: BTreeSet<Flaw>,
}

/// A place where an operator can be used.
pub struct Site<'a> {
    /// The operator.
    pub operator: Operator,
    /// As [`Mutant::site`].
    pub location: String,
    mutation: Mutation<'a>,
}

type Edit<'a> = Box<dyn Fn(&mut Schema) + Send + Sync + 'a>;

enum Mutation<'a> {
    Flaw(Flaw),
    Edit(Edit<'a>),
    /// Nothing if the change cannot be left out.
    ChangeLeftOut {
        before: &'a Schema,
        changes: &'a [Change],
        index: usize,
    },
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.operator.name(), self.location)
    }
}

impl Site<'_> {
    /// The mutant of this place; nothing if it turns out to be no other server.
    pub fn make(&self, schema: &Arc<Schema>) -> Option<Mutant> {
        let (schema, flaws) = match &self.mutation {
            Mutation::Flaw(flaw) => (Arc::clone(schema), BTreeSet::from([*flaw])),
            Mutation::Edit(edit) => {
                let mut changed = Schema::clone(schema);
                edit(&mut changed);
                (changed != **schema).then(|| (Arc::new(changed), BTreeSet::new()))?
            }
            Mutation::ChangeLeftOut { before, changes, index } => {
                let changed = changes::without_change(before, changes, *index, schema)?;
                (Arc::new(changed), BTreeSet::new())
            }
        };
        Some(Mutant { operator: self.operator, site: self.location.clone(), schema, flaws })
    }
}

/// The places found so far.
struct Sites<'a>(Vec<Site<'a>>);

impl<'a> Sites<'a> {
    fn edit(
        &mut self,
        operator: Operator,
        location: impl Into<String>,
        edit: impl Fn(&mut Schema) + Send + Sync + 'a,
    ) {
        self.0.push(Site { operator, location: location.into(), mutation: Mutation::Edit(Box::new(edit)) });
    }
}

/// All places of a schema where it can be wrong. With the schema of the turn before and the changes that led here, also
/// what comes of changes that are not done.
pub fn sites<'a>(before: Option<(&'a Schema, &'a [Change])>, schema: &'a Schema) -> Vec<Site<'a>> {
    let mut sites = Sites(Vec::new());
    if let Some((before, changes)) = before {
        changes::find(before, changes, schema, &mut sites);
    }
    conventions::find(schema, &mut sites);
    for (index, entity) in schema.entities.iter().enumerate() {
        entities::find(index, entity, &mut sites);
        for (field_index, field) in entity.fields.iter().enumerate() {
            fields::find((index, field_index), entity, field, &mut sites);
        }
        for (action_index, action) in entity.actions.iter().enumerate() {
            actions::find(schema, (index, action_index), entity, action, &mut sites);
        }
    }
    for (index, analytic) in schema.analytics.iter().enumerate() {
        analytics::find(schema, index, analytic, &mut sites);
    }
    flaws::find(schema, &mut sites);
    sites.0
}

#[cfg(test)]
mod tests;
