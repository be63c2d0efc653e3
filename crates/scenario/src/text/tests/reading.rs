//! A second reader: changes rebuilt from the words of their requests alone, and held against what was to be stated.
//!
//! [`reader`] is given the specification of the turn before as a text and the request as a text: no schema, no change and no
//! template. It knows English as far as requests use it: terms such as “required” or “soft delete”, and how clauses are built.
//! These were chosen with the templates at hand. What it cannot tell apart, an agent might not either.

mod clauses;
mod expected;
mod kinds;
mod known_entities;
mod reader;
mod request_parts;
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::expected::expected;
use self::known_entities::KnownEntities;
use self::reader::read;
use self::request_parts::sentences;
use crate::Seed;
use crate::change::tests::{change, good, second_turn};
use crate::change::{Change, ChangeKind, apply, next_turn};
use crate::ir::Schema;
use crate::sample::{ProgrammaticSampler, Sampler as _, TouchedParts, propose};
use crate::text::change_request::phrasing;
use crate::text::delta::is_rename;
use crate::text::{change_request, specification, wording};

/// The paragraph of the only change of a request, with the list below it.
fn body(request: &str) -> &str {
    request.split("\n\n").nth(1).unwrap_or_default()
}

/// How a text is misread, if it is.
fn misread(
    before: &Schema,
    known: &KnownEntities,
    change: &Change,
    after: &Schema,
    text: &str,
) -> Option<String> {
    let wanted = expected(before, change, after);
    match read(known, text) {
        Ok(found) if found == wanted => None,
        Ok(found) => Some(format!("{text}\n  read as {found}\n  and not {wanted}")),
        Err(error) => Some(format!("{text}\n  {error}\n  and not {wanted}")),
    }
}

#[test]
fn every_phrasing_of_every_kind_is_read_back_from_its_text() {
    let before = second_turn();
    let known = KnownEntities::new(&specification(&before));
    let mut misread_texts = Vec::new();
    for json in good() {
        let change = change(&json);
        let after = apply(&before, &change).unwrap_or_else(|refusal| panic!("{json}: {refusal}"));
        let phrasings = wording::for_change(&change).requests;
        assert!(phrasings.len() >= 5, "{json} has {} phrasings", phrasings.len());
        let texts: BTreeSet<String> =
            phrasings.iter().map(|template| phrasing(&before, &change, &after, template)).collect();
        assert_eq!(texts.len(), phrasings.len(), "{json}");
        misread_texts.extend(texts.iter().filter_map(|text| misread(&before, &known, &change, &after, text)));
    }
    assert!(misread_texts.is_empty(), "{}\n{}", misread_texts.len(), misread_texts.join("\n\n"));
}

/// Schemas of four scenarios, early and grown.
fn schemas() -> Vec<(Seed, Schema)> {
    let mut all = Vec::new();
    for scenario in 0..4 {
        let seed = Seed { base: 21, scenario };
        let mut schema = ProgrammaticSampler.first_schema(seed).unwrap().value;
        all.push((seed, schema.clone()));
        for _ in 0..10 {
            schema = ProgrammaticSampler.next_turn(seed, &schema, 5).unwrap().value.after;
        }
        all.push((seed, schema));
    }
    all
}

/// A change of every kind that fits, as the sampler draws them, for every schema.
fn sampled() -> Vec<(Seed, Schema, Change, Schema)> {
    let mut all = Vec::new();
    for (seed, before) in schemas() {
        let next = next_turn(&before);
        for kind in ChangeKind::ALL {
            let found = (0..8).find_map(|attempt| {
                let mut draw = seed.draw(next.turn, &format!("{kind:?} {attempt}"));
                let change = propose(kind, &mut draw, &next, &TouchedParts::default())?;
                let after = apply(&next, &change).ok()?;
                Some((change, after))
            });
            if let Some((change, after)) = found {
                all.push((seed, before.clone(), change, after));
            }
        }
    }
    all
}

