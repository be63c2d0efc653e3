//! A short text of a schema, with what a model needs to change it.

use std::fmt::Write as _;

use scenario::ir::{
    Comparison, Computed, Condition, CreatedValue, Effect, Entity, Field, Kind, Measure, Operand, Schema,
};
use serde_json::Value;

/// A list of entities with their fields and actions, and of analytics, one line each. Every part has its key, and a
/// different name after it.
pub(crate) fn schema_text(schema: &Schema) -> String {
    let mut out = String::with_capacity(8192);
    for entity in &schema.entities {
        write_entity(&mut out, entity);
    }
    for analytic in &schema.analytics {
        let _ = write!(
            out,
            "analytic {}{} of {}: ",
            analytic.key,
            named(&analytic.key, &analytic.name),
            analytic.entity
        );
        let _ = match &analytic.measure {
            Measure::Count => write!(out, "count"),
            Measure::Sum(field) => write!(out, "sum({field})"),
            Measure::Average(field) => write!(out, "average({field})"),
            Measure::Min(field) => write!(out, "min({field})"),
            Measure::Max(field) => write!(out, "max({field})"),
        };
        if let Some(field) = &analytic.group_by {
            let _ = write!(out, " group_by {field}");
        }
        if let Some(only) = &analytic.only {
            let _ = match &only.through {
                Some(reference) => write!(out, " only {reference}.{} = {}", only.field, only.equals),
                None => write!(out, " only {} = {}", only.field, only.equals),
            };
        }
        if let Some(group_field) = &analytic.by {
            let _ = write!(out, " by {group_field}");
        }
        out.push('\n');
    }
    let conventions = &schema.conventions;
    let _ = writeln!(
        out,
        "conventions: {}",
        serde_json::to_string(conventions).unwrap_or_else(|e| e.to_string())
    );
    out
}

fn named(key: &str, name: &str) -> String {
    if key == name { String::new() } else { format!(" (named {name})") }
}

fn write_entity(out: &mut String, entity: &Entity) {
    let _ = write!(out, "entity {}", entity.key);
    if entity.plural != entity.key {
        let _ = write!(out, " (plural {})", entity.plural);
    }
    let _ = write!(out, ", one is a {}: {}", entity.name, entity.about);
    if entity.soft_delete {
        out.push_str(" [soft delete]");
    }
    out.push('\n');
    for field in &entity.fields {
        write_field(out, field);
    }
    if !entity.filters.is_empty() {
        let filters: Vec<String> =
            entity.filters.iter().map(|filter| format!("{} {}", filter.field, filter.op.key())).collect();
        let _ = writeln!(out, "  filters: {}", filters.join(", "));
    }
    if !entity.sorts.is_empty() {
        let _ = write!(out, "  sorts: {}", entity.sorts.join(", "));
        if let Some(sort) = &entity.default_sort {
            let _ = write!(out, "; default {}{}", if sort.descending { "-" } else { "" }, sort.field);
        }
        out.push('\n');
    }
    for action in &entity.actions {
        let params: Vec<String> =
            action.params.iter().map(|param| format!("{}: {}", param.key, kind(&param.kind))).collect();
        let _ =
            write!(out, "  action {}{}({})", action.key, named(&action.key, &action.name), params.join(", "));
        for guard in &action.guards {
            let _ = write!(out, "; guard {}: {}", guard.key, condition(&guard.condition));
        }
        for (index, effect) in action.effects.iter().enumerate() {
            let _ = write!(out, "; effect {index}: {}", describe(effect));
        }
        out.push('\n');
    }
}

fn write_field(out: &mut String, field: &Field) {
    let _ = write!(out, "  {}{}: {}", field.key, named(&field.key, &field.name), kind(&field.kind));
    for (is_stated, word) in [
        (field.required, " required"),
        (field.nullable, " nullable"),
        (field.unique, " unique"),
        (field.immutable, " immutable"),
    ] {
        if is_stated {
            out.push_str(word);
        }
    }
    if let Some(default) = &field.default {
        let _ = write!(out, " default {default}");
    }
    if let Some(computed) = &field.computed {
        let _ = match computed {
            Computed::Joined { first, second, .. } => write!(out, " computed {first} with {second}"),
            Computed::Product { left, right } => write!(out, " computed {left} × {right}"),
            Computed::Sum { left, right } => write!(out, " computed {left} + {right}"),
            Computed::AtLeast { field, value } => write!(out, " computed {field} >= {value}"),
            Computed::CountOf { entity, reference } => {
                write!(out, " computed count of {entity} by {reference}")
            }
            Computed::TotalOf { entity, reference, field } => {
                write!(out, " computed total of {entity}.{field} by {reference}")
            }
        };
    }
    out.push('\n');
}

