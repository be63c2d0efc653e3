//! Actions with their guards and effects.

use super::Scene;
use crate::change::{ActionChange, ActionKind};
use crate::draw::Draw;
use crate::ir::{Action, Entity};
use crate::sample::{actions, guards};

/// The most actions of an entity.
const MOST_ACTIONS: usize = 6;
/// The most guards of an action.
const MOST_GUARDS: usize = 4;

/// One of the actions that pass and were not touched in this turn.
fn action<'a>(
    draw: &mut Draw,
    scene: Scene<'a>,
    passes: impl Fn(&Action) -> bool,
) -> Option<(&'a Entity, &'a Action)> {
    scene.search(draw, |draw, entity| {
        let all: Vec<&Action> = entity
            .actions
            .iter()
            .filter(|action| passes(action) && !scene.touched.has_in(&entity.key, &action.key))
            .collect();
        draw.pick(&all).map(|action| (entity, *action))
    })
}

pub(super) fn propose(kind: ActionKind, draw: &mut Draw, scene: Scene<'_>) -> Option<ActionChange> {
    let schema = scene.schema;
    if kind == ActionKind::AddAction {
        return scene.search(draw, |draw, entity| {
            if entity.actions.len() >= MOST_ACTIONS {
                return None;
            }
            let action = actions::action(draw, schema, entity)?;
            Some(ActionChange::AddAction { entity: entity.key.clone(), action })
        });
    }
    let (home, chosen) = action(draw, scene, |action| match kind {
        ActionKind::AddGuard => action.guards.len() < MOST_GUARDS,
        ActionKind::RemoveGuard | ActionKind::ChangeGuard => !action.guards.is_empty(),
        ActionKind::AddEffect => action.effects.len() < 4,
        ActionKind::RemoveEffect => action.effects.len() > 1,
        _ => true,
    })?;
    let (entity, action) = (home.key.clone(), chosen.key.clone());
    match kind {
        ActionKind::RemoveAction => Some(ActionChange::RemoveAction { entity, action }),
        ActionKind::RenameAction => {
            let name = actions::other_name(draw, schema, home, chosen)?;
            Some(ActionChange::RenameAction { entity, action, name })
        }
        ActionKind::AddGuard => {
            let condition = guards::condition(draw, schema, home, chosen)?;
            let guard = guards::named_guard(schema, home, chosen, condition)?;
            Some(ActionChange::AddGuard { entity, action, guard })
        }
        ActionKind::RemoveGuard => {
            let guard = draw.pick(&chosen.guards)?.key.clone();
            Some(ActionChange::RemoveGuard { entity, action, guard })
        }
        ActionKind::ChangeGuard => {
            let guard = draw.pick(&chosen.guards)?;
            let condition = guards::other_condition(draw, schema, home, chosen, guard)?;
            Some(ActionChange::ChangeGuard { entity, action, guard: guard.key.clone(), condition })
        }
        ActionKind::AddEffect => {
            let (effect, param) = actions::effect(draw, schema, home, chosen)?;
            Some(ActionChange::AddEffect { entity, action, effect, param })
        }
        ActionKind::RemoveEffect => {
            // The first is what the action is named after.
            let index = 1 + draw.number_below(chosen.effects.len() - 1);
            Some(ActionChange::RemoveEffect { entity, action, index })
        }
        _ => {
            let index = draw.number_below(chosen.effects.len());
            let operand = actions::other_operand(draw, home, chosen, chosen.effects.get(index)?)?;
            Some(ActionChange::ChangeEffect { entity, action, index, operand })
        }
    }
}
