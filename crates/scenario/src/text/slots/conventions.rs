//! Slots of changes of what holds for all routes.

use super::SlotFiller;
use crate::change::{ConventionChange, ErrorKind, StatusKind};
use crate::ir::{Case, ErrorShape, UnknownFields, words};
use crate::text::english::{all_of, code};

impl SlotFiller<'_> {
    pub(super) fn conventions(&mut self, change: &ConventionChange) {
        let old = &self.before.schema.conventions;
        match change {
            ConventionChange::ChangeErrorShape { error } => {
                let shape = match error {
                    ErrorShape::Flat { code, message } => format!("`{{\"{code}\": …, \"{message}\": …}}`"),
                    ErrorShape::Nested { key, code, message } => {
                        format!("`{{\"{key}\": {{\"{code}\": …, \"{message}\": …}}}}`")
                    }
                };
                self.put("shape", shape);
            }
            ConventionChange::ChangeErrorCode { which: kind, code } => {
                let (kind_name, old) = match kind {
                    ErrorKind::Invalid => ("invalid", &old.codes.invalid),
                    ErrorKind::NotFound => ("not found", &old.codes.not_found),
                    ErrorKind::Conflict => ("conflict", &old.codes.conflict),
                    ErrorKind::Refused => ("refused", &old.codes.refused),
                };
                self.put("which", kind_name);
                self.put("old", old);
                self.put("new", code);
            }
            ConventionChange::ChangeStatus { which: kind, status } => {
                let (kind_name, old) = match kind {
                    StatusKind::Created => ("a successful create", old.status.created),
                    StatusKind::Deleted => ("a successful deletion", old.status.deleted),
                    StatusKind::Invalid => ("*invalid* requests", old.status.invalid),
                    StatusKind::Conflict => ("*conflict* errors", old.status.conflict),
                    StatusKind::Refused => ("*refused* actions", old.status.refused),
                };
                self.put("which", kind_name);
                self.put("old", old.to_string());
                self.put("new", status.to_string());
            }
            ConventionChange::ChangeListShape { list } => {
                let pairs = [(&old.list.items, &list.items), (&old.list.total, &list.total)];
                let keys: Vec<String> = pairs
                    .iter()
                    .filter(|(old, new)| old != new)
                    .map(|(old, new)| format!("`{old}` becomes `{new}`"))
                    .collect();
                self.put("keys", all_of(&keys));
            }
            ConventionChange::ChangePagination { pagination } => {
                let (page, size) = pagination.style.params();
                self.put("page", self.after.schema.json_name(page));
                self.put("size", self.after.schema.json_name(size));
                self.put("default", pagination.default_size.to_string());
                self.put("most", pagination.max_size.to_string());
            }
            ConventionChange::ChangeFieldCase { case } => {
                let word = |case: Case| if case == Case::Camel { "`camelCase`" } else { "`snake_case`" };
                self.put("old_case", word(old.field_case));
                self.put("case", word(*case));
                self.put("examples", self.examples(*case));
            }
            ConventionChange::ChangePrefix { prefix } => {
                let word =
                    |prefix: &str| if prefix.is_empty() { "no prefix".to_owned() } else { code(prefix) };
                self.put("old", word(&old.prefix));
                self.put("new", word(prefix));
                if let Some(entity) = self.after.schema.entities.first() {
                    self.put("many", words(&entity.plural));
                    self.put("example", format!("{prefix}/{}", self.after.schema.path_name(&entity.plural)));
                }
            }
            ConventionChange::ChangeUnknownFields { unknown_fields } => {
                self.put(
                    "treatment",
                    match unknown_fields {
                        UnknownFields::Ignore => "they are ignored",
                        UnknownFields::Reject => "they make the request *invalid*",
                    },
                );
            }
        }
    }

    /// Names before and after a change of case: three fields at most, and one that every API has.
    fn examples(&self, case: Case) -> String {
        let old_case = self.before.schema.conventions.field_case;
        let write = |name: &str, case: Case| {
            if case == Case::Camel { crate::ir::camel(name) } else { name.to_owned() }
        };
        let mut names: Vec<&str> = Vec::new();
        for entity in &self.after.schema.entities {
            for field in &entity.fields {
                // One that is new or renamed in the turn had no such name before.
                let is_old =
                    self.before.find(&entity.key, &field.key).is_some_and(|before| before.name == field.name);
                if is_old
                    && names.len() < 3
                    && field.name.contains('_')
                    && !names.contains(&field.name.as_str())
                {
                    names.push(&field.name);
                }
            }
        }
        if self.after.schema.entities.iter().any(|entity| entity.soft_delete) {
            names.push("include_deleted");
        }
        names.extend(
            [self.after.schema.conventions.pagination.style.params().1]
                .iter()
                .filter(|name| name.contains('_')),
        );
        if names.is_empty() {
            names.push("two_words");
        }
        let pairs: Vec<String> = names
            .iter()
            .map(|name| format!("`{}` → `{}`", write(name, old_case), write(name, case)))
            .collect();
        pairs.join(", ")
    }
}
