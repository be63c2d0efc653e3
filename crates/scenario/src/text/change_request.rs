//! The request of a later turn.

mod clauses;

use std::fmt::Write as _;

use self::clauses::{clauses_of, removed_with};
use super::delta::{Delta, RenamedLiteral, is_rename};
#[cfg(test)]
use super::document;
use super::english::{Names, capital};
use super::frame;
use super::pieces::{Part, Piece};
use super::slots::{Slots, fill, slots};
use super::superseded_changes::is_superseded;
use super::wording;
use crate::Seed;
use crate::change::{ActionChange, AnalyticChange, Change, EntityChange, FieldChange, ListChange};
use crate::draw::Draw;
use crate::ir::{Schema, words};

/// One change in words: a sentence or two, and the clauses that follow it as a list.
struct Item<'a> {
    /// Entity that it is about.
    subject: Option<&'a str>,
    /// One plain sentence, for a title.
    title: String,
    text: String,
    /// (how deep, clause).
    list: Vec<(usize, &'a str)>,
}

/// How a request is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Bullets,
    Numbers,
    Paragraphs,
    Tickets,
    /// Grouped by entity, under headings.
    Groups,
}

/// The request of the changes that lead from one schema to another.
pub(super) fn change_request(
    seed: Seed,
    before: &Schema,
    changes: &[Change],
    after: &Schema,
    delta: &Delta,
) -> String {
    let mut draw = seed.draw(after.turn, "request");
    let mut stated = vec![false; delta.pieces.len()];
    let layout = layout(&mut draw, changes.len());
    let mut order: Vec<&Change> =
        changes.iter().filter(|change| !is_superseded(before, after, change)).collect();
    if draw.chance(40) {
        draw.shuffle(&mut order);
    }
    // The other changes use the new names. Groups are by entity all the same.
    order.sort_by_key(|change| !is_rename(change));
    if layout == Layout::Groups {
        group(&mut order);
    }
    let items: Vec<Item<'_>> =
        order.iter().map(|change| item(&mut draw, delta, &mut stated, before, after, change)).collect();

    let mut out = String::with_capacity(2048);
    frame::opening(&mut draw, before, after, changes.len(), &mut out);
    if changes.iter().any(is_rename) && changes.len() > 1 {
        if out.ends_with(':') {
            out.pop();
            out.push('.');
        }
        out.push(' ');
        out.push_str(frame::names_note(&mut draw));
    }
    out.push_str("\n\n");
    body(&mut draw, layout, &items, (before, after), &mut out);
    follow_ups(&mut draw, delta, &stated, after, &mut out);
    out.push('\n');
    frame::closing(&mut draw, &mut out);
    out
}

fn layout(draw: &mut Draw, count: usize) -> Layout {
    if count <= 1 {
        return Layout::Paragraphs;
    }
    match draw.weighted_index(&[5, 4, 4, 3, 4]) {
        Some(0) => Layout::Bullets,
        Some(1) => Layout::Numbers,
        Some(2) => Layout::Paragraphs,
        Some(3) => Layout::Tickets,
        _ => Layout::Groups,
    }
}

/// Changes of the same entity beside one another, in the order in which the entities come first; the rest last.
fn group(order: &mut Vec<&Change>) {
    let mut subjects: Vec<Option<&str>> = Vec::new();
    for change in order.iter() {
        let subject = change.entity();
        if subject.is_some() && !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    subjects.push(None);
    order.sort_by_key(|change| subjects.iter().position(|known| *known == change.entity()));
}

/// Words for a change, from the wordings of its kind.
fn item<'a>(
    draw: &mut Draw,
    delta: &'a Delta,
    stated: &mut [bool],
    before: &Schema,
    after: &Schema,
    change: &'a Change,
) -> Item<'a> {
    let wording = wording::for_change(change);
    let template = pick(draw, wording.requests);
    let reason = draw.chance(40).then(|| pick(draw, wording.reasons));
    phrased(delta, stated, before, after, change, template, reason)
}

