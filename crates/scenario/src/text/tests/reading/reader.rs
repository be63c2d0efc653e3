//! A reader that knows only the old specification and the words of a request.

use serde_json::{Value, json};

use super::clauses::{self, ReadResult, Scan};
use super::kinds::{has, kind};
use super::known_entities::{KnownEntities, split_description};
use super::request_parts::{Parts, parts, sentences};

/// The change that a request asks for. `body` is a paragraph and the list below it.
pub(super) fn read(known: &KnownEntities, body: &str) -> ReadResult<Value> {
    let parts = parts(known, body);
    let kind = kind(&parts.masked, &parts.literals)?;
    let mut out = json!({"change": kind});
    facts(known, kind, &parts, &mut out).map_err(|error| format!("{kind}: {error}"))?;
    Ok(out)
}

fn facts(known: &KnownEntities, kind: &str, parts: &Parts<'_>, out: &mut Value) -> ReadResult<()> {
    let literal = |index: usize| {
        parts.literals.get(index).copied().ok_or_else(|| format!("no name {index}: {}", parts.plain))
    };
    // “`b` replaces `a`” and “`b` instead of `a`” name the new one first.
    let swapped = has(&parts.masked, "§ replaces §|§ instead of §");
    let renamed = |number: usize| -> ReadResult<(&str, &str)> {
        let (first, second) = (literal(number)?, literal(number + 1)?);
        Ok(if swapped { (second, first) } else { (first, second) })
    };
    let listed = || parts.list.first().copied().ok_or("no clause below");
    let clause = || parts.clause.ok_or("no clause in the paragraph");
    let field = || clauses::field(listed()?);
    if !NAMED_OTHERWISE.contains(&kind) && !parts.entity.is_empty() {
        out["entity"] = json!(parts.entity);
    }
    match kind {
        "add_entity" => added_entity(parts, out)?,
        "remove_entity" | "soft_delete_on" | "soft_delete_off" => {}
        "rename_entity" => renamed_entity(known, parts, renamed(0)?, out)?,
        "remove_field" | "remove_reference" => out["field"] = json!(literal(0)?),
        "rename_field" | "rename_analytic" => {
            let (old, new) = renamed(0)?;
            (out["old"], out["new"]) = (json!(old), json!(new));
        }
        "add_enum_value" | "remove_enum_value" => {
            out["field"] = field()?;
            let name = out["field"]["name"].clone();
            let value = parts.literals.iter().find(|literal| name != **literal).ok_or("no value")?;
            out["value"] = json!(value);
        }
        "rename_enum_value" => {
            // The word that is the field's stands with “of”, or first.
            let by_comma = parts.masked.contains("§ of @ should")
                || parts.masked.contains("for § of")
                || parts.masked.contains("@, §");
            let (name, rest): (&str, Vec<&str>) = if by_comma {
                (literal(0)?, parts.literals[1..].to_vec())
            } else {
                (literal(1)?, vec![literal(0)?, literal(2)?])
            };
            let (first, second) = (rest.first().ok_or("no value")?, rest.get(1).ok_or("no word")?);
            let (old, new) = if swapped { (second, first) } else { (first, second) };
            (out["field"], out["old"], out["new"]) = (json!(name), json!(old), json!(new));
        }
        "change_delete_rule" => {
            let start = parts.plain.find("deleting ").ok_or("no rule")?;
            let rule = parts.plain[start + "deleting ".len()..].trim_end_matches('.');
            out["rule"] = clauses::delete_rule(rule)?;
            out["field"] = field()?;
        }
        "nest" | "unnest" => {
            out["path"] = json!(parts.literals.iter().find(|literal| literal.contains("/{id}/")));
            out["field"] = field()?;
        }
        "retype_field" => {
            let name = literal(0)?;
            out["field"] = field()?;
            if out["field"]["name"] != name {
                return Err(format!("{name} is not the field below"));
            }
            let word = out["field"]["kind"]["type"].as_str().unwrap_or_default().to_owned();
            let mut remaining = parts.masked.clone();
            for candidate in
                ["list of strings", "string", "integer", "number", "boolean", "date-time", "enum"]
            {
                if remaining.contains(candidate) && candidate != word {
                    out["old"] = json!(candidate);
                }
                remaining = remaining.replace(candidate, "");
            }
        }
        "add_field" | "add_reference" | "tighten" | "loosen" | "require" | "make_optional" | "allow_null"
        | "forbid_null" | "change_default" | "make_unique" | "drop_unique" | "make_immutable"
        | "make_mutable" | "add_computed" | "change_computed" => {
            let name = literal(0)?;
            out["field"] = field()?;
            if out["field"]["name"] != name {
                return Err(format!("{name} is not the field below"));
            }
            details(kind, parts, out)?;
        }
        "add_action" => {
            out["action"] = rules(&parts.list)?.into_iter().next().ok_or("no action")?;
            out["verb"] = json!(literal(0)?);
        }
        "remove_action" => out["verb"] = json!(literal(0)?),
        "rename_action" => {
            let (old, new) = renamed(0)?;
            (out["old"], out["new"]) = (json!(old), json!(new));
            out["path"] = json!(parts.literals.iter().find_map(|literal| literal.strip_prefix("POST ")));
        }
        "add_guard" | "change_guard" => {
            let (verb, holds) = clauses::guard(clause()?)?;
            (out["verb"], out["condition"]) = (json!(verb), holds);
            if !parts.literals.contains(&verb) {
                return Err(format!("the condition is one of {verb}"));
            }
            if kind == "change_guard" {
                out["old"] = clauses::condition(old_condition(&parts.plain)?)?;
            }
        }
        "remove_guard" => {
            let removed = parts
                .consequences
                .iter()
                .find(|sentence| sentence.contains(" no longer has the condition that "))
                .ok_or("which?")?;
            let mut scan = Scan(removed);
            out["verb"] = json!(scan.literal()?);
            scan.until(" no longer has the condition that ")?;
            out["condition"] = clauses::condition(scan.until(", and is no longer")?)?;
        }
        "add_effect" | "change_effect" => {
            let (verb, does) = clauses::effect(clause()?)?;
            (out["verb"], out["effect"]) = (json!(verb), does);
            if kind == "change_effect" {
                let places = ["today, it ", "Old: it ", "is wrong: it ", "Today it "];
                let old =
                    places.iter().find_map(|before| parts.plain.split_once(before)).ok_or("no old effect")?;
                let old = sentences(old.1).first().copied().unwrap_or_default();
                out["old"] = clauses::does(old.trim_end_matches('.'))?;
            }
            if let Some(action) = parts.list.first() {
                out["action"] = clauses::action(action)?;
            }
        }
        "remove_effect" => {
            let removed = parts
                .consequences
                .iter()
                .find(|sentence| has(sentence, " no longer changes | no longer creates "));
            let removed = removed.ok_or("which?")?;
            let mut scan = Scan(removed);
            out["verb"] = json!(scan.literal()?);
            scan.until(" no longer ")?;
            out["effect"] = json!(scan.0.trim_end_matches('.'));
        }
        "remove_analytic" => out["path"] = json!(literal(0)?),
        "add_analytic"
        | "change_measure"
        | "change_grouping"
        | "change_restriction"
        | "set_analytic_filter"
        | "drop_analytic_filter" => {
            out["analytic"] = clauses::analytic(clause()?)?;
            let path = parts.literals.iter().find(|literal| literal.contains("/analytics/"));
            if kind != "add_analytic" && path.is_none_or(|path| out["analytic"]["path"] != **path) {
                return Err("another path".to_owned());
            }
            let parameter = parts.literals.iter().rfind(|literal| !literal.contains('/'));
            match kind {
                "set_analytic_filter" => out["parameter"] = json!(parameter),
                "drop_analytic_filter" => out["old"] = json!(parameter),
                "change_grouping" if has(&parts.masked, "not grouped") => out["grouped"] = json!(false),
                "change_grouping" => out["grouped"] = json!(parameter),
                _ => {}
            }
        }
        "add_filter" => {
            out["filter"] = clauses::filter(listed()?)?;
            if out["filter"]["param"] != literal(0)? {
                return Err("another filter".to_owned());
            }
        }
        "remove_filter" => out["param"] = json!(literal(0)?),
        "add_sort" | "remove_sort" => {
            out["field"] = json!(literal(0)?);
            out["lists"] = clauses::sorts(listed()?)?;
        }
        "change_default_sort" => {
            out["lists"] = clauses::sorts(listed()?)?;
            let start = parts.plain.rfind("by `").ok_or("no order")?;
            let order = &parts.plain[start + 3..];
            let end = order.find("scending").ok_or("no direction")? + "scending".len();
            out["order"] = clauses::order(&order[..end])?;
        }
        "change_error_shape" => {
            let mut scan = Scan(clause()?);
            scan.until(" has a JSON body like ")?;
            let example: Value = serde_json::from_str(scan.literal()?).map_err(|error| error.to_string())?;
            let nested = example.as_object().and_then(|all| all.iter().find(|(_, inner)| inner.is_object()));
            let inner = nested.map_or(&example, |(_, inner)| inner);
            scan.need(": ")?;
            let names: Vec<&str> = scan.0.split('`').skip(1).step_by(2).collect();
            let (code, message) = match names.as_slice() {
                [.., code, message] => (*code, *message),
                _ => return Err("no keys".to_owned()),
            };
            if inner.get(code).is_none() || inner.get(message).is_none() {
                return Err("the example has other keys".to_owned());
            }
            out["keys"] = json!([nested.map(|(key, _)| key), code, message]);
        }
        "change_error_code" | "change_status" => {
            let old_last = swapped || has(&parts.masked, "today it is §|instead of §");
            let (first, second) = (literal(0)?, literal(1)?);
            let (old, new) = if old_last { (second, first) } else { (first, second) };
            (out["old"], out["new"]) = (json!(old), json!(new));
            let candidates = [
                "successful create",
                "successful deletion",
                "*invalid*",
                "*not found*",
                "*conflict*",
                "*refused*",
            ];
            out["of"] = json!(
                candidates
                    .iter()
                    .find(|candidate| parts.masked.contains(*candidate))
                    .map(|candidate| candidate.trim_matches('*'))
            );
        }
        "change_list_shape" => {
            let mut scan = Scan(clause()?);
            scan.until("`: ")?;
            let items = scan.literal()?;
            scan.until(" and ")?;
            out["keys"] = json!([items, scan.literal()?]);
        }
        "change_pagination" => {
            let mut scan = Scan(clause()?);
            scan.need("Lists are paginated with the query parameters ")?;
            let page_param = scan.literal()?;
            scan.until(" and ")?;
            let size = scan.literal()?;
            scan.until("from `1` to ")?;
            let most = scan.literal()?;
            scan.need("; default ")?;
            out["pages"] = json!([page_param, size, most, scan.literal()?]);
        }
        "change_field_case" => {
            let first = literal(0)?;
            let old_first = has(&parts.masked, "from § to §|query parameters: § → §");
            let other = if first == "camelCase" { "snake_case" } else { "camelCase" };
            out["case"] = json!(if old_first { other } else { first });
        }
        "change_prefix" => {
            let prefixes = prefixes(&parts.plain)?;
            (out["old"], out["new"]) = (json!(prefixes.0), json!(prefixes.1));
        }
        "change_unknown_fields" => {
            let places = [parts.plain.as_str(), clause()?];
            let is_rejected = places.map(|text| text.contains("*invalid*"));
            let is_ignored = places.map(|text| text.contains("ignored"));
            out["treatment"] = json!(match (is_rejected, is_ignored) {
                ([true, true], [false, false]) => "invalid",
                ([false, false], [true, true]) => "ignored",
                _ => return Err("clause and request differ".to_owned()),
            });
        }
        other => return Err(format!("no facts of {other}")),
    }
    Ok(())
}

