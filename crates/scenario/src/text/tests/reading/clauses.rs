//! What single clauses state, read from their words.

use serde_json::{Value, json};

/// What was read, or where the text could not be understood.
pub(super) type ReadResult<T> = Result<T, String>;

/// A text that is read from its beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a>(pub(super) &'a str);

impl<'a> Scan<'a> {
    /// Whether the text continues with these words, which are read then.
    pub(super) fn skip_words(&mut self, words: &str) -> bool {
        let rest = self.0.strip_prefix(words);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Reads these words.
    pub(super) fn need(&mut self, words: &str) -> ReadResult<()> {
        if self.skip_words(words) { Ok(()) } else { Err(format!("no {words:?} in {:?}", self.0)) }
    }

    /// What is in backquotes here.
    pub(super) fn literal(&mut self) -> ReadResult<&'a str> {
        let found = self.0.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let (literal, rest) = found.ok_or_else(|| format!("nothing in backquotes in {:?}", self.0))?;
        self.0 = rest;
        Ok(literal)
    }

    /// `` `a`, `b` and `c` ``.
    fn literals(&mut self, last: &str) -> ReadResult<Vec<&'a str>> {
        let mut all = vec![self.literal()?];
        loop {
            let mut ahead = *self;
            if !((ahead.skip_words(", ") || ahead.skip_words(last)) && ahead.0.starts_with('`')) {
                return Ok(all);
            }
            all.push(ahead.literal()?);
            *self = ahead;
        }
    }

    /// Everything before these words; they are read, too.
    pub(super) fn until(&mut self, words: &str) -> ReadResult<&'a str> {
        let found = self.0.split_once(words).ok_or_else(|| format!("no {words:?} in {:?}", self.0))?;
        self.0 = found.1;
        Ok(found.0)
    }

    /// A word with its article.
    fn noun(&mut self, end: &str) -> ReadResult<&'a str> {
        if !self.skip_words("a ") {
            self.need("an ")?;
        }
        self.until(end)
    }

    /// That nothing is left.
    fn end(self) -> ReadResult<()> {
        if self.0.is_empty() { Ok(()) } else { Err(format!("{:?} is left", self.0)) }
    }
}

/// A type with its bounds.
pub(super) fn kind(scan: &mut Scan<'_>) -> ReadResult<Value> {
    if scan.skip_words("string matching the regular expression ") {
        let pattern = scan.literal()?;
        scan.need(", for example ")?;
        scan.literal()?;
        return Ok(json!({"type": "string", "pattern": pattern}));
    }
    if scan.skip_words("enum with the values ") {
        return Ok(json!({"type": "enum", "values": scan.literals(" and ")?}));
    }
    if scan.skip_words("reference to ") {
        let mut noun = *scan;
        let singular = noun.noun(".")?;
        scan.0 = scan.0.get(scan.0.len() - noun.0.len() - 1..).unwrap_or_default();
        return Ok(json!({"type": "reference", "to": singular}));
    }
    for word in ["boolean", "date-time"] {
        if scan.skip_words(word) {
            return Ok(json!({"type": word}));
        }
    }
    for word in ["string", "list of strings", "integer", "number"] {
        if !scan.skip_words(word) {
            continue;
        }
        let mut out = json!({"type": word});
        if [" of any length", " with any number of items", " without bounds"]
            .iter()
            .any(|any| scan.skip_words(any))
        {
            return Ok(out);
        }
        if ![" of ", " with ", " from "].iter().any(|before| scan.skip_words(before)) {
            return Err(format!("no bounds of the {word} in {:?}", scan.0));
        }
        if scan.skip_words("at least ") {
            out["min"] = json!(scan.literal()?);
        } else if scan.skip_words("at most ") {
            out["max"] = json!(scan.literal()?);
        } else if scan.skip_words("exactly ") {
            let size = scan.literal()?;
            (out["min"], out["max"]) = (json!(size), json!(size));
        } else {
            out["min"] = json!(scan.literal()?);
            scan.need(" to ")?;
            out["max"] = json!(scan.literal()?);
        }
        let _unit = [" characters", " character", " items", " item"].iter().any(|unit| scan.skip_words(unit));
        return Ok(out);
    }
    Err(format!("no type in {:?}", scan.0))
}

/// Null, or what is in backquotes.
fn value<'a>(scan: &mut Scan<'a>) -> ReadResult<&'a str> {
    if scan.skip_words("null") { Ok("null") } else { scan.literal() }
}