/// A change in one phrasing of its kind.
fn phrased<'a>(
    delta: &'a Delta,
    stated: &mut [bool],
    before: &Schema,
    after: &Schema,
    change: &'a Change,
    template: &str,
    reason: Option<&str>,
) -> Item<'a> {
    let wording = wording::for_change(change);
    let mut slots: Slots = slots(before, delta.renamed_schema.as_ref().unwrap_or(before), after, change);
    let title = sentence(&fill(wording.summary, &slots));
    let clauses: Vec<usize> = clauses_of(after, delta, change)
        .into_iter()
        .filter(|&index| delta.changed[index] && !stated[index])
        .collect();
    for &index in &clauses {
        stated[index] = true;
    }
    let removed: Vec<usize> = removed_with(before, after, delta, change)
        .into_iter()
        .filter(|&index| !std::mem::replace(&mut stated[index], true))
        .collect();

    let text_of = |index: usize| delta.pieces[index].clause.text.as_str();
    let holds_clause = template.contains("{clause}");
    // The phrasings leave to the clauses what these state. Where another change of the turn has stated them, the summary
    // names it all.
    let is_whole = if holds_clause {
        !clauses.is_empty()
    } else {
        is_rename(change) || !states_by_clause(change) || !clauses.is_empty() || !removed.is_empty()
    };
    let mut listed = clauses.as_slice();
    let mut reason_text = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    let mut text = if is_whole {
        if holds_clause && let Some((&first, rest)) = clauses.split_first() {
            slots.push(("clause", text_of(first).to_owned()));
            listed = rest;
        }
        if template.contains("{why}") {
            slots.push(("why", std::mem::take(&mut reason_text)));
        }
        sentence(&fill(template, &slots))
    } else {
        imperative(&title)
    };
    text.push_str(&reason_text);
    if let Some(reach) = wording::reach(change) {
        text.push(' ');
        text.push_str(&fill(reach, &slots));
    }
    for &index in &removed {
        text.push(' ');
        text.push_str(text_of(index));
    }
    let least = listed.iter().map(|&index| depth(delta, index)).min().unwrap_or_default();
    let list = listed.iter().map(|&index| (depth(delta, index) - least, text_of(index))).collect();
    Item { subject: change.entity(), title: imperative(&title), text, list }
}

/// What a request with one change states in one phrasing, without the frame around it.
#[cfg(test)]
pub(super) fn phrasing(before: &Schema, change: &Change, after: &Schema, template: &str) -> String {
    let changes = std::slice::from_ref(change);
    let delta = Delta::new(before, document::pieces(before).0, changes, after, document::pieces(after).0);
    let mut stated = vec![false; delta.pieces.len()];
    let items = [phrased(&delta, &mut stated, before, after, change, template, None)];
    let mut out = String::new();
    let mut draw = Seed { base: 0, scenario: 0 }.draw(after.turn, "request");
    body(&mut draw, Layout::Paragraphs, &items, (before, after), &mut out);
    out
}

/// Whether a phrasing names the facts of a change only together with the clauses that follow it.
fn states_by_clause(change: &Change) -> bool {
    use EntityChange::{RemoveEntity, SetSoftDelete};
    use FieldChange::{RemoveEnumValue, RemoveField, RemoveReference};
    use ListChange::{AddSort, RemoveFilter, RemoveSort};
    !matches!(
        change,
        Change::Entity(RemoveEntity { .. } | SetSoftDelete { .. })
            | Change::Field(RemoveField { .. } | RemoveReference { .. } | RemoveEnumValue { .. })
            | Change::Action(ActionChange::RemoveAction { .. })
            | Change::Analytic(AnalyticChange::RemoveAnalytic { .. })
            | Change::List(RemoveFilter { .. } | AddSort { .. } | RemoveSort { .. })
    )
}

/// A summary as a title: `Adds the field …` is `Add the field …`.
fn imperative(summary: &str) -> String {
    summary.split_once(' ').map_or_else(
        || summary.to_owned(),
        |(verb, rest)| format!("{} {rest}", verb.strip_suffix('s').unwrap_or(verb)),
    )
}

fn pick<'a>(draw: &mut Draw, choices: &[&'a str]) -> &'a str {
    draw.pick(choices).copied().unwrap_or_default()
}

/// With a capital letter, and a full stop if it ends without any mark.
fn sentence(text: &str) -> String {
    let mut text = capital(text.trim());
    if !text.ends_with(['.', '?', '!', ':']) {
        text.push('.');
    }
    text
}

fn depth(delta: &Delta, index: usize) -> usize {
    usize::from(matches!(delta.pieces[index].part, Part::Rule(_)))
}

