//! Bodies of responses, compared with the expectations of a case.

use std::collections::VecDeque;

use scenario::suite::Assertion;
use serde_json::{Map, Value};

use super::captures::{Captures, InsertionBudget};
use super::message::excerpt;

/// Equal numbers differ by at most this.
const TOLERANCE: f64 = 1e-6;
/// Most rows in any order, because the work is cubic in their number.
const ROWS: usize = 500;

/// Checks an assertion on a body (`None` = there is no body). The error describes the difference.
pub(super) fn check(
    assertion: &Assertion,
    body: Option<&Value>,
    captures: &Captures<'_>,
    budget: &mut InsertionBudget,
) -> Result<(), String> {
    let value_at = |pointer: &str| body.and_then(|body| body.pointer(pointer));
    match assertion {
        Assertion::Equal { at: place, value } => {
            let expected = captures.value(value, budget)?;
            match value_at(place) {
                Some(actual) if equal(&expected, actual) => Ok(()),
                actual => Err(difference(place, &excerpt(&expected), actual)),
            }
        }
        Assertion::Has { at: place, value } => match value_at(place) {
            Some(Value::Object(actual)) => {
                for (key, expected) in value {
                    let expected = captures.value(expected, budget)?;
                    let found = actual.get(key);
                    if !found.is_some_and(|found| equal(&expected, found)) {
                        return Err(difference(&format!("{place}/{key}"), &excerpt(&expected), found));
                    }
                }
                Ok(())
            }
            actual => Err(difference(place, "an object", actual)),
        },
        Assertion::Absent { at: place } => match value_at(place) {
            None => Ok(()),
            actual => Err(difference(place, "nothing", actual)),
        },
        Assertion::Text { at: place } => match value_at(place) {
            Some(Value::String(text)) if !text.is_empty() => Ok(()),
            actual => Err(difference(place, "a text that is not empty", actual)),
        },
        Assertion::Id { at: place } => match value_at(place) {
            Some(Value::Number(number)) if number.as_u64().is_some_and(|number| number >= 1) => Ok(()),
            actual => Err(difference(place, "an integer of at least 1", actual)),
        },
        Assertion::Column { at: place, key, values } => {
            let Some(Value::Array(items)) = value_at(place) else {
                return Err(difference(place, "a list", value_at(place)));
            };
            let expected: Vec<_> =
                values.iter().map(|value| captures.value(value, budget)).collect::<Result<_, _>>()?;
            let holds = items.len() == expected.len()
                && items
                    .iter()
                    .zip(&expected)
                    .all(|(item, expected)| item.get(key).is_some_and(|actual| equal(expected, actual)));
            if holds {
                return Ok(());
            }
            let expected = Value::Array(expected.into_iter().map(std::borrow::Cow::into_owned).collect());
            // A hostile list may be long, so the message shows its start.
            let actual: Vec<Value> =
                items.iter().take(20).map(|item| item.get(key).cloned().unwrap_or(Value::Null)).collect();
            Err(format!(
                "expected {key} of {} to be {}, got {} ({} items)",
                place_name(place),
                excerpt(&expected),
                excerpt(&Value::Array(actual)),
                items.len()
            ))
        }
        Assertion::Rows { at: place, rows } => {
            let Some(actual) = value_at(place) else { return Err(difference(place, "a list", None)) };
            let Value::Array(items) = actual else { return Err(difference(place, "a list", Some(actual))) };
            if rows.len() > ROWS {
                return Err(format!("the suite looks for {} rows in any order; {ROWS} at most", rows.len()));
            }
            let mut expected = Vec::with_capacity(rows.len());
            for row in rows {
                expected.push(captures.replaced_map(row, budget)?);
            }
            if items.len() == expected.len() && assign_rows(&expected, items) {
                return Ok(());
            }
            let rows = Value::Array(expected.into_iter().map(Value::Object).collect());
            Err(difference(place, &format!("in any order {}", excerpt(&rows)), Some(actual)))
        }
    }
}

fn place_name(place: &str) -> &str {
    if place.is_empty() { "the body" } else { place }
}

