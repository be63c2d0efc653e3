//! The defects of the server of an attempt.
//!
//! A turn adds defects with chance [`Ability::defect_rate`]. They are mutants ([`validation::mutants`]) that code can express, so
//! none that only flaws of the reference show. Suites detect more than 99 of 100 of them.
//!
//! **Feedback repairs.** From the second attempt at a turn on, each defect of an earlier attempt is repaired with chance
//! [`Ability::repair`], or less where the [feedback](super::Feedback) tells less. All kinds of feedback use the same random
//! numbers: what little feedback repairs, more feedback repairs as well. Unrepaired defects stay, also in later turns where the
//! model [carries them over](Ability::carries_over). An attempt with an [injected fault](super::fault_injection) writes no server,
//! so it repairs nothing and shows no defect.
//!
//! **Attempts from one snapshot** ([`Feedback::Anew`]) know nothing of each other: the defects that a turn adds are drawn anew for
//! each of its attempts, nothing is repaired, and later turns have those of its last attempt.
//!
//! The defects are computed from turn 1 for every attempt, from the seed, the schemas and the number of earlier attempts. Earlier
//! requests do not matter.
//!
//! **A defect outlives its schema.** It is stored as an operator and a place, in keys, and looked up in each later schema. Where it
//! is not found, it is gone. An omitted change stays omitted, and later changes are applied without it where possible.

use std::collections::BTreeSet;
use std::sync::Arc;

use scenario::Seed;
use scenario::change::{apply, next_turn};
use scenario::draw::Draw;
use scenario::ir::Schema;
use validation::mutants::{Operator, Site, sites};

use super::{Ability, Feedback, PARTS, Task, fault_injection};

/// Percentage of defects that concern the changes of the turn, where such defects exist.
const CHANGE_DEFECT_PERCENT: u32 = 40;
/// Sites that are tried for a defect.
const TRIES: usize = 40;

/// A defect of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Defect {
    /// The turn that added it.
    pub turn: u32,
    /// What is wrong.
    pub operator: Operator,
    /// Where, in keys.
    pub location: String,
}

impl Defect {
    /// The position of an omitted change in its turn.
    fn left_out(&self) -> Option<usize> {
        if self.operator != Operator::ChangeLeftOut {
            return None;
        }
        self.location.strip_prefix("changes.")?.split('.').next()?.parse().ok()
    }

    /// Its name in random draws.
    fn name(&self) -> String {
        format!("{} {} {}", self.turn, self.operator.name(), self.location)
    }
}

/// The schema of the server of an attempt. `None` for a task without schemas.
pub(super) fn schema(ability: &Ability, task: &Task) -> Option<Arc<Schema>> {
    with_defects(task, &defects(ability, task))
}

/// The defects of an attempt, oldest first.
pub(super) fn defects(ability: &Ability, task: &Task) -> Vec<Defect> {
    let repair = ability.repair * task.feedback.share();
    // Each with whether a tested server had it.
    let mut defects: Vec<(Defect, bool)> = Vec::new();
    for turn in 1..=task.turn {
        if !ability.carries_over {
            defects.clear();
        }
        let attempts = if turn == task.turn {
            task.attempt
        } else {
            task.attempts_before.get(index(turn)).copied().unwrap_or(1)
        };
        // Attempts that begin from the same snapshot know nothing of each other: the last one counts.
        let is_anew = task.feedback == Feedback::Anew;
        let drawn = if is_anew { attempts } else { 1 };
        for defect in added(ability, task, turn, drawn) {
            let known = |(old, _): &(Defect, bool)| {
                (old.operator, &old.location) == (defect.operator, &defect.location)
            };
            // An omitted change is identified by its position in its turn.
            if defect.operator == Operator::ChangeLeftOut || !defects.iter().any(known) {
                defects.push((defect, false));
            }
        }
        for attempt in 1..=attempts {
            if fault_injection::choose(ability, task.scenario, turn, attempt).is_some() {
                continue;
            }
            // The first attempt at a turn has no feedback.
            defects.retain(|(defect, tested)| {
                let purpose = format!("oracle repair {attempt} {}", defect.name());
                attempt == 1 || !tested || !draws_true(&mut draw(ability, task, turn, &purpose), repair)
            });
            for (_, tested) in &mut defects {
                *tested = true;
            }
        }
    }
    defects.into_iter().map(|(defect, _)| defect).collect()
}