fn body(
    draw: &mut Draw,
    layout: Layout,
    items: &[Item<'_>],
    (before, after): (&Schema, &Schema),
    out: &mut String,
) {
    let mut ticket = draw.number_between(110, 4200);
    let team = pick(draw, &frame::TEAMS);
    let mut last_subject: Option<Option<&str>> = None;
    for (index, item) in items.iter().enumerate() {
        let indent = match layout {
            Layout::Bullets => {
                out.push_str("- ");
                2
            }
            Layout::Numbers => {
                let _ = write!(out, "{}. ", index + 1);
                3
            }
            Layout::Paragraphs => 0,
            Layout::Tickets => {
                let _ = write!(out, "**{team}-{ticket}: {}**\n\n", item.title.trim_end_matches('.'));
                ticket += draw.number_between(1, 9);
                0
            }
            Layout::Groups => {
                if last_subject != Some(item.subject) {
                    let title = item
                        .subject
                        .map_or_else(|| frame::GENERAL_TITLE.to_owned(), |key| heading(before, after, key));
                    let _ = write!(out, "### {title}\n\n");
                    last_subject = Some(item.subject);
                }
                out.push_str("- ");
                2
            }
        };
        if layout == Layout::Paragraphs && items.len() > 1 {
            out.push_str(frame::connective(draw, index, items.len()));
        }
        out.push_str(&item.text);
        out.push('\n');
        for (depth, clause) in &item.list {
            let _ = writeln!(out, "{:width$}- {clause}", "", width = indent + depth * 2);
        }
        let next_is_another =
            items.get(index + 1).is_some_and(|next| layout == Layout::Groups && next.subject != item.subject);
        if matches!(layout, Layout::Paragraphs | Layout::Tickets) && index + 1 < items.len()
            || next_is_another
        {
            out.push('\n');
        }
    }
}

/// The heading of an entity.
fn heading(before: &Schema, after: &Schema, key: &str) -> String {
    match (after.entity(key), before.entity(key)) {
        (Some(entity), _) => capital(&words(&entity.plural)),
        (None, Some(entity)) => format!("{} (removed)", capital(&words(&entity.plural))),
        (None, None) => capital(&words(key)),
    }
}

/// What no change stated: rules that read differently because of them, names that follow, what else was removed.
fn follow_ups(draw: &mut Draw, delta: &Delta, stated: &[bool], after: &Schema, out: &mut String) {
    let left = |removed: bool| {
        (0..delta.pieces.len()).filter(move |&index| {
            delta.changed[index]
                && !stated[index]
                && removed == matches!(delta.pieces[index].part, Part::Removed)
        })
    };
    let mut first = true;
    for index in left(false) {
        if std::mem::take(&mut first) {
            let _ = write!(out, "\n{}\n\n", pick(draw, &frame::FOLLOWS));
        }
        let _ = writeln!(out, "- {}", in_context(after, &delta.pieces[index]));
    }
    let mut first = true;
    for index in left(true) {
        if std::mem::take(&mut first) {
            let _ = write!(out, "\n{}\n\n", pick(draw, &frame::CONSEQUENCE_OPENINGS));
        }
        let _ = writeln!(out, "- {}", delta.pieces[index].clause.text);
    }
    let mut first = true;
    for piece in &delta.dropped {
        if std::mem::take(&mut first) {
            let _ = write!(out, "\n{}\n\n", pick(draw, &frame::DROPPED_OPENINGS));
        }
        let _ = writeln!(out, "- {}", in_context(after, piece));
    }
    let mut first = true;
    for RenamedLiteral { entity, is_parameter, old, new } in &delta.renamed {
        // A path is the same wherever it stands, also behind its method; the same parameter may be one of another entity, too.
        let is_stated = || out.contains(&format!("`{new}`")) || out.contains(&format!(" {new}`"));
        if entity.is_none() && is_stated() {
            continue;
        }
        if std::mem::take(&mut first) {
            let _ = write!(out, "\n{}\n\n", pick(draw, &frame::NAMES));
        }
        let place = entity.as_deref().map_or_else(String::new, |entity| {
            let many = Names::new(after).plural(entity);
            if *is_parameter {
                format!("Query parameter of {many}: ")
            } else {
                format!("{}: ", capital(&many))
            }
        });
        let _ = writeln!(out, "- {place}`{old}` → `{new}`");
    }
}

/// A clause with the entity that it belongs to.
fn in_context(after: &Schema, piece: &Piece) -> String {
    let text = &piece.clause.text;
    match piece.part {
        Part::Field(_) | Part::Rule(_) | Part::List(_) | Part::Action(_) => {
            let entity = piece.clause.id.split('.').next().unwrap_or_default();
            let many = capital(&Names::new(after).plural(entity));
            // What an entity can be sorted by begins with its name.
            if text.starts_with(&many) { text.clone() } else { format!("{many}: {text}") }
        }
        _ => text.clone(),
    }
}