fn difference(place: &str, expected: &str, actual: Option<&Value>) -> String {
    let actual = actual.map_or_else(|| "nothing".to_owned(), excerpt);
    format!("expected {} to be {expected}, got {actual}", place_name(place))
}

/// Equality of JSON in suites: numbers with a tolerance, objects as sets of keys.
pub(super) fn equal(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left == right,
            _ => match (left.as_f64(), right.as_f64()) {
                (Some(left), Some(right)) => (left - right).abs() <= TOLERANCE,
                _ => false,
            },
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => left.len() == right.len() && has(left, right),
        _ => expected == actual,
    }
}

/// Whether an object has at least these keys with these values.
fn has(expected: &Map<String, Value>, actual: &Map<String, Value>) -> bool {
    expected.iter().all(|(key, value)| actual.get(key).is_some_and(|actual| equal(value, actual)))
}

/// Whether a matching assigns every row its own object. A row takes the first free object that fits. If there is none, rows
/// with fitting objects are moved to others (augmenting paths, the shortest first). Both lists have the same length.
fn assign_rows(rows: &[Map<String, Value>], items: &[Value]) -> bool {
    // Compared once, because rows may be large.
    let fitting: Vec<Vec<usize>> = rows
        .iter()
        .map(|row| {
            let fits = |item: &Value| item.as_object().is_some_and(|item| has(row, item));
            items.iter().enumerate().filter(|(_, item)| fits(item)).map(|(index, _)| index).collect()
        })
        .collect();
    let mut assigned: Vec<Option<usize>> = vec![None; items.len()];
    let mut waiting = Vec::new();
    for (row, fitting) in fitting.iter().enumerate() {
        match fitting.iter().find(|&&item| assigned[item].is_none()) {
            Some(&item) => assigned[item] = Some(row),
            None => waiting.push(row),
        }
    }
    waiting.into_iter().all(|row| assign_row(row, &fitting, &mut assigned))
}