/// A field with all its rules.
pub(super) fn field(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    let name = scan.literal()?;
    scan.need(": ")?;
    if let Some((word, rule)) = scan.0.split_once(", read-only. The server computes it for every response: ")
    {
        let rule = rule.strip_suffix('.').ok_or("the formula does not end")?;
        return Ok(json!({"name": name, "type": word, "computed": formula(rule)?}));
    }
    let kind = kind(&mut scan)?;
    let mut out = json!({"name": name, "kind": kind});
    scan.need(". ")?;
    if scan.skip_words("Required. ") {
        out["required"] = json!(true);
    } else {
        scan.need("Optional, default ")?;
        out["default"] = json!(value(&mut scan)?);
        scan.need(". ")?;
    }
    out["nullable"] = json!(if scan.skip_words("Null is allowed.") {
        true
    } else {
        scan.need("Null is not allowed.")?;
        false
    });
    for (words, key) in [(" Unique.", "unique"), (" Immutable.", "immutable")] {
        if scan.skip_words(words) {
            out[key] = json!(true);
        }
    }
    if scan.skip_words(" Deleting ") {
        out["delete_rule"] = delete_rule(scan.until(".")?)?;
    }
    if scan.skip_words(" Nested routes: `GET ") {
        let path = scan.until("`")?;
        scan.need(" lists only the ")?;
        scan.until(&format!("`POST {path}` creates "))?;
        out["nested"] = json!(path);
        scan.until("does not exist.")?;
    }
    scan.end()?;
    Ok(out)
}

/// What happens to records when that is deleted which they refer to; `text` is what follows “deleting”.
pub(super) fn delete_rule(text: &str) -> ReadResult<Value> {
    let through = |text: &str| -> ReadResult<Value> {
        let mut scan = Scan(text);
        let many = scan.until("refer to it through ")?.trim_end();
        let many = many.strip_suffix(" that").unwrap_or(many);
        Ok(json!([many, scan.literal()?]))
    };
    let mut scan = Scan(text);
    if text.contains(" also deletes the ") {
        let singular = scan.noun(" also deletes the ")?;
        return Ok(json!({"of": singular, "cascade": through(scan.0)?}));
    }
    if text.contains(" is a *conflict* as long as ") {
        let singular = scan.noun(" is a *conflict* as long as ")?;
        return Ok(json!({"of": singular, "conflict": through(scan.0)?}));
    }
    let singular = scan.noun(" sets ")?;
    scan.literal()?;
    scan.need(" to null in the ")?;
    Ok(json!({"of": singular, "null": through(scan.0)?}))
}

/// How a read-only field is computed.
fn formula(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    let out = if scan.skip_words("`true` if ") {
        let field = scan.literal()?;
        scan.need(" is at least ")?;
        let out = json!({"at_least": [field, scan.literal()?]});
        scan.need(", otherwise `false`")?;
        out
    } else if scan.skip_words("the number of ") {
        let many = scan.until(" that refer to the ")?;
        scan.until(" through ")?;
        json!({"count": [many, scan.literal()?]})
    } else if scan.skip_words("the sum of ") {
        let field = scan.literal()?;
        scan.need(" over the ")?;
        let many = scan.until(" that refer to the ")?;
        scan.until(" through ")?;
        let out = json!({"total": [field, many, scan.literal()?]});
        scan.need(" (null values are skipped; `0` if there are none)")?;
        out
    } else {
        let first = scan.literal()?;
        let joined = ", joined into one string";
        if scan.skip_words(" times ") {
            json!({"product": [first, scan.literal()?]})
        } else if scan.skip_words(" plus ") {
            json!({"sum": [first, scan.literal()?]})
        } else if scan.skip_words(" directly followed by ") {
            let out = json!({"joined": [first, "", scan.literal()?]});
            scan.need(", as one string")?;
            out
        } else if scan.skip_words(", one space and ") {
            let out = json!({"joined": [first, " ", scan.literal()?]});
            scan.need(joined)?;
            out
        } else {
            scan.need(", ")?;
            let separator = scan.literal()?;
            scan.need(" and ")?;
            let out = json!({"joined": [first, separator, scan.literal()?]});
            scan.need(joined)?;
            out
        }
    };
    scan.end()?;
    Ok(out)
}

