//! What is wrong with the server of an attempt.
//!
//! A turn brings defects with chance [`Ability::defect_rate`]: mutants ([`scenario::mutants`]) whose fault can be written
//! down as code, so none that only the reference's own flaws show; suites notice more than 99 of 100 of them.
//!
//! **Feedback repairs.** From the second attempt at a turn on, each defect that an earlier attempt has written, so that
//! tests could tell of it, is repaired with chance [`Ability::repair`], less where the [feedback](super::Feedback) says
//! less. The draws are the same for every kind of feedback: what little of it repairs, more of it repairs as well. What is
//! not repaired stays, also in later turns where the model is one that [carries over](Ability::carries_over). An attempt
//! that [misbehaves](super::mischief) writes no server: it repairs nothing, and nothing is learnt from it.
//!
//! The chain is worked out from turn 1 for every attempt, from the seed, the schemas and the number of attempts that the
//! turns before took: what was asked before does not matter.
//!
//! **A defect outlives the schema that it was made for.** It is kept as what is wrong and where, in keys, and looked for
//! again in each later schema; where it can no longer be found, it is gone. A change that was left out stays left out: the
//! changes after it are done without it, as far as they can be.

use std::collections::BTreeSet;
use std::sync::Arc;

use scenario::Seed;
use scenario::change::{apply, next_turn};
use scenario::draw::Draw;
use scenario::ir::Schema;
use scenario::mutants::{Operator, Site, sites};

use super::{Ability, PARTS, Task, mischief};

/// Share in percent of defects that are about what the turn changed, where there are such.
const OF_THE_CHANGE: u32 = 40;
/// Sites that are tried for a defect before it is let go.
const TRIES: usize = 40;

/// Something wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Defect {
    /// The turn that it came with.
    pub turn: u32,
    /// In which way.
    pub operator: Operator,
    /// Where, in keys.
    pub at: String,
}

impl Defect {
    /// The change that was not done: its place among those of its turn.
    fn left_out(&self) -> Option<usize> {
        if self.operator != Operator::ChangeLeftOut {
            return None;
        }
        self.at.strip_prefix("changes.")?.split('.').next()?.parse().ok()
    }

    /// What it is called in draws.
    fn name(&self) -> String {
        format!("{} {} {}", self.turn, self.operator.name(), self.at)
    }
}

/// The schema that an attempt's server is written from; nothing for a task without schemas.
pub(super) fn schema(ability: &Ability, task: &Task) -> Option<Arc<Schema>> {
    with(task, &defects(ability, task))
}

/// What is wrong in an attempt, oldest first.
pub(super) fn defects(ability: &Ability, task: &Task) -> Vec<Defect> {
    let repair = ability.repair * task.feedback.part();
    // Each with whether it has been in a server that was tested.
    let mut defects: Vec<(Defect, bool)> = Vec::new();
    for turn in 1..=task.turn {
        if !ability.carries_over {
            defects.clear();
        }
        for defect in new(ability, task, turn) {
            let known = |(old, _): &(Defect, bool)| (old.operator, &old.at) == (defect.operator, &defect.at);
            // Changes are told by their place in a turn: another turn's is another one.
            if defect.operator == Operator::ChangeLeftOut || !defects.iter().any(known) {
                defects.push((defect, false));
            }
        }
        let attempts = if turn == task.turn {
            task.attempt
        } else {
            task.attempts_before.get(at(turn)).copied().unwrap_or(1)
        };
        for attempt in 1..=attempts {
            if mischief::of(ability, task.scenario, turn, attempt).is_some() {
                continue;
            }
            // The first attempt at a turn follows a request, not feedback.
            defects.retain(|(defect, tested)| {
                let purpose = format!("oracle repair {attempt} {}", defect.name());
                attempt == 1 || !tested || !happens(&mut draw(ability, task, turn, &purpose), repair)
            });
            for (_, tested) in &mut defects {
                *tested = true;
            }
        }
    }
    defects.into_iter().map(|(defect, _)| defect).collect()
}

