//! Routes, filters, sorts and deletion of an entity.

use scenario::ir::{Entity, Schema, Sort};

use super::{Operator, Sites};

pub(super) fn find<'a>(index: usize, entity: &'a Entity, sites: &mut Sites<'a>) {
    let key = &entity.key;
    sites.edit(
        Operator::CollectionMissing,
        key.clone(),
        edit(index, |entity| entity.plural.push_str("_missing")),
    );
    for (position, filter) in entity.filters.iter().enumerate() {
        sites.edit(
            Operator::FilterMissing,
            format!("{key}.filter.{}.{}", filter.field, filter.op.key()),
            edit(index, move |entity| drop(entity.filters.remove(position))),
        );
    }
    for sort in &entity.sorts {
        sites.edit(
            Operator::SortMissing,
            format!("{key}.sort.{sort}"),
            edit(index, move |entity| entity.sorts.retain(|existing| existing != sort)),
        );
    }
    if let Some(sort) = &entity.default_sort {
        let location = || format!("{key}.sort.default");
        sites.edit(Operator::DefaultSortWrong, location(), edit(index, |entity| entity.default_sort = None));
        let turned = Sort { descending: !sort.descending, ..sort.clone() };
        sites.edit(
            Operator::DefaultSortWrong,
            location(),
            edit(index, move |entity| entity.default_sort = Some(turned.clone())),
        );
    } else if let Some(field) = entity.sorts.first() {
        let sort = Sort { field: field.clone(), descending: true };
        sites.edit(
            Operator::DefaultSortWrong,
            format!("{key}.sort.default"),
            edit(index, move |entity| entity.default_sort = Some(sort.clone())),
        );
    }
    let operator =
        if entity.soft_delete { Operator::SoftDeleteDropped } else { Operator::SoftDeleteInvented };
    sites.edit(operator, format!("{key}.soft_delete"), edit(index, |entity| entity.soft_delete ^= true));
}

/// An edit of the entity at a position.
pub(super) fn edit<'a>(
    index: usize,
    edit: impl Fn(&mut Entity) + Send + Sync + 'a,
) -> impl Fn(&mut Schema) + Send + Sync + 'a {
    move |schema| {
        if let Some(entity) = schema.entities.get_mut(index) {
            edit(entity);
        }
    }
}