/// What must hold for an action.
pub(super) fn condition(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    if scan.skip_words("at least ") {
        let count = scan.literal()?;
        scan.need(" ")?;
        let (words, _) = scan.0.split_once(" refer").ok_or("nothing refers")?;
        scan.until(" through ")?;
        return Ok(json!({"has_at_least": count, "entity": words, "through": scan.literal()?}));
    }
    if scan.skip_words("no ") {
        let singular = scan.until(" refers to the ")?;
        scan.until(" through ")?;
        return Ok(json!({"has_none": singular, "through": scan.literal()?}));
    }
    let mut out = json!({});
    let first = scan.literal()?;
    out["field"] = json!(first);
    if text.contains(" of the referenced ") {
        if scan.skip_words(" is not null and ") {
            out["field"] = json!(scan.literal()?);
            (out["through"], out["set"]) = (json!(first), json!(true));
            scan.need(" of the referenced ")?;
            out["one"] = json!(scan.until(" is ")?);
        } else {
            scan.need(" of the referenced ")?;
            out["one"] = json!(scan.until(" (")?);
            out["through"] = json!(scan.literal()?);
            scan.need(") is ")?;
        }
    } else {
        scan.need(" is ")?;
    }
    out["is"] = comparison(&mut scan)?;
    scan.end()?;
    Ok(out)
}

fn comparison(scan: &mut Scan<'_>) -> ReadResult<Value> {
    for (words, key) in [("not null", "set"), ("null", "null")] {
        if scan.skip_words(words) {
            return Ok(json!([key]));
        }
    }
    for (words, key) in [("at least ", "at_least"), ("at most ", "at_most"), ("not ", "not")] {
        if scan.skip_words(words) {
            return Ok(json!([key, scan.literal()?]));
        }
    }
    let mut all = vec!["one_of"];
    all.extend(scan.literals(" or ")?);
    Ok(json!(all))
}

/// `` `cancel` requires that …; otherwise it is *refused*. ``: the action and the condition.
pub(super) fn guard(text: &str) -> ReadResult<(&str, Value)> {
    let mut scan = Scan(text);
    let verb = scan.literal()?;
    scan.need(" requires that ")?;
    let holds = condition(scan.until("; otherwise it is *refused*.")?)?;
    scan.end()?;
    Ok((verb, holds))
}

/// `` `cancel` sets `status` to `cancelled`. ``: the action and the effect.
pub(super) fn effect(text: &str) -> ReadResult<(&str, Value)> {
    let mut scan = Scan(text);
    let verb = scan.literal()?;
    scan.need(" ")?;
    Ok((verb, does(scan.0.strip_suffix('.').unwrap_or(scan.0))?))
}

/// What an effect does: `` sets `status` to `cancelled` ``.
pub(super) fn does(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    for (verb, between, key) in
        [("sets ", " to ", "set"), ("increases ", " by ", "increase"), ("decreases ", " by ", "decrease")]
    {
        if scan.skip_words(verb) {
            let field = scan.literal()?;
            scan.need(between)?;
            let out = json!({"do": key, "field": field, "by": operand(&mut scan)?});
            scan.end()?;
            return Ok(out);
        }
    }
    scan.need("creates ")?;
    let singular = scan.noun(" with ")?;
    let mut values = serde_json::Map::new();
    loop {
        let field = scan.literal()?;
        scan.need(" = ")?;
        values.insert(field.to_owned(), operand(&mut scan)?);
        if !scan.skip_words(", ") && !scan.skip_words(" and ") {
            break;
        }
    }
    scan.need("; all its other fields get their defaults, or null if they have none")?;
    scan.end()?;
    Ok(json!({"do": "create", "one": singular, "values": values}))
}

fn operand(scan: &mut Scan<'_>) -> ReadResult<Value> {
    if scan.skip_words("the value of the parameter ") {
        return Ok(json!({"parameter": scan.literal()?}));
    }
    if scan.skip_words("the value that ") {
        let field = scan.literal()?;
        scan.need(" of the ")?;
        scan.until(" had before the action")?;
        return Ok(json!({"before": field}));
    }
    if scan.skip_words("the ") {
        scan.until("'s `id`")?;
        return Ok(json!("its id"));
    }
    Ok(json!(value(scan)?))
}

