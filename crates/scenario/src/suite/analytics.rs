//! Numbers over records.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::failure::Failure;
use super::plan::{EntityFacts, FieldFacts, SuitePlan, id_of, whole_number};
use super::{Aspect, Case, RequestStep, values};
use crate::ir::{Analytic, Measure, RecordRestriction, words};

/// An analytic while its cases are written.
#[derive(Clone)]
struct Counting<'p, 'a> {
    plan: &'p SuitePlan<'a>,
    facts: &'p EntityFacts<'a>,
    analytic: &'a Analytic,
    clause: String,
    path: String,
    measured: Option<&'p FieldFacts<'a>>,
    grouped: Option<&'p FieldFacts<'a>>,
    by: Option<&'p FieldFacts<'a>>,
    only: Option<Restriction<'p, 'a>>,
}

/// Which records are taken.
#[derive(Clone)]
struct Restriction<'p, 'a> {
    /// The reference whose record is read, and that record's entity.
    through: Option<(&'p FieldFacts<'a>, &'p EntityFacts<'a>)>,
    part: &'p FieldFacts<'a>,
    equals: &'a Value,
    other: Value,
}

/// A record: its number and the values that count.
struct Row {
    n: u32,
    with: Map<String, Value>,
}

/// What the rows of a case have in common.
#[derive(Clone, Copy, Default)]
struct RowVariation {
    /// The third record is not taken, and a fourth refers to nothing.
    restricted: bool,
    /// The second record has nothing to measure.
    unmeasured: bool,
    /// The second record has no group.
    ungrouped: bool,
    /// The first record refers to another one than the others.
    apart: bool,
}

/// Cases of an analytic.
pub(super) fn cases<'a>(plan: &SuitePlan<'a>, analytic: &'a Analytic, cases: &mut Vec<Case>) {
    if let Some(counting) = counting(plan, analytic) {
        counting.cases(cases);
    }
}

/// A query parameter that the analytic had is ignored: all that it takes without one is taken.
pub(super) fn without_parameter<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    analytic: &'a Analytic,
    field: &str,
    draft: &mut Draft<'p, 'a>,
) -> Option<()> {
    let counting = counting(plan, analytic)?;
    let old = counting.facts.part(field)?;
    draft.cite_clauses(&["analytics", &counting.clause, "server.routes"]);
    let rows = counting.make(draft, RowVariation::default());
    let (send, expected) = (RequestStep::get(counting.path.clone()), counting.rows_taken(&rows, None));
    // One that no record has: nothing would be taken, were it still a parameter.
    draft.send(counting.answer(send.query(&old.json, &json!(999)), &expected));
    Some(())
}

/// Records that a restriction left out are taken.
pub(super) fn without_restriction<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    analytic: &'a Analytic,
    old: &'a RecordRestriction,
    draft: &mut Draft<'p, 'a>,
) -> Option<()> {
    let counting = counting(plan, analytic)?;
    let with_old = Counting { only: restriction(plan, counting.facts, Some(old)), ..counting.clone() };
    let through = with_old.only.as_ref()?.through;
    draft.cite_clauses(&["analytics", &counting.clause]);
    if let Some((link, target)) = through {
        draft.cite_clauses(&[&link.clause, target.key, "operations"]);
    }
    let rows = with_old.make(draft, RowVariation { restricted: true, ..RowVariation::default() });
    draft.send(counting.answer(RequestStep::get(counting.path.clone()), &counting.rows_taken(&rows, None)));
    Some(())
}

/// Which records are taken; nothing where there is no value that is not.
fn restriction<'p, 'a>(
    plan: &'p SuitePlan<'a>,
    facts: &'p EntityFacts<'a>,
    only: Option<&'a RecordRestriction>,
) -> Option<Restriction<'p, 'a>> {
    let only = only?;
    let through = match &only.through {
        Some(key) => {
            let link = facts.part(key)?;
            Some((link, plan.target(link)?))
        }
        None => None,
    };
    let part = through.map_or(facts, |(_, target)| target).part(&only.field)?;
    let other = part.other_value(&[&only.equals])?;
    Some(Restriction { through, part, equals: &only.equals, other })
}