/// Assigns an object to a row, and moves other rows if needed.
fn assign_row(row: usize, fitting: &[Vec<usize>], assigned: &mut [Option<usize>]) -> bool {
    // The row from which an object was reached, and the earlier object of that row.
    let mut reached: Vec<Option<(usize, Option<usize>)>> = vec![None; assigned.len()];
    let mut queue = VecDeque::from([(row, None)]);
    while let Some((row, held)) = queue.pop_front() {
        for &item in &fitting[row] {
            if reached[item].is_some() {
                continue;
            }
            reached[item] = Some((row, held));
            if let Some(other_row) = assigned[item] {
                queue.push_back((other_row, Some(item)));
                continue;
            }
            let mut free = Some(item);
            while let Some(item) = free {
                let Some((row, held)) = reached[item] else { break };
                assigned[item] = Some(row);
                free = held;
            }
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(assertion: &Value, body: &Value) -> bool {
        let assertion: Assertion = serde_json::from_value(assertion.clone()).expect("an assertion");
        check(&assertion, Some(body), &Captures::default(), &mut InsertionBudget::new(1 << 20)).is_ok()
    }

    #[test]
    fn json_is_equal_as_suites_mean_it() {
        for (left, right) in [
            (json!(1), json!(1.0)),
            (json!(0.5), json!(0.500_000_5)),
            (json!({"a": 1, "b": [1, {"c": null}]}), json!({"b": [1.0, {"c": null}], "a": 1})),
            (json!(999_999.75), json!(999_999.75)),
        ] {
            assert!(equal(&left, &right) && equal(&right, &left), "{left} {right}");
        }
        for (left, right) in [
            (json!(1), json!(true)),
            (json!(0), json!(false)),
            (json!(0), json!(null)),
            (json!(1), json!("1")),
            (json!(1), json!(1.001)),
            (json!([1, 2]), json!([2, 1])),
            (json!({"a": 1}), json!({"a": 1, "b": null})),
            (json!({"a": 1}), json!({"b": 1})),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64)),
        ] {
            assert!(!equal(&left, &right) && !equal(&right, &left), "{left} {right}");
        }
    }

    #[test]
    fn every_assertion_holds_and_fails() {
        let body = json!({"id": 3, "name": "x", "none": null, "empty": "", "list": [{"id": 1, "a": 1}, {"id": 2, "a": 1}]});
        for (assertion, expected) in [
            (json!({"is": "equal", "at": "/id", "value": 3}), true),
            (json!({"is": "equal", "at": "/id", "value": 4}), false),
            (json!({"is": "equal", "at": "/gone", "value": null}), false),
            (json!({"is": "equal", "at": "/none", "value": null}), true),
            (json!({"is": "equal", "at": "/list/1/id", "value": 2}), true),
            (json!({"is": "has", "at": "", "value": {"id": 3, "none": null}}), true),
            (json!({"is": "has", "at": "", "value": {"gone": null}}), false),
            (json!({"is": "has", "at": "/id", "value": {}}), false),
            (json!({"is": "absent", "at": "/gone"}), true),
            (json!({"is": "absent", "at": "/none"}), false),
            (json!({"is": "text", "at": "/name"}), true),
            (json!({"is": "text", "at": "/empty"}), false),
            (json!({"is": "text", "at": "/id"}), false),
            (json!({"is": "id", "at": "/id"}), true),
            (json!({"is": "id", "at": "/name"}), false),
            (json!({"is": "column", "at": "/list", "key": "id", "values": [1, 2]}), true),
            (json!({"is": "column", "at": "/list", "key": "id", "values": [2, 1]}), false),
            (json!({"is": "column", "at": "/list", "key": "id", "values": [1]}), false),
            (json!({"is": "column", "at": "/name", "key": "id", "values": []}), false),
            (json!({"is": "rows", "at": "/list", "rows": [{"a": 1}, {"id": 1}]}), true),
            (json!({"is": "rows", "at": "/list", "rows": [{"id": 2}, {"id": 1}]}), true),
            (json!({"is": "rows", "at": "/list", "rows": [{"id": 1}, {"id": 1}]}), false),
            (json!({"is": "rows", "at": "/list", "rows": [{"id": 1}]}), false),
        ] {
            assert_eq!(holds(&assertion, &body), expected, "{assertion}");
        }
        for id in [json!(0), json!(-1), json!(1.0), json!(true), json!("1"), json!(null)] {
            assert!(!holds(&json!({"is": "id", "at": ""}), &id), "{id}");
        }
    }

    #[test]
    fn rows_that_fit_several_objects_make_room_for_those_that_fit_one() {
        // The first half of the rows takes the objects of the second half, and must move.
        let chain = |count: usize| -> (Vec<Value>, Vec<Value>) {
            let items = (0..count).map(|index| json!({"a": index, "b": index / 2, "c": 0})).collect();
            let mut rows: Vec<Value> = (0..count / 2).map(|index| json!({"b": index})).collect();
            rows.extend((0..count / 2).map(|index| json!({"a": index * 2})));
            (rows, items)
        };
        let (mut rows, items) = chain(ROWS);
        assert!(holds(&json!({"is": "rows", "at": "", "rows": rows}), &json!(items)));
        rows[0] = json!({"a": 0});
        assert!(!holds(&json!({"is": "rows", "at": "", "rows": rows}), &json!(items)));
        assert!(holds(
            &json!({"is": "rows", "at": "", "rows": [{}, {"a": 1}, {"b": 1}]}),
            &json!([{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1}])
        ));
    }

    #[test]
    fn many_rows_are_decided_at_once_and_too_many_refused() {
        let all = |count: usize| vec![json!({}); count];
        assert!(holds(&json!({"is": "rows", "at": "", "rows": all(ROWS)}), &json!(all(ROWS))));
        // All except one need the same objects.
        let mut rows = all(ROWS);
        rows[0] = json!({"a": 1});
        assert!(!holds(&json!({"is": "rows", "at": "", "rows": rows}), &json!(all(ROWS))));
        assert!(!holds(&json!({"is": "rows", "at": "", "rows": all(2000)}), &json!(all(2000))));
    }
}