/// What a turn brings.
fn new(ability: &Ability, task: &Task, turn: u32) -> Vec<Defect> {
    let mut draw = draw(ability, task, turn, "oracle defects");
    let Some((schema, changes)) = task.turns.get(at(turn)) else { return Vec::new() };
    if !happens(&mut draw, ability.defect_rate) {
        return Vec::new();
    }
    let count = 1 + draw.below(ability.most_defects.max(1) as usize);
    let before = (turn > 1).then(|| task.turns.get(at(turn - 1))).flatten();
    let before = before.map(|(before, _)| (before.as_ref(), changes.as_slice()));
    let sites = sites(before, schema);
    let (of_change, rest): (Vec<&Site<'_>>, Vec<&Site<'_>>) =
        sites.iter().partition(|site| is_of_change(site));
    let mut found: Vec<Defect> = Vec::new();
    for _ in 0..TRIES {
        if found.len() == count {
            break;
        }
        let from = if !of_change.is_empty() && draw.chance(OF_THE_CHANGE) { &of_change } else { &rest };
        let Some(site) = draw.pick(from) else { continue };
        // One change less can be told from the reference by what it lacks, two may be no schema at all.
        let twice = site.operator == Operator::ChangeLeftOut
            && found.iter().any(|defect| defect.operator == Operator::ChangeLeftOut);
        let defect = Defect { turn, operator: site.operator, at: site.at.clone() };
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

/// The schema of the task's turn with these defects, as far as they can still be found.
fn with(task: &Task, defects: &[Defect]) -> Option<Arc<Schema>> {
    let mut left_out: Vec<(u32, usize)> =
        defects.iter().filter_map(|defect| Some((defect.turn, defect.left_out()?))).collect();
    let mut schema = loop {
        match without(task, &left_out) {
            Some(schema) => break schema,
            None if left_out.is_empty() => return None,
            // Later changes need the oldest: it was made up for.
            None => drop(left_out.remove(0)),
        }
    };
    for defect in defects {
        if defect.operator == Operator::ChangeLeftOut {
            continue;
        }
        // An old name is that of the turn before the defect's own.
        let before = defect.turn.checked_sub(2).and_then(|at| task.turns.get(at as usize));
        let before = before
            .filter(|_| defect.operator == Operator::StaleNameKept)
            .map(|(before, _)| (before.as_ref(), [].as_slice()));
        let made = sites(before, &schema)
            .iter()
            .filter(|site| site.operator == defect.operator && site.at == defect.at)
            .find_map(|site| site.make(&schema).filter(|mutant| mutant.flaws.is_empty()));
        if let Some(mutant) = made {
            schema = mutant.schema;
        }
    }
    Some(schema)
}

/// The schema of the task's turn, come to without some changes (turn, place in the turn); nothing if a later change does
/// not fit then. With none left out it is the task's own.
fn without(task: &Task, left_out: &[(u32, usize)]) -> Option<Arc<Schema>> {
    let left: BTreeSet<_> = left_out.iter().copied().collect();
    let Some((first, _)) = left.first().copied() else {
        return task.turns.get(at(task.turn)).map(|(schema, _)| Arc::clone(schema));
    };
    let mut schema = Schema::clone(&task.turns.get(at(first.checked_sub(1)?))?.0);
    for turn in first..=task.turn {
        schema = next_turn(&schema);
        for (place, change) in task.turns.get(at(turn))?.1.iter().enumerate() {
            if !left.contains(&(turn, place)) {
                schema = apply(&schema, change).ok()?;
            }
        }
    }
    Some(Arc::new(schema))
}

/// Index of a turn.
fn at(turn: u32) -> usize {
    (turn as usize).wrapping_sub(1)
}

fn draw(ability: &Ability, task: &Task, turn: u32, purpose: &str) -> Draw {
    Seed { base: ability.seed, scenario: task.scenario }.draw(turn, purpose)
}

/// True with this chance, 0 to 1.
fn happens(draw: &mut Draw, chance: f64) -> bool {
    (draw.below(PARTS) as f64) < chance * PARTS as f64
}

#[cfg(test)]
mod tests;