#[test]
fn more_than_two_hundred_sampled_changes_of_all_kinds_are_read_back_from_their_requests() {
    let sampled = sampled();
    let kinds: BTreeSet<ChangeKind> = sampled.iter().map(|(_, _, change, _)| change.kind()).collect();
    let missing: Vec<_> = ChangeKind::ALL.iter().filter(|kind| !kinds.contains(kind)).collect();
    assert!(sampled.len() > 200 && missing.is_empty(), "{} changes, without {missing:?}", sampled.len());
    let mut known: BTreeMap<String, KnownEntities> = BTreeMap::new();
    let mut misread_texts = Vec::new();
    for (seed, before, change, after) in &sampled {
        let key = format!("{} {}", before.title, before.turn);
        let known = known.entry(key).or_insert_with(|| KnownEntities::new(&specification(before)));
        let request = change_request(*seed, before, std::slice::from_ref(change), after);
        misread_texts.extend(misread(before, known, change, after, body(&request)));
    }
    let (count, all) = (misread_texts.len(), sampled.len());
    assert!(misread_texts.is_empty(), "{count} of {all}\n{}", misread_texts.join("\n\n"));
}

/// The changes of a request as they are laid out, each with the list below it; without what follows from them.
fn items(request: &str) -> Vec<String> {
    let is_item = |line: &str| {
        let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        line.starts_with("- ") || (digits.len() < line.len() && digits.starts_with(". "))
    };
    let blocks: Vec<&str> = request.trim_end().split("\n\n").collect();
    let inner = blocks.get(1..blocks.len().saturating_sub(1)).unwrap_or_default();
    let mut items: Vec<String> = Vec::new();
    for block in inner.iter().take_while(|block| !block.ends_with(':')) {
        if block.starts_with("### ") || block.starts_with("**") {
            continue;
        }
        if !is_item(block) {
            items.push((*block).to_owned());
            continue;
        }
        for line in block.lines() {
            match items.last_mut() {
                Some(item) if !is_item(line) => {
                    item.push('\n');
                    item.push_str(line);
                }
                _ => items.push(line.split_once(' ').map_or(line, |(_, text)| text).to_owned()),
            }
        }
    }
    items
}

#[test]
fn the_changes_of_whole_turns_are_read_back_whatever_the_layout() {
    let (mut turns, mut misread_texts) = (0, Vec::new());
    for scenario in 4..12 {
        let seed = Seed { base: 21, scenario };
        let mut before = ProgrammaticSampler.first_schema(seed).unwrap().value;
        for _ in 0..12 {
            let turn = ProgrammaticSampler.next_turn(seed, &before, 3).unwrap().value;
            // Renames change names that others of the turn use, and changes of one entity may share a clause.
            let mut subjects: Vec<_> = turn.changes.iter().filter_map(Change::entity).collect();
            subjects.sort_unstable();
            let count = subjects.len();
            subjects.dedup();
            if subjects.len() == count && !turn.changes.iter().any(is_rename) {
                turns += 1;
                let known = KnownEntities::new(&(specification(&before) + &specification(&turn.after)));
                let request = change_request(seed, &before, &turn.changes, &turn.after);
                let mut left: Vec<Value> =
                    turn.changes.iter().map(|change| expected(&before, change, &turn.after)).collect();
                for item in items(&request) {
                    match read(&known, &item) {
                        Ok(found) if left.contains(&found) => left.retain(|fact| *fact != found),
                        other => misread_texts.push(format!("{item}\n  read as {other:?}")),
                    }
                }
                misread_texts.extend(left.iter().map(|fact| format!("{request}\n  does not give {fact}")));
            }
            before = turn.after;
        }
    }
    assert!(turns >= 20, "{turns}");
    assert!(
        misread_texts.is_empty(),
        "{} in {turns} turns\n{}",
        misread_texts.len(),
        misread_texts.join("\n\n")
    );
}

/// Words of [`expected`] that stand for words of the texts.
const WORDS: [(&str, &str); 9] = [
    ("conflict", "*conflict*"),
    ("equals", "equals the given value"),
    ("at_least", "at least|greater than or equal"),
    ("at_most", "at most|less than or equal"),
    ("contains", "contains the given text"),
    ("its id", "'s `id`"),
    ("set", "sets `|is not null"),
    ("increase", "increases `"),
    ("decrease", "decreases `"),
];