fn counting<'p, 'a>(plan: &'p SuitePlan<'a>, analytic: &'a Analytic) -> Option<Counting<'p, 'a>> {
    let facts = plan.entity(&analytic.entity)?;
    let part = |key: &Option<String>| key.as_ref().and_then(|key| facts.part(key));
    Some(Counting {
        plan,
        facts,
        analytic,
        clause: format!("analytics.{}", analytic.key),
        path: plan.schema.analytic_path(analytic),
        measured: analytic.measure.field().and_then(|field| facts.part(field)),
        grouped: part(&analytic.group_by),
        by: part(&analytic.by),
        only: restriction(plan, facts, analytic.only.as_ref()),
    })
}

impl<'p, 'a> Counting<'p, 'a> {
    fn draft(&self, tail: &str, title: String) -> Draft<'p, 'a> {
        let mut draft = Draft::new(self.plan, format!("{}.{tail}", self.clause), Aspect::Analytic, title);
        draft.cite_clauses(&["analytics", &self.clause]);
        draft
    }

    fn cases(&self, cases: &mut Vec<Case>) {
        let (name, many) = (words(&self.analytic.name), &self.facts.many);
        let tail = if self.grouped.is_some() { "grouped" } else { "value" };
        let title =
            format!("The analytic {name} is worked out over the {many}: none, some, not deleted ones");
        let mut draft = self.draft(tail, title);
        draft.cite_clauses(&["operations", self.facts.key]);
        self.ask(&mut draft, &[], None);
        let mut rows = self.make(&mut draft, RowVariation::default());
        self.ask(&mut draft, &rows, None);
        if let Some(last) = rows.pop() {
            draft.delete(self.facts, last.n);
            self.ask(&mut draft, &rows, None);
        }
        draft.done(cases);

        if self.only.is_some() {
            let title = format!("The analytic {name} takes only the {many} that its condition holds for");
            let mut draft = self.draft("only", title);
            let rows = self.make(&mut draft, RowVariation { restricted: true, ..RowVariation::default() });
            self.ask(&mut draft, &rows, None);
            draft.done(cases);
        }

        if let Some(group_field) = self.by {
            let title = format!(
                "The analytic {name} takes only the {many} of a `{}` that is asked for",
                group_field.json
            );
            let mut draft = self.draft("by", title);
            draft.cite_clauses(&[&group_field.clause]);
            let rows = self.make(&mut draft, RowVariation { apart: true, ..RowVariation::default() });
            if let Some(target) = group_field.field.target() {
                self.ask(&mut draft, &rows, Some((group_field, &id_of(target, 2))));
                self.ask(&mut draft, &rows, Some((group_field, &json!(999))));
            }
            let send = RequestStep::get(self.path.clone()).query(&group_field.json, &json!("many"));
            draft.fails_with(send, Failure::Invalid).done(cases);
        }

        if let Some(measured) = self.measured.filter(|part| part.field.nullable) {
            let title = format!("The analytic {name} leaves {many} without `{}` out", measured.json);
            let mut draft = self.draft("null", title);
            draft.cite_clauses(&[&measured.clause]);
            // One without a value alone is nothing to be worked out from, though there is a record.
            let rows = self.rows(RowVariation { unmeasured: true, ..RowVariation::default() });
            let (first, others) = rows.split_at(1);
            self.prepare(&mut draft);
            self.put(&mut draft, first);
            self.ask(&mut draft, first, None);
            self.put(&mut draft, others);
            self.ask(&mut draft, &rows, None);
            draft.done(cases);
        }

        if let Some(grouped) = self.grouped.filter(|part| part.field.nullable) {
            let title = format!("The analytic {name} leaves {many} without `{}` out", grouped.json);
            let mut draft = self.draft("ungrouped", title);
            draft.cite_clauses(&[&grouped.clause]);
            let rows = self.make(&mut draft, RowVariation { ungrouped: true, ..RowVariation::default() });
            self.ask(&mut draft, &rows, None);
            draft.done(cases);
        }
    }

