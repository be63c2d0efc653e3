//! Analytics.

use super::Scene;
use crate::change::{AnalyticChange, AnalyticKind};
use crate::draw::Draw;
use crate::ir::Analytic;
use crate::sample::analytics;
use crate::sample::names::is_neutral;

/// The most analytics of a schema, for each of its entities.
const MOST_PER_ENTITY: usize = 2;

pub(super) fn propose(kind: AnalyticKind, draw: &mut Draw, scene: Scene<'_>) -> Option<AnalyticChange> {
    let schema = scene.schema;
    if kind == AnalyticKind::AddAnalytic {
        if schema.analytics.len() >= MOST_PER_ENTITY * schema.entities.len() {
            return None;
        }
        return analytics::new(draw, schema).map(|analytic| AnalyticChange::AddAnalytic { analytic });
    }
    let free: Vec<&Analytic> = schema
        .analytics
        .iter()
        .filter(|analytic| {
            let speaks = match kind {
                // A name that says what is measured would lie.
                AnalyticKind::ChangeMeasure | AnalyticKind::ChangeGrouping => is_neutral(analytic),
                AnalyticKind::ChangeRestriction => {
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
        AnalyticKind::RemoveAnalytic => Some(AnalyticChange::RemoveAnalytic { analytic }),
        AnalyticKind::RenameAnalytic => {
            let name = analytics::other_name(draw, schema, chosen)?;
            Some(AnalyticChange::RenameAnalytic { analytic, name })
        }
        AnalyticKind::ChangeMeasure => {
            let measure = analytics::measure(draw, entity, Some(&chosen.measure))?;
            Some(AnalyticChange::ChangeMeasure { analytic, measure })
        }
        AnalyticKind::ChangeGrouping => {
            let group_by = if chosen.group_by.is_some() && draw.chance(35) {
                None
            } else {
                Some(analytics::group(draw, entity)?)
            };
            (group_by != chosen.group_by).then_some(AnalyticChange::ChangeGrouping { analytic, group_by })
        }
        AnalyticKind::ChangeRestriction => {
            let only = if chosen.only.is_some() && draw.chance(40) {
                None
            } else {
                Some(analytics::restriction(draw, schema, entity, chosen.group_by.as_deref())?)
            };
            (only != chosen.only).then_some(AnalyticChange::ChangeRestriction { analytic, only })
        }
        _ => {
            let filter_after = if chosen.by.is_some() && draw.chance(40) {
                None
            } else {
                Some(analytics::pick_by(draw, entity, chosen.group_by.as_deref())?)
            };
            (filter_after != chosen.by)
                .then_some(AnalyticChange::ChangeAnalyticFilter { analytic, by: filter_after })
        }
    }
}
