//! New, changed or kept: a case against the one of the same id in the turn before.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Assertion, Builder, Case, Make, Mark, Send, Step, Suite};

/// Marks the cases of a suite. Two cases are the same if they demand the same: their steps are equal, and so are the
/// builders that they use, as far as they use them. Titles and clauses do not count.
///
/// `known` says for each case where in the suite before it was taken from, if it was. The same comes back for all cases:
/// where the case stands that each is equal to in everything but the mark, if there is one.
pub(super) fn mark(suite: &mut Suite, before: &Suite, known: &[Option<usize>]) -> Vec<Option<usize>> {
    // Those that were taken over have no id any more.
    let by_id = || {
        let left = before.cases.iter().enumerate().filter(|(_, case)| !case.id.is_empty());
        left.map(|(index, case)| (case.id.as_str(), index)).collect()
    };
    let mut old: Option<HashMap<&str, usize>> = None;
    let Suite { builders, cases, reset, .. } = suite;
    let builders = BodyChanges::new(builders, &before.builders);
    let reset = *reset == before.reset;
    let mut equals = Vec::with_capacity(cases.len());
    // Most cases stand as far behind one another as before.
    let mut expected = 0;
    for (case, known) in cases.iter_mut().zip(known.iter().copied().chain(std::iter::repeat(None))) {
        let same = |steps: bool, case: &Case| {
            if reset && steps && builders.are_same(case) { Mark::Kept } else { Mark::Changed }
        };
        if let Some(place) = known {
            expected = place + 1;
            case.mark = same(true, case);
            equals.push(known);
            continue;
        }
        let place = match before.cases.get(expected) {
            Some(then) if then.id == case.id => Some(expected),
            _ => old.get_or_insert_with(by_id).get(case.id.as_str()).copied(),
        };
        let found = place.and_then(|place| Some((place, before.cases.get(place)?)));
        let Some((place, then)) = found else {
            case.mark = Mark::New;
            equals.push(None);
            continue;
        };
        expected = place + 1;
        let steps = same_steps(&case.steps, &then.steps);
        case.mark = same(steps || case.steps == then.steps, case);
        equals.push((steps && same_words(case, then)).then_some(place));
    }
    equals
}

fn same_words(now: &Case, then: &Case) -> bool {
    now.aspect == then.aspect && now.title == then.title && now.says == then.says
}

// What follows is `==`, but the keys of objects have to stand in the same order too. They nearly always do, and then this
// is far quicker than equality of maps, which looks every key up; and what is written out has them in that order.

fn same_steps(now: &[Step], then: &[Step]) -> bool {
    now.len() == then.len()
        && now.iter().zip(then).all(|steps| match steps {
            (Step::Make(now), Step::Make(then)) => {
                let Make { make, nth, keep, with } = now;
                *make == then.make && *nth == then.nth && *keep == then.keep && same_map(with, &then.with)
            }
            (Step::Send(now), Step::Send(then)) => {
                let Send { method, path, query, body, status, expect, keep } = now;
                *method == then.method
                    && *status == then.status
                    && *path == then.path
                    && *query == then.query
                    && *keep == then.keep
                    && match (body, &then.body) {
                        (Some(now), Some(then)) => same_value(now, then),
                        (now, then) => now.is_none() && then.is_none(),
                    }
                    && expect.len() == then.expect.len()
                    && expect.iter().zip(&then.expect).all(|(now, then)| same_assertion(now, then))
            }
            _ => false,
        })
}

fn same_assertion(now: &Assertion, then: &Assertion) -> bool {
    match (now, then) {
        (Assertion::Equal { at, value }, Assertion::Equal { at: place, value: other }) => {
            at == place && same_value(value, other)
        }
        (Assertion::Has { at, value }, Assertion::Has { at: place, value: other }) => {
            at == place && same_map(value, other)
        }
        (Assertion::Rows { at, rows }, Assertion::Rows { at: place, rows: others }) => {
            at == place
                && rows.len() == others.len()
                && rows.iter().zip(others).all(|(row, other)| same_map(row, other))
        }
        (now, then) => now == then,
    }
}

fn same_value(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => same_map(now, then),
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| same_value(now, then))
        }
        (now, then) => now == then,
    }
}

fn same_map(now: &Map<String, Value>, then: &Map<String, Value>) -> bool {
    now.len() == then.len()
        && now.iter().zip(then).all(|((key, now), (other, then))| key == other && same_value(now, then))
}

/// The builders that are not what they were.
struct BodyChanges<'s> {
    /// By entity: which bodies are others; nothing if all of it is.
    builders: Vec<(&'s str, Option<Vec<bool>>)>,
}

impl<'s> BodyChanges<'s> {
    fn new(now: &'s [Builder], before: &[Builder]) -> Self {
        let changed = |now: &Builder| {
            let then = before.iter().find(|then| then.entity == now.entity);
            let then = then.filter(|then| now.path == then.path && now.status == then.status)?;
            let bodies = now.bodies.iter().enumerate();
            Some(bodies.map(|(index, body)| then.bodies.get(index) != Some(body)).collect::<Vec<bool>>())
        };
        let all = now.iter().map(|now| (now.entity.as_str(), changed(now)));
        let builders =
            all.filter(|(_, changed)| changed.as_ref().is_none_or(|bodies| bodies.contains(&true)));
        Self { builders: builders.collect() }
    }

    /// Whether all records that a case makes are made as before.
    fn are_same(&self, case: &Case) -> bool {
        self.builders.is_empty()
            || case.steps.iter().all(|step| match step {
                Step::Send(_) => true,
                Step::Make(make) => match self.builders.iter().find(|(entity, _)| *entity == make.make) {
                    None => true,
                    Some((_, None)) => false,
                    Some((_, Some(bodies))) => bodies.get((make.nth - 1) as usize) == Some(&false),
                },
            })
    }
}