    /// Makes three or four records.
    fn make(&self, draft: &mut Draft<'p, 'a>, variation: RowVariation) -> Vec<Row> {
        let rows = self.rows(variation);
        self.prepare(draft);
        self.put(draft, &rows);
        rows
    }

    /// Makes what a restriction looks at in the records that are referred to.
    fn prepare(&self, draft: &mut Draft<'p, 'a>) {
        if let Some(Restriction { through: Some((_, target)), part, equals, other }) = &self.only {
            draft.make_one(target, 1, part, other.clone());
            draft.make_one(target, 2, part, (*equals).clone());
        }
    }

    fn put(&self, draft: &mut Draft<'p, 'a>, rows: &[Row]) {
        for row in rows {
            draft.make_with(self.facts, row.n, row.with.clone());
        }
    }

    /// Three or four records.
    fn rows(&self, variation: RowVariation) -> Vec<Row> {
        let through = self.only.as_ref().and_then(|only| only.through);
        let last =
            if variation.restricted && through.is_some_and(|(link, _)| link.field.nullable) { 4 } else { 3 };
        let measured = self.measured.map(|part| (part, self.values(part)));
        (1..=last)
            .map(|n| {
                let mut more_values = Map::new();
                if let Some((part, values)) = &measured {
                    let value = match values.get(n as usize - 1) {
                        Some(value) if !(variation.unmeasured && n == 1) => value.clone(),
                        _ => Value::Null,
                    };
                    more_values.insert(part.json.clone(), value);
                }
                if let Some(part) = self.grouped {
                    let place = if part.field.unique { n } else { 2 - n % 2 };
                    let value = match part.field.target() {
                        Some(target) => id_of(target, place),
                        None => part.value(place),
                    };
                    more_values.insert(part.json.clone(), value);
                }
                if let Some(part) = self.by
                    && let Some(target) = part.field.target()
                {
                    more_values.insert(
                        part.json.clone(),
                        id_of(target, if variation.apart && n == 1 { 1 } else { 2 }),
                    );
                }
                match &self.only {
                    Some(Restriction { through: None, part, equals, other }) => {
                        let value = if variation.restricted && n == 3 { other } else { *equals };
                        more_values.insert(part.json.clone(), value.clone());
                    }
                    Some(Restriction { through: Some((link, target)), .. }) => {
                        // Where the same reference groups or is asked for, it stays as those want it, but a record without
                        // anything to measure has to be taken.
                        let taken =
                            [self.grouped, self.by].into_iter().flatten().any(|part| part.json == link.json);
                        if n == 4 {
                            more_values.insert(link.json.clone(), Value::Null);
                        } else if !taken || variation.restricted || variation.unmeasured {
                            more_values.insert(
                                link.json.clone(),
                                id_of(target.key, if variation.restricted && n == 3 { 1 } else { 2 }),
                            );
                        }
                    }
                    None => {}
                }
                if let Some(part) = self.grouped.filter(|_| variation.ungrouped && n == 2) {
                    more_values.insert(part.json.clone(), Value::Null);
                }
                Row { n, with: more_values }
            })
            .collect()
    }