/// Kinds whose subject is named by a path or by the clause.
const NAMED_OTHERWISE: [&str; 14] = [
    "add_entity",
    "rename_entity",
    "change_delete_rule",
    "nest",
    "unnest",
    "rename_analytic",
    "remove_analytic",
    "add_analytic",
    "change_measure",
    "change_grouping",
    "change_restriction",
    "set_analytic_filter",
    "drop_analytic_filter",
    "change_prefix",
];

/// What the sentence about a rule of a field states beside the clause.
fn details(kind: &str, parts: &Parts<'_>, out: &mut Value) -> ReadResult<()> {
    let plain = &parts.plain;
    match kind {
        "tighten" | "loosen" => {
            let words = ["string", "list of strings", "integer", "number"];
            let mut kinds = Vec::new();
            let mut rest = plain.as_str();
            while let Some(start) = words.iter().filter_map(|word| rest.find(word)).min() {
                let mut scan = Scan(&rest[start..]);
                kinds.push(clauses::kind(&mut scan)?);
                rest = scan.0;
            }
            let [first, second] = kinds.as_slice() else { return Err(format!("which types? {plain}")) };
            let (old, new) = if out["field"]["kind"] == *first { (second, first) } else { (first, second) };
            if out["field"]["kind"] != *new {
                return Err("another type than below".to_owned());
            }
            out["old"] = old.clone();
        }
        "change_default" | "make_optional" => {
            // The new one is that of the clause; the other one, if there is one, was.
            let mut values: Vec<&str> = parts.literals.iter().skip(1).copied().collect();
            if parts.masked.contains("null") {
                values.push("null");
            }
            let new = out["field"]["default"].as_str().unwrap_or_default().to_owned();
            let index = values.iter().position(|value| *value == new).ok_or("another default than below")?;
            values.remove(index);
            if kind == "change_default" {
                out["old"] = json!(values.first());
            }
        }
        _ => {}
    }
    Ok(())
}