/// The defects that a turn adds, as they are drawn for one of its attempts.
fn added(ability: &Ability, task: &Task, turn: u32, attempt: u32) -> Vec<Defect> {
    let purpose = match attempt {
        0 | 1 => "oracle defects".to_owned(),
        attempt => format!("oracle defects {attempt}"),
    };
    let mut draw = draw(ability, task, turn, &purpose);
    let Some((schema, changes)) = task.turns.get(index(turn)) else { return Vec::new() };
    if !draws_true(&mut draw, ability.defect_rate) {
        return Vec::new();
    }
    let count = 1 + draw.number_below(ability.most_defects.max(1) as usize);
    let before = (turn > 1).then(|| task.turns.get(index(turn - 1))).flatten();
    let before = before.map(|(before, _)| (before.as_ref(), changes.as_slice()));
    let sites = sites(before, schema);
    let (of_change, rest): (Vec<&Site<'_>>, Vec<&Site<'_>>) =
        sites.iter().partition(|site| is_of_change(site));
    let mut found: Vec<Defect> = Vec::new();
    for _ in 0..TRIES {
        if found.len() == count {
            break;
        }
        let candidates =
            if !of_change.is_empty() && draw.chance(CHANGE_DEFECT_PERCENT) { &of_change } else { &rest };
        let Some(site) = draw.pick(candidates) else { continue };
        // A schema without one change is detectable. Without two it may be invalid.
        let twice = site.operator == Operator::ChangeLeftOut
            && found.iter().any(|defect| defect.operator == Operator::ChangeLeftOut);
        let defect = Defect { turn, operator: site.operator, location: site.location.clone() };
        if twice || found.contains(&defect) {
            continue;
        }
        if site.make(schema).is_some_and(|mutant| mutant.flaws.is_empty()) {
            found.push(defect);
        }
    }
    found
}

fn is_of_change(site: &Site<'_>) -> bool {
    matches!(site.operator, Operator::ChangeLeftOut | Operator::StaleNameKept)
}

/// The schema of the turn with those of these defects that are found in it.
fn with_defects(task: &Task, defects: &[Defect]) -> Option<Arc<Schema>> {
    let mut left_out: Vec<(u32, usize)> =
        defects.iter().filter_map(|defect| Some((defect.turn, defect.left_out()?))).collect();
    let mut schema = loop {
        match schema_without(task, &left_out) {
            Some(schema) => break schema,
            None if left_out.is_empty() => return None,
            // Later changes need the oldest omitted change, so it is applied.
            None => drop(left_out.remove(0)),
        }
    };
    for defect in defects {
        if defect.operator == Operator::ChangeLeftOut {
            continue;
        }
        // A stale name is from the turn before the defect.
        let before = defect.turn.checked_sub(2).and_then(|index| task.turns.get(index as usize));
        let before = before
            .filter(|_| defect.operator == Operator::StaleNameKept)
            .map(|(before, _)| (before.as_ref(), [].as_slice()));
        let made_mutant = sites(before, &schema)
            .iter()
            .filter(|site| site.operator == defect.operator && site.location == defect.location)
            .find_map(|site| site.make(&schema).filter(|mutant| mutant.flaws.is_empty()));
        if let Some(mutant) = made_mutant {
            schema = mutant.schema;
        }
    }
    Some(schema)
}

/// The schema of the turn without some changes (turn, position in the turn). `None` if a later change does not apply then.
fn schema_without(task: &Task, left_out: &[(u32, usize)]) -> Option<Arc<Schema>> {
    let left: BTreeSet<_> = left_out.iter().copied().collect();
    let Some((first, _)) = left.first().copied() else {
        return task.turns.get(index(task.turn)).map(|(schema, _)| Arc::clone(schema));
    };
    let mut schema = Schema::clone(&task.turns.get(index(first.checked_sub(1)?))?.0);
    for turn in first..=task.turn {
        schema = next_turn(&schema);
        for (place, change) in task.turns.get(index(turn))?.1.iter().enumerate() {
            if !left.contains(&(turn, place)) {
                schema = apply(&schema, change).ok()?;
            }
        }
    }
    Some(Arc::new(schema))
}

/// Index of a turn.
fn index(turn: u32) -> usize {
    (turn as usize).wrapping_sub(1)
}

fn draw(ability: &Ability, task: &Task, turn: u32, purpose: &str) -> Draw {
    Seed { base: ability.seed, scenario: task.scenario }.draw(turn, purpose)
}

/// True with this chance, 0 to 1.
fn draws_true(draw: &mut Draw, chance: f64) -> bool {
    (draw.number_below(PARTS) as f64) < chance * PARTS as f64
}

#[cfg(test)]
mod tests;
