//! New, changed or kept: a case against the one of the same id in the turn before.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Assertion, Builder, Case, Mark, RecordStep, RequestStep, Step, Suite};

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
            Some(previous) if previous.id == case.id => Some(expected),
            _ => old.get_or_insert_with(by_id).get(case.id.as_str()).copied(),
        };
        let found = place.and_then(|place| Some((place, before.cases.get(place)?)));
        let Some((place, previous)) = found else {
            case.mark = Mark::New;
            equals.push(None);
            continue;
        };
        expected = place + 1;
        let steps = same_steps(&case.steps, &previous.steps);
        case.mark = same(steps || case.steps == previous.steps, case);
        equals.push((steps && same_words(case, previous)).then_some(place));
    }
    equals
}

fn same_words(now: &Case, previous: &Case) -> bool {
    now.aspect == previous.aspect && now.title == previous.title && now.clauses == previous.clauses
}

// What follows is `==`, but the keys of objects have to stand in the same order too. They nearly always do, and then this
// is far quicker than equality of maps, which looks every key up; and what is written out has them in that order.

fn same_steps(now: &[Step], previous: &[Step]) -> bool {
    now.len() == previous.len()
        && now.iter().zip(previous).all(|steps| match steps {
            (Step::Record(now), Step::Record(previous)) => {
                let RecordStep { make, nth, keep, with } = now;
                *make == previous.make
                    && *nth == previous.nth
                    && *keep == previous.keep
                    && same_map(with, &previous.with)
            }
            (Step::Request(now), Step::Request(previous)) => {
                let RequestStep { method, path, query, body, status, expect, keep } = now;
                *method == previous.method
                    && *status == previous.status
                    && *path == previous.path
                    && *query == previous.query
                    && *keep == previous.keep
                    && match (body, &previous.body) {
                        (Some(now), Some(previous)) => same_value(now, previous),
                        (now, previous) => now.is_none() && previous.is_none(),
                    }
                    && expect.len() == previous.expect.len()
                    && expect
                        .iter()
                        .zip(&previous.expect)
                        .all(|(now, previous)| same_assertion(now, previous))
            }
            _ => false,
        })
}

fn same_assertion(now: &Assertion, previous: &Assertion) -> bool {
    match (now, previous) {
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
        (now, previous) => now == previous,
    }
}

fn same_value(now: &Value, previous: &Value) -> bool {
    match (now, previous) {
        (Value::Object(now), Value::Object(previous)) => same_map(now, previous),
        (Value::Array(now), Value::Array(previous)) => {
            now.len() == previous.len()
                && now.iter().zip(previous).all(|(now, previous)| same_value(now, previous))
        }
        (now, previous) => now == previous,
    }
}

fn same_map(now: &Map<String, Value>, previous: &Map<String, Value>) -> bool {
    now.len() == previous.len()
        && now
            .iter()
            .zip(previous)
            .all(|((key, now), (other, previous))| key == other && same_value(now, previous))
}

/// The builders that are not what they were.
struct BodyChanges<'s> {
    /// By entity: which bodies are others; nothing if all of it is.
    builders: Vec<(&'s str, Option<Vec<bool>>)>,
}

impl<'s> BodyChanges<'s> {
    fn new(now: &'s [Builder], before: &[Builder]) -> Self {
        let changed = |now: &Builder| {
            let previous = before.iter().find(|previous| previous.entity == now.entity);
            let previous =
                previous.filter(|previous| now.path == previous.path && now.status == previous.status)?;
            let bodies = now.bodies.iter().enumerate();
            Some(bodies.map(|(index, body)| previous.bodies.get(index) != Some(body)).collect::<Vec<bool>>())
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
                Step::Request(_) => true,
                Step::Record(make) => match self.builders.iter().find(|(entity, _)| *entity == make.make) {
                    None => true,
                    Some((_, None)) => false,
                    Some((_, Some(bodies))) => bodies.get((make.nth - 1) as usize) == Some(&false),
                },
            })
    }
}