/// The condition that was: it is named once, behind one of these words.
fn old_condition(plain: &str) -> ReadResult<&str> {
    for (before, behind) in [
        ("Until now it was: ", ". "),
        ("the condition “", "”"),
        ("the condition that ", " was not right"),
        ("Today it checks that ", ". "),
        ("Old: ", ". "),
    ] {
        if let Some((_, rest)) = plain.split_once(before) {
            let end = rest.find(behind).ok_or("the old condition does not end")?;
            return Ok(&rest[..end]);
        }
    }
    Err(format!("no old condition in {plain}"))
}

/// Old and new prefix.
fn prefixes(plain: &str) -> ReadResult<(&str, &str)> {
    for (before, between, new_first) in [
        ("from ", " to ", false),
        ("prefix: ", " instead of ", true),
        ("Today it is ", ", and it should be ", false),
        ("prefix: ", " → ", false),
    ] {
        let Some((_, rest)) = plain.split_once(before) else { continue };
        let mut scan = Scan(rest);
        let Ok(first) = prefix(&mut scan) else { continue };
        if !scan.skip_words(between) {
            continue;
        }
        let second = prefix(&mut scan)?;
        return Ok(if new_first { (second, first) } else { (first, second) });
    }
    Err(format!("no prefixes in {plain}"))
}

