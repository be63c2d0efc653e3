//! Analytics.

use super::Scene;
use crate::change::Change;
use crate::draw::Draw;
use crate::ir::Analytic;
use crate::sample::analytics;
use crate::sample::kind::ChangeKind;
use crate::sample::names::is_neutral;

/// The most analytics of a schema, for each of its entities.
const MOST_PER_ENTITY: usize = 2;

pub(super) fn propose(kind: ChangeKind, draw: &mut Draw, scene: Scene<'_>) -> Option<Change> {
    let schema = scene.schema;
    if kind == ChangeKind::AddAnalytic {
        if schema.analytics.len() >= MOST_PER_ENTITY * schema.entities.len() {
            return None;
        }
        return analytics::new(draw, schema).map(|analytic| Change::AddAnalytic { analytic });
    }
    let free: Vec<&Analytic> = schema
        .analytics
        .iter()
        .filter(|analytic| {
            let speaks = match kind {
                // A name that says what is measured would lie.
                ChangeKind::ChangeMeasure | ChangeKind::ChangeGrouping => is_neutral(analytic),
                ChangeKind::ChangeRestriction => {
                    !analytic.name.contains("_if_") && !analytic.name.contains("_with_")
                }
                _ => true,
            };
            speaks && !scene.touched.has(&format!("analytics.{}", analytic.key))
        })
        .collect();
    let chosen = *draw.pick(&free)?;
    let entity = schema.entity(&chosen.entity)?;
    let analytic = chosen.key.clone();
    match kind {
        ChangeKind::RemoveAnalytic => Some(Change::RemoveAnalytic { analytic }),
        ChangeKind::RenameAnalytic => {
            let name = analytics::other_name(draw, schema, chosen)?;
            Some(Change::RenameAnalytic { analytic, name })
        }
        ChangeKind::ChangeMeasure => {
            let measure = analytics::measure(draw, entity, Some(&chosen.measure))?;
            Some(Change::ChangeMeasure { analytic, measure })
        }
        ChangeKind::ChangeGrouping => {
            let group_by = if chosen.group_by.is_some() && draw.chance(35) {
                None
            } else {
                Some(analytics::group(draw, entity)?)
            };
            (group_by != chosen.group_by).then_some(Change::ChangeGrouping { analytic, group_by })
        }
        ChangeKind::ChangeRestriction => {
            let only = if chosen.only.is_some() && draw.chance(40) {
                None
            } else {
                Some(analytics::only(draw, schema, entity, chosen.group_by.as_deref())?)
            };
            (only != chosen.only).then_some(Change::ChangeRestriction { analytic, only })
        }
        _ => {
            let by = if chosen.by.is_some() && draw.chance(40) {
                None
            } else {
                Some(analytics::pick_by(draw, entity, chosen.group_by.as_deref())?)
            };
            (by != chosen.by).then_some(Change::ChangeAnalyticFilter { analytic, by })
        }
    }
}