/// The facts of a change: everything in [`expected`] that is no key.
fn facts(wanted: &Value, texts: &mut BTreeSet<String>) {
    match wanted {
        Value::String(text) => {
            texts.insert(text.clone());
        }
        Value::Array(all) => all.iter().for_each(|part| facts(part, texts)),
        Value::Object(all) => {
            for (key, part) in all {
                match (key.as_str(), part) {
                    ("required", Value::Bool(true)) => _ = texts.insert("Required.".to_owned()),
                    ("unique", Value::Bool(true)) => _ = texts.insert("Unique.".to_owned()),
                    ("immutable", Value::Bool(true)) => _ = texts.insert("Immutable.".to_owned()),
                    ("nullable", Value::Bool(true)) => _ = texts.insert("Null is allowed.".to_owned()),
                    ("nullable", Value::Bool(false)) => _ = texts.insert("Null is not allowed.".to_owned()),
                    ("change", _) => {}
                    _ => facts(part, texts),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a text states a fact: in backquotes, or as words.
fn states(text: &str, fact: &str) -> bool {
    let small = text.to_lowercase();
    let word = WORDS.iter().find(|(word, _)| *word == fact);
    fact.is_empty()
        || matches!(fact, "one_of" | "create")
        || word.is_some_and(|(_, words)| words.split('|').any(|words| text.contains(words)))
        || small.contains(&fact.to_lowercase())
}

#[test]
fn every_phrasing_names_every_fact_of_its_change() {
    let before = second_turn();
    let mut unnamed = Vec::new();
    for json in good() {
        let change = change(&json);
        let after = apply(&before, &change).unwrap_or_else(|refusal| panic!("{json}: {refusal}"));
        let mut wanted = BTreeSet::new();
        facts(&expected(&before, &change, &after), &mut wanted);
        assert!(!wanted.is_empty(), "{json}");
        for template in wording::for_change(&change).requests {
            let text = phrasing(&before, &change, &after, template);
            // The entity may be named by its singular.
            let singular = |fact: &str| {
                let named = before.entities.iter().find(|entity| crate::ir::words(&entity.plural) == fact);
                named.is_some_and(|entity| states(&text, &crate::ir::words(&entity.name)))
            };
            unnamed.extend(
                wanted
                    .iter()
                    .filter(|fact| !states(&text, fact) && !singular(fact))
                    .map(|fact| format!("{fact:?} is not in: {text}")),
            );
        }
    }
    assert!(unnamed.is_empty(), "{}\n{}", unnamed.len(), unnamed.join("\n"));
}

/// Otherwise it might know what it should read.
#[test]
fn the_reader_reads_each_fact_from_the_text() {
    let before = second_turn();
    let known = KnownEntities::new(&specification(&before));
    let mut read_otherwise = 0;
    for json in good() {
        let change = change(&json);
        let after = apply(&before, &change).unwrap_or_else(|refusal| panic!("{json}: {refusal}"));
        let wanted = expected(&before, &change, &after);
        let mut all = BTreeSet::new();
        facts(&wanted, &mut all);
        for template in wording::for_change(&change).requests {
            let text = phrasing(&before, &change, &after, template);
            for fact in &all {
                let quoted = format!("`{fact}`");
                if text.contains(&quoted) {
                    read_otherwise += 1;
                    let other = text.replace(&quoted, "`something_else`");
                    assert_ne!(read(&known, &other).as_ref(), Ok(&wanted), "{fact} in {text}");
                }
            }
        }
    }
    assert!(read_otherwise > 700, "{read_otherwise}");
}

/// Else “That is how it is done” would speak of what was, or of what stays.
#[test]
fn a_reason_stands_behind_what_is_new() {
    for json in good() {
        for template in wording::for_change(&change(&json)).requests {
            let (before, _) = template.split_once("{why}").unwrap_or((*template, ""));
            let last = sentences(before).last().copied().unwrap_or_default();
            let is_old = ["Today ", "Until now", "So far", "Old: "].iter().any(|old| last.starts_with(old));
            let is_fault = ["not useful", "not suit", "not right"].iter().any(|fault| last.contains(fault));
            assert!(!is_old || last.contains("{new}"), "{template}");
            assert!(!is_fault && !last.ends_with(" stays."), "{template}");
        }
    }
}

#[test]
fn reasons_name_no_part_of_an_api_and_demand_nothing() {
    for json in good() {
        for reason in wording::for_change(&change(&json)).reasons {
            assert!(!reason.contains(['`', '*', '{', '“']), "{reason}");
            assert!(reason.ends_with('.') && reason.starts_with(char::is_uppercase), "{reason}");
            assert!(!reason.to_lowercase().contains("please"), "{reason}");
        }
    }
}
