//! The meaning of each kind of change, as a line for the model.

/// The line of a kind (`add_field`); empty if there is no such kind.
pub(crate) fn change_meaning(kind: &str) -> &'static str {
    LINES.iter().find(|(name, _)| *name == kind).map_or("", |(_, line)| line)
}

const LINES: [(&str, &str); 58] = [
    ("add_entity", "A new entity, with fields of its own and a reference or two to entities that exist."),
    (
        "remove_entity",
        "An entity goes, with what needs it; refused if another entity or action would be left without anything to do.",
    ),
    (
        "rename_entity",
        "New singular `name` and `plural` for an entity: another word that users would say for the same thing.",
    ),
    ("add_field", "A new field, not a reference, not computed."),
    ("remove_field", "A field goes; refused if an action, analytic or computed field needs it."),
    ("rename_field", "A new name for a field: another word for the same thing."),
    (
        "retype_field",
        "Another type for a field. `kind` is the new type, `default` a value of it, or null if the field is required or nullable. Refused if an action, analytic or computed field needs the old type.",
    ),
    ("add_enum_value", "One more value of an enum."),
    ("remove_enum_value", "One value less; refused if something needs it, or fewer than two would stay."),
    ("rename_enum_value", "A value gets another word."),
    ("add_reference", "A new reference field. References never form a cycle."),
    ("remove_reference", "A reference field goes; refused if something needs it."),
    (
        "change_delete_rule",
        "Another rule for what happens when the record referred to is deleted: cascade, restrict or set_null (nullable only).",
    ),
    ("nest", "A nested route for a reference; at most one between two entities."),
    ("unnest", "No nested route any more."),
    ("add_action", "A new action: something that users do with a record."),
    ("remove_action", "An action goes."),
    ("rename_action", "A new verb for an action."),
    ("add_guard", "One more condition of an action: a rule that the business would have."),
    ("remove_guard", "One condition less."),
    ("change_guard", "Another condition in the place of one."),
    ("add_effect", "One more effect of an action. No two effects set or increment the same field."),
    ("remove_effect", "One effect less; at least one stays."),
    ("change_effect", "Another value or amount for an effect that sets or increments."),
    ("add_analytic", "A new figure about the records of an entity, one that somebody would want to know."),
    ("remove_analytic", "An analytic goes."),
    ("rename_analytic", "A new name for an analytic."),
    ("change_measure", "An analytic measures something else."),
    (
        "change_grouping",
        "An analytic is grouped by another field (enum, boolean, string or reference), or no more (null).",
    ),
    ("change_restriction", "An analytic takes other records, or all (null)."),
    (
        "change_analytic_filter",
        "An analytic gets or changes the reference that it can be asked by, or loses it (null).",
    ),
    (
        "add_filter",
        "A new filter of a list: equals (every type but lists of strings), at_least and at_most (integer, number, date_time), contains (string).",
    ),
    ("remove_filter", "A filter goes."),
    ("add_sort", "A field that lists can be sorted by: string, integer, number or date_time, never null."),
    ("remove_sort", "A sort goes; refused for the default one."),
    (
        "change_default_sort",
        "Another order of lists if nothing is asked for; its field is one of the sorts. Null: by id.",
    ),
    (
        "tighten",
        "Narrower bounds, lengths or numbers of items, or a pattern. `kind` is the whole type afterwards, same `type`; nothing may become looser.",
    ),
    (
        "loosen",
        "Wider bounds or none. `kind` is the whole type afterwards, same `type`; nothing may become stricter.",
    ),
    ("require", "The field must be given; its default goes."),
    ("make_optional", "The field need not be given; it has a default, or is nullable."),
    ("allow_null", "Null becomes a value."),
    ("forbid_null", "Null is a value no more; the field is required, or has a default then."),
    ("change_default", "Another default for a field that is not required."),
    ("make_unique", "No two records may have the same value: string or integer."),
    ("drop_unique", "Records may have the same value."),
    ("make_immutable", "Set at creation only."),
    ("make_mutable", "Can be changed."),
    ("add_computed", "A read-only field that the server works out."),
    ("change_computed", "Another computation for a read-only field of the same type."),
    ("set_soft_delete", "Deleted records are kept and marked, or are removed again."),
    ("change_error_shape", "Another error body."),
    ("change_error_code", "Another code in error bodies."),
    (
        "change_status",
        "Another status. created: 201 or 200; deleted: 204 or 200; invalid: 400 or 422; conflict: 409 or 400; refused: 409, 403 or 422.",
    ),
    ("change_list_shape", "Other keys of lists."),
    ("change_pagination", "Another way to ask for pages, or other sizes: 5 to 100 by default, at most 200."),
    ("change_field_case", "Another way to write names in JSON: snake or camel."),
    ("change_prefix", "Another prefix of all paths."),
    ("change_unknown_fields", "Unknown fields in bodies are ignored or rejected."),
];

#[cfg(test)]
mod tests {
    use scenario::change::ChangeKind;

    use super::*;

    #[test]
    fn every_kind_of_change_has_a_line() {
        assert_eq!(LINES.map(|(name, _)| name), ChangeKind::ALL.map(ChangeKind::word));
    }
}