fn kind(kind: &Kind) -> String {
    fn range<T: std::fmt::Display>(low: Option<T>, high: Option<T>) -> String {
        match (low, high) {
            (None, None) => String::new(),
            (low, high) => format!(
                " {}..{}",
                low.map_or_else(String::new, |low| low.to_string()),
                high.map_or_else(String::new, |high| high.to_string())
            ),
        }
    }
    match kind {
        Kind::String { pattern: Some(pattern), .. } => format!("string like {}", pattern.sample(1)),
        Kind::String { min_length, max_length, .. } => format!("string{}", range(*min_length, *max_length)),
        Kind::Integer { min, max } => format!("integer{}", range(*min, *max)),
        Kind::Number { min, max } => format!("number{}", range(*min, *max)),
        Kind::Boolean => "boolean".to_owned(),
        Kind::DateTime => "date_time".to_owned(),
        Kind::Enum { values } => format!("enum({})", values.join("|")),
        Kind::StringList { min_items, max_items } => format!("string_list{}", range(*min_items, *max_items)),
        Kind::Reference { entity, on_delete, nested } => {
            let rule = serde_json::to_value(on_delete).unwrap_or(Value::Null);
            format!(
                "reference to {entity} ({}{})",
                rule.as_str().unwrap_or_default(),
                if *nested { ", nested" } else { "" }
            )
        }
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Field { field, is } => format!("{field} {}", comparison(is)),
        Condition::Related { reference, field, is } => format!("{reference}.{field} {}", comparison(is)),
        Condition::HasAtLeast { entity, reference, count } => {
            format!("at least {count} {entity} by {reference}")
        }
        Condition::HasNone { entity, reference } => format!("no {entity} by {reference}"),
    }
}

fn comparison(comparison: &Comparison) -> String {
    match comparison {
        Comparison::Equals(value) => format!("= {value}"),
        Comparison::Not(value) => format!("!= {value}"),
        Comparison::OneOf(values) => format!("one of {}", Value::from(values.clone())),
        Comparison::AtLeast(value) => format!(">= {value}"),
        Comparison::AtMost(value) => format!("<= {value}"),
        Comparison::IsSet => "is set".to_owned(),
        Comparison::IsNotSet => "is not set".to_owned(),
    }
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Value(value) => value.to_string(),
        Operand::Param(param) => format!("param {param}"),
        Operand::Own(field) => format!("own {field}"),
    }
}

fn describe(effect: &Effect) -> String {
    match effect {
        Effect::Set { field, to } => format!("{field} := {}", operand(to)),
        Effect::Increment { field, by } => format!("{field} += {}", operand(by)),
        Effect::Create { entity, reference, values } => {
            let values: Vec<String> = values
                .iter()
                .map(|CreatedValue { field, from }| format!("{field} := {}", operand(from)))
                .collect();
            format!("create in {entity} by {reference} ({})", values.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_can_be_addressed_is_named_in_few_words() {
        let schema = scenario::ir::example();
        let text = schema_text(&schema);
        for entity in &schema.entities {
            assert!(text.contains(&format!("entity {}", entity.key)), "{text}");
            for field in &entity.fields {
                assert!(text.contains(&format!("  {}", field.key)), "{} in\n{text}", field.key);
            }
            for action in &entity.actions {
                assert!(text.contains(&format!("action {}", action.key)));
                for guard in &action.guards {
                    assert!(text.contains(&format!("guard {}:", guard.key)));
                }
            }
        }
        for analytic in &schema.analytics {
            assert!(text.contains(&format!("analytic {}", analytic.key)));
        }
        let whole = serde_json::to_string(&schema).expect("JSON");
        assert!(text.len() * 2 < whole.len(), "{} of {} bytes\n{text}", text.len(), whole.len());
    }
}
