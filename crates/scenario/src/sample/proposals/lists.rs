//! Filters, sorts and the order of lists.

use super::Scene;
use crate::change::{ListChange, ListKind};
use crate::check::can_sort;
use crate::draw::Draw;
use crate::ir::{Filter, Sort};
use crate::sample::entities::new_filter;

/// The most filters of an entity.
const MOST_FILTERS: usize = 10;

pub(super) fn propose(kind: ListKind, draw: &mut Draw, scene: Scene<'_>) -> Option<ListChange> {
    let touched = scene.touched;
    match kind {
        ListKind::AddFilter => scene.search(draw, |draw, home| {
            if home.filters.len() >= MOST_FILTERS {
                return None;
            }
            let filter = new_filter(draw, home).filter(|filter| !touched.has_in(&home.key, &filter.field))?;
            Some(ListChange::AddFilter { entity: home.key.clone(), filter })
        }),
        ListKind::RemoveFilter => scene.search(draw, |draw, home| {
            let all: Vec<&Filter> =
                home.filters.iter().filter(|filter| !touched.has_in(&home.key, &filter.field)).collect();
            if all.len() < 2 {
                return None;
            }
            let filter = (*draw.pick(&all)?).clone();
            Some(ListChange::RemoveFilter { entity: home.key.clone(), filter })
        }),
        ListKind::AddSort => {
            let (home, field) =
                scene.field(draw, |home, field| can_sort(field) && !home.sorts.contains(&field.key))?;
            Some(ListChange::AddSort { entity: home.key.clone(), field: field.key.clone() })
        }
        ListKind::RemoveSort => {
            let (home, field) = scene.field(draw, |home, field| {
                home.sorts.contains(&field.key)
                    && home.default_sort.as_ref().is_none_or(|sort| sort.field != field.key)
            })?;
            Some(ListChange::RemoveSort { entity: home.key.clone(), field: field.key.clone() })
        }
        ListKind::ChangeDefaultSort => scene.search(draw, |draw, home| {
            let free = |field: &&String| !touched.has_in(&home.key, field);
            let fields: Vec<&String> = home.sorts.iter().filter(free).collect();
            if touched.has_in(&home.key, "default_sort") {
                return None;
            }
            let sort = match &home.default_sort {
                Some(sort) if !free(&&sort.field) => return None,
                // Records made one after another are often in ascending order anyway: that would not be seen.
                Some(sort) if sort.descending && draw.chance(50) => None,
                Some(sort) if draw.chance(50) => {
                    Some(Sort { field: sort.field.clone(), descending: !sort.descending })
                }
                _ => Some(Sort { field: (*draw.pick(&fields)?).clone(), descending: draw.chance(45) }),
            };
            (sort != home.default_sort)
                .then(|| ListChange::ChangeDefaultSort { entity: home.key.clone(), sort })
        }),
    }
}