/// `` `POST …` takes …. ``: the path and the parameters.
pub(super) fn action(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    scan.need("`POST ")?;
    let path = scan.until("` takes ")?;
    let mut params = Vec::new();
    if !scan.skip_words("no parameters.") {
        if !scan.skip_words("the parameter ") {
            scan.need("the parameters ")?;
        }
        loop {
            let name = scan.literal()?;
            scan.need(" (")?;
            params.push(json!({"name": name, "kind": kind(&mut scan)?}));
            scan.need(")")?;
            if !scan.skip_words(", ") && !scan.skip_words(" and ") {
                break;
            }
        }
        scan.need(".")?;
    }
    scan.end()?;
    Ok(json!({"path": path, "params": params}))
}

/// `` `GET …` returns …. ``, with the sentence about query parameters.
pub(super) fn analytic(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    scan.need("`GET ")?;
    let path = scan.until("` returns ")?;
    let mut out = json!({"path": path});
    let (measure, entity_before) = if scan.skip_words("the number of ") {
        (json!(["number"]), "")
    } else if scan.skip_words("the sum of ") {
        (json!(["sum", scan.literal()?]), " over the ")
    } else if scan.skip_words("the average of ") {
        (json!(["average", scan.literal()?]), " over the ")
    } else if scan.skip_words("the smallest ") {
        (json!(["smallest", scan.literal()?]), " of the ")
    } else {
        scan.need("the largest ")?;
        (json!(["largest", scan.literal()?]), " of the ")
    };
    scan.need(entity_before)?;
    out["measure"] = measure;
    let end = [" whose ", " that refer through ", ", "].iter().filter_map(|end| scan.0.find(end)).min();
    let (many, rest) = scan.0.split_at(end.ok_or_else(|| format!("no end in {text:?}"))?);
    out["entity"] = json!(many);
    scan.0 = rest;
    if scan.0.starts_with(" whose ") || scan.0.starts_with(" that refer ") {
        out["only"] = restriction(&mut scan)?;
    }
    if scan.skip_words(", grouped by ") {
        out["grouped_by"] = json!(scan.literal()?);
    } else {
        scan.need(", as a single value")?;
    }
    scan.need(". ")?;
    if !scan.skip_words("It has no query parameters.") {
        scan.need("The optional query parameter ")?;
        out["by"] = json!(scan.literal()?);
        scan.until(" is the given id.")?;
    }
    scan.end()?;
    Ok(out)
}

/// Which records an analytic includes.
pub(super) fn restriction(scan: &mut Scan<'_>) -> ReadResult<Value> {
    let mut out = json!({});
    if scan.skip_words(" that refer through ") {
        out["through"] = json!(scan.literal()?);
        scan.need(" to ")?;
        scan.noun(" whose ")?;
    } else {
        scan.need(" whose ")?;
    }
    out["field"] = json!(scan.literal()?);
    scan.need(" is ")?;
    out["equals"] = json!(scan.literal()?);
    Ok(out)
}

/// `` Filter `min_price`: only …. ``.
pub(super) fn filter(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    scan.need("Filter ")?;
    let param = scan.literal()?;
    scan.need(": only ")?;
    let many = scan.until(" whose ")?;
    let field = scan.literal()?;
    let holds = match scan.0 {
        " equals the given value." => "equals",
        " is greater than or equal to the given value." => "at_least",
        " is less than or equal to the given value." => "at_most",
        " contains the given text (case-sensitive)." => "contains",
        other => return Err(format!("what does {other:?} compare?")),
    };
    Ok(json!({"param": param, "entity": many, "field": field, "holds": holds}))
}

/// What lists can be sorted by, and their default order.
pub(super) fn sorts(text: &str) -> ReadResult<Value> {
    let (sortable, order) = text.split_once(". Default order: by ").ok_or("no default order")?;
    let fields = match sortable.split_once(" can be sorted by ") {
        Some((_, list)) => Scan(list).literals(" and ")?,
        None if sortable.ends_with(" cannot be sorted (any `sort` is *invalid*)") => Vec::new(),
        None => return Err(format!("what sorts {sortable:?}?")),
    };
    Ok(json!({"sorts": fields, "order": self::order(order.strip_suffix('.').unwrap_or(order))?}))
}

/// `` `price`, descending ``.
pub(super) fn order(text: &str) -> ReadResult<Value> {
    let mut scan = Scan(text);
    let field = scan.literal()?;
    let direction = if scan.skip_words(", descending") {
        "descending"
    } else {
        scan.need(", ascending")?;
        "ascending"
    };
    Ok(json!([field, direction]))
}
