//! Which kind of change words ask for: a table of terms.

use super::clauses::ReadResult;

/// Whether one of the words, which `|` separates, stands there.
pub(super) fn has(text: &str, words: &str) -> bool {
    words.split('|').any(|word| text.contains(word))
}

/// Which kind of change is asked for.
pub(super) fn kind(masked: &str, literals: &[&str]) -> ReadResult<&'static str> {
    let is = |words: &str| has(masked, words);
    let drops = is("remove|no longer|drop|discontinued|delete|stop |lose|no more");
    let case = |word: &str| literals.contains(&word);
    Ok(if is("new entity") {
        "add_entity"
    } else if is(
        "entity rename|rename the entity|could you rename @|name for the entity|call this entity|so the collection moves",
    ) {
        "rename_entity"
    } else if case("camelCase") && case("snake_case") {
        "change_field_case"
    } else if is("status code") {
        "change_status"
    } else if is("error code") {
        "change_error_code"
    } else if is("error body|errors need another body") {
        "change_error_shape"
    } else if is("list bod") {
        "change_list_shape"
    } else if is("pagination") {
        "change_pagination"
    } else if is("unknown keys") {
        "change_unknown_fields"
    } else if is("prefix") {
        "change_prefix"
    } else if is("soft delete") {
        if is("switch off|without|stop|remove soft|no more") { "soft_delete_off" } else { "soft_delete_on" }
    } else if is("nested route") {
        if drops { "unnest" } else { "nest" }
    } else if is("delete rule") {
        "change_delete_rule"
    } else if is("computed field") {
        if is("formula") { "change_computed" } else { "add_computed" }
    } else if is("analytic") {
        if is("rename|moves to|path of the analytic|another path|new path") {
            "rename_analytic"
        } else if is("query parameter") {
            if drops { "drop_analytic_filter" } else { "set_analytic_filter" }
        } else if is("grouping") {
            "change_grouping"
        } else if is("include") {
            "change_restriction"
        } else if is("computes|to compute") {
            "change_measure"
        } else if drops {
            "remove_analytic"
        } else {
            "add_analytic"
        }
    } else if is("effect") {
        if is("change an effect|replaced|wrong|correct|effect changed") {
            "change_effect"
        } else if is("remove|lose|no longer wanted|drop") {
            "remove_effect"
        } else {
            "add_effect"
        }
    } else if is("condition") {
        if is("replace|change a condition|condition changed") {
            "change_guard"
        } else if is("remove|dropped|drop one|no longer needed") {
            "remove_guard"
        } else {
            "add_guard"
        }
    } else if is("action") {
        if is("rename|is called|replaces") {
            "rename_action"
        } else if drops {
            "remove_action"
        } else {
            "add_action"
        }
    } else if is("filter") {
        if drops { "remove_filter" } else { "add_filter" }
    } else if is("default order") {
        "change_default_sort"
    } else if is("sort") {
        if drops { "remove_sort" } else { "add_sort" }
    } else if is("immutable") {
        if is("no longer") { "make_mutable" } else { "make_immutable" }
    } else if is("unique") {
        if drops { "drop_unique" } else { "make_unique" }
    } else if is("optional") {
        "make_optional"
    } else if is("required") {
        "require"
    } else if is("default") {
        "change_default"
    } else if is("null") {
        if is("forbid|must not|no longer|reject") { "forbid_null" } else { "allow_null" }
    } else if is("less strict|relax|widen") {
        "loosen"
    } else if is("strict|tighten|narrow down") {
        "tighten"
    } else if is("value") {
        if is("rename|is called|replaces|instead of") {
            "rename_enum_value"
        } else if drops {
            "remove_enum_value"
        } else {
            "add_enum_value"
        }
    } else if is(" type") {
        "retype_field"
    } else if is("reference|link") {
        if drops { "remove_reference" } else { "add_reference" }
    } else if is("entity") {
        "remove_entity"
    } else if is("field") {
        if is("rename|is called|field name|another name") {
            "rename_field"
        } else if drops {
            "remove_field"
        } else {
            "add_field"
        }
    } else {
        return Err(format!("no kind of change in {masked}"));
    })
}