    /// What is measured of the records: such that it matters whether the third one is taken, and such that an average has
    /// a fraction, where that can be.
    fn values(&self, part: &FieldFacts<'a>) -> Vec<Value> {
        let mut values: Vec<Value> = (1..=4).map(|n| part.value(n)).collect();
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        match self.analytic.measure {
            // The second is the least of the first four.
            Measure::Min(_) => values.swap(1, 2),
            Measure::Average(_) => {
                let (sum, count) = match &values[..] {
                    [first, ..] if self.grouped.is_some() => (number(first), 1.0),
                    [first, second, ..] => (number(first) + number(second), 2.0),
                    _ => return values,
                };
                let matters = |third: f64| ((sum + third) / (count + 1.0) - sum / count).abs() > 0.01;
                let fraction = |third: f64| ((sum + third) / (count + 1.0)).fract() != 0.0;
                let third = number(&part.value(3));
                let mut tried: Vec<Value> = (3..=5).map(|n| part.value(n)).collect();
                tried.extend([whole_number(third + 1.0), whole_number(third - 1.0)]);
                tried.extend(values::bounds(&part.field.kind).into_iter().map(|bound| bound.edge));
                tried.retain(|value| {
                    values::fits(&part.field.kind, value)
                        && !values[..2].contains(value)
                        && matters(number(value))
                });
                let found = tried.iter().find(|value| fraction(number(value))).or(tried.first());
                if let (Some(third), Some(found)) = (values.get_mut(2), found) {
                    *third = found.clone();
                }
            }
            Measure::Count | Measure::Sum(_) | Measure::Max(_) => {}
        }
        values
    }

    /// Asks for the analytic: its value over those records that are taken.
    fn ask(&self, draft: &mut Draft<'p, 'a>, rows: &[Row], group: Option<(&FieldFacts<'a>, &Value)>) {
        let mut send = RequestStep::get(self.path.clone());
        if let Some((part, id)) = group {
            send = send.query(&part.json, id);
        }
        draft.send(self.answer(send, &self.rows_taken(rows, group)));
    }

    /// The rows that count, of all or of those with an id.
    fn rows_taken<'r>(&self, rows: &'r [Row], group: Option<(&FieldFacts<'a>, &Value)>) -> Vec<&'r Row> {
        rows.iter()
            .filter(|row| {
                self.only.as_ref().is_none_or(|only| match only.through {
                    None => row.with.get(&only.part.json) == Some(only.equals),
                    Some((link, target)) => row.with.get(&link.json) == Some(&id_of(target.key, 2)),
                }) && group.is_none_or(|(part, id)| row.with.get(&part.json) == Some(id))
            })
            .collect()
    }

    /// With the value over these rows as what is expected.
    fn answer(&self, send: RequestStep, taken: &[&Row]) -> RequestStep {
        match self.grouped {
            None => send.equal("/value", self.measure(taken)),
            Some(part) => {
                let mut groups: Vec<(&Value, Vec<&Row>)> = Vec::new();
                for &row in taken {
                    let Some(key) = row.with.get(&part.json).filter(|key| !key.is_null()) else { continue };
                    match groups.iter_mut().find(|group| group.0 == key) {
                        Some(group) => group.1.push(row),
                        None => groups.push((key, vec![row])),
                    }
                }
                let rows = groups
                    .into_iter()
                    .map(|(key, rows)| {
                        let mut row = Map::with_capacity(2);
                        row.insert("key".to_owned(), key.clone());
                        row.insert("value".to_owned(), self.measure(&rows));
                        row
                    })
                    .collect();
                send.rows("/groups", rows)
            }
        }
    }

    fn measure(&self, rows: &[&Row]) -> Value {
        let numbers: Vec<f64> = self
            .measured
            .map(|part| rows.iter().filter_map(|row| row.with.get(&part.json)?.as_f64()).collect())
            .unwrap_or_default();
        let or_null = |number: Option<f64>| number.map_or(Value::Null, whole_number);
        match self.analytic.measure {
            Measure::Count => json!(rows.len()),
            Measure::Sum(_) => whole_number(numbers.iter().sum()),
            Measure::Average(_) if numbers.is_empty() => Value::Null,
            Measure::Average(_) => whole_number(numbers.iter().sum::<f64>() / numbers.len() as f64),
            Measure::Min(_) => or_null(numbers.iter().copied().reduce(f64::min)),
            Measure::Max(_) => or_null(numbers.iter().copied().reduce(f64::max)),
        }
    }
}
