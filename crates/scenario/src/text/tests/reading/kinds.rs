//! Which kind of change words ask for: a table of terms.

use super::clauses::ReadResult;

/// Whether one of the words, which `|` separates, stands there.
pub(super) fn has(text: &str, words: &str) -> bool {
    words.split('|').any(|word| text.contains(word))
}

/// Which kind of change is asked for.
pub(super) fn kind(masked: &str, literals: &[&str]) -> ReadResult<&'static str> {
    let has_words = |words: &str| has(masked, words);
    let drops = has_words("remove|no longer|drop|discontinued|delete|stop |lose|no more");
    let case = |word: &str| literals.contains(&word);
    Ok(if has_words("new entity") {
        "add_entity"
    } else if has_words(
        "entity rename|rename the entity|could you rename @|name for the entity|call this entity|so the collection moves",
    ) {
        "rename_entity"
    } else if case("camelCase") && case("snake_case") {
        "change_field_case"
    } else if has_words("status code") {
        "change_status"
    } else if has_words("error code") {
        "change_error_code"
    } else if has_words("error body|errors need another body") {
        "change_error_shape"
    } else if has_words("list bod") {
        "change_list_shape"
    } else if has_words("pagination") {
        "change_pagination"
    } else if has_words("unknown keys") {
        "change_unknown_fields"
    } else if has_words("prefix") {
        "change_prefix"
    } else if has_words("soft delete") {
        if has_words("switch off|without|stop|remove soft|no more") {
            "soft_delete_off"
        } else {
            "soft_delete_on"
        }
    } else if has_words("nested route") {
        if drops { "unnest" } else { "nest" }
    } else if has_words("delete rule") {
        "change_delete_rule"
    } else if has_words("computed field") {
        if has_words("formula") { "change_computed" } else { "add_computed" }
    } else if has_words("analytic") {
        if has_words("rename|moves to|path of the analytic|another path|new path") {
            "rename_analytic"
        } else if has_words("query parameter") {
            if drops { "drop_analytic_filter" } else { "set_analytic_filter" }
        } else if has_words("computes|to compute") {
            "change_measure"
        } else if has_words("grouping|grouped") {
            "change_grouping"
        } else if has_words("include") {
            "change_restriction"
        } else if drops {
            "remove_analytic"
        } else {
            "add_analytic"
        }
    } else if has_words("effect") {
        if has_words("change an effect|replaced|wrong|correct|effect changed") {
            "change_effect"
        } else if has_words("remove|lose|no longer wanted|drop") {
            "remove_effect"
        } else {
            "add_effect"
        }
    } else if has_words("condition") {
        if has_words("replace|change a condition|condition changed") {
            "change_guard"
        } else if has_words("remove|dropped|drop one|no longer needed") {
            "remove_guard"
        } else {
            "add_guard"
        }
    } else if has_words("action") {
        if has_words("rename|is called|replaces") {
            "rename_action"
        } else if drops {
            "remove_action"
        } else {
            "add_action"
        }
    } else if has_words("filter") {
        if drops { "remove_filter" } else { "add_filter" }
    } else if has_words("default order") {
        "change_default_sort"
    } else if has_words("sort") {
        if drops { "remove_sort" } else { "add_sort" }
    } else if has_words("immutable") {
        if has_words("no longer") { "make_mutable" } else { "make_immutable" }
    } else if has_words("unique") {
        if drops { "drop_unique" } else { "make_unique" }
    } else if has_words("optional") {
        "make_optional"
    } else if has_words("required") {
        "require"
    } else if has_words("default") {
        "change_default"
    } else if has_words("null") {
        if has_words("forbid|must not|no longer|reject") { "forbid_null" } else { "allow_null" }
    } else if has_words("less strict|relax|widen") {
        "loosen"
    } else if has_words("strict|tighten|narrow down") {
        "tighten"
    } else if has_words("value") {
        if has_words("rename|is called|replaces|instead of") {
            "rename_enum_value"
        } else if drops {
            "remove_enum_value"
        } else {
            "add_enum_value"
        }
    } else if has_words(" type") {
        "retype_field"
    } else if has_words("reference|link") {
        if drops { "remove_reference" } else { "add_reference" }
    } else if has_words("entity") {
        "remove_entity"
    } else if has_words("field") {
        if has_words("rename|is called|field name|another name") {
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