fn prefix<'a>(scan: &mut Scan<'a>) -> ReadResult<&'a str> {
    if scan.skip_words("no prefix") { Ok("") } else { scan.literal() }
}

fn renamed_entity(
    known: &KnownEntities,
    parts: &Parts<'_>,
    paths: (&str, &str),
    out: &mut Value,
) -> ReadResult<()> {
    let old = known.entity_at(paths.0)?;
    let between = |before: &str, behind: &str| {
        let (_, rest) = parts.plain.split_once(before)?;
        rest.split_once(behind).map(|(found, _)| found.to_owned())
    };
    let quoted: Vec<&str> = parts.plain.split(['“', '”']).skip(1).step_by(2).collect();
    let many = between(&format!("({} become ", old.many), "):")
        .or_else(|| between(" are called ", " from now on"))
        .or_else(|| quoted.get(2).map(|&many| many.to_owned()))
        .or_else(|| between(&format!("rename {} to ", old.many), " (singular: "))
        .or_else(|| between(", plural ", ". "))
        .or_else(|| between(&format!("{} → ", old.many), " (singular: "));
    let singular = between(&format!("the entity {} to ", old.one), " (")
        .or_else(|| between(&format!("(singular: {} → ", old.one), ")"))
        .or_else(|| between("(singular: ", ")"))
        .or_else(|| quoted.first().map(|&singular| singular.to_owned()))
        .or_else(|| between(&format!("the entity {}: ", old.one), ", plural "));
    (out["entity"], out["one"], out["many"]) = (json!(old.many), json!(singular), json!(many));
    (out["old"], out["new"]) = (json!(paths.0), json!(paths.1));
    Ok(())
}

fn added_entity(parts: &Parts<'_>, out: &mut Value) -> ReadResult<()> {
    let (first, rest) = parts.list.split_first().ok_or("no clauses")?;
    let (singular, definition_rest, path) = split_description(first).ok_or("no description")?;
    if parts.literals.first() != Some(&path) {
        return Err("another path".to_owned());
    }
    let many = path.rsplit('/').next().unwrap_or_default().replace(['-', '_'], " ");
    if !parts.plain.to_lowercase().contains(&many) {
        return Err(format!("the request does not name {many}"));
    }
    (out["entity"], out["one"], out["about"], out["path"]) =
        (json!(many), json!(singular), json!(definition_rest), json!(path));
    let is_rule =
        |line: &&str| line.starts_with("`POST ") || (line.starts_with('`') && !line.contains("`: "));
    let (actions, others): (Vec<&str>, Vec<&str>) = rest.iter().copied().partition(is_rule);
    let (mut fields, mut filters) = (Vec::new(), Vec::new());
    for line in others {
        if line.starts_with('`') {
            fields.push(clauses::field(line)?);
        } else if line.starts_with("Filter ") {
            filters.push(clauses::filter(line)?);
        } else if line.contains(" be sorted") {
            out["lists"] = clauses::sorts(line)?;
        } else if line.contains(" have soft delete: ") {
            out["soft_delete"] = json!(true);
        } else {
            return Err(format!("what is {line}?"));
        }
    }
    (out["fields"], out["filters"], out["actions"]) =
        (json!(fields), json!(filters), json!(rules(&actions)?));
    Ok(())
}

/// Actions with their conditions and effects.
fn rules(lines: &[&str]) -> ReadResult<Vec<Value>> {
    let mut all: Vec<Value> = Vec::new();
    for line in lines {
        if line.starts_with("`POST ") {
            let mut action = clauses::action(line)?;
            (action["conditions"], action["effects"]) = (json!([]), json!([]));
            all.push(action);
            continue;
        }
        let action = all.last_mut().ok_or("a rule before its action")?;
        let (verb, key, rule) = if line.contains("` requires that ") {
            let (verb, holds) = clauses::guard(line)?;
            (verb, "conditions", holds)
        } else {
            let (verb, does) = clauses::effect(line)?;
            (verb, "effects", does)
        };
        if !action["path"].as_str().is_some_and(|path| path.ends_with(&format!("/{verb}"))) {
            return Err(format!("{verb} is another action"));
        }
        if let Some(rules) = action[key].as_array_mut() {
            rules.push(rule);
        }
    }
    Ok(all)
}
