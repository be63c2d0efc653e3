//! By what results of other programs are recognized: names in a folder, the form of a JSON document, the first bytes of a file.
//! No text is searched for words.

use files::Entry;

use crate::readers::outline::Outline;

/// A way of names in a JSON document (`[]` is the first element of a list, `{}` the first value of an object), and what stands there.
pub(super) type Field = (&'static [&'static str], Shape);

/// What stands at a place of a JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything, also `null`.
    Present,
    /// A number.
    Number,
    /// `true` or `false`.
    Truth,
    /// Any text.
    Text,
    /// A text that begins so.
    Begins(&'static str),
    /// A text of at most 64 bytes that ends so.
    Ends(&'static str),
    /// A list.
    List,
    /// An object.
    Object,
}

/// A sign of a kind. One of its signs is enough.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    /// A folder that has these files, and one of the other entries (`steps/` is a folder).
    Folder {
        /// Files that are there.
        files: &'static [&'static str],
        /// Of these at least one.
        any: &'static [&'static str],
    },
    /// A JSON file, or one of JSON lines, whose first value has all these fields.
    Json(&'static [Field]),
    /// The same of a file of this name.
    Named(&'static str, &'static [Field]),
    /// A file with these bytes at this place.
    Bytes(usize, &'static [u8]),
    /// A zip whose name ends so, in capital or small letters.
    Zip(&'static str),
}

/// The first bytes of every zip that has an entry.
pub(super) const ZIP: &[u8] = b"PK\x03\x04";

impl Sign {
    /// Whether a folder has it.
    pub(super) fn is_of_folder(self, entries: &[Entry]) -> bool {
        let Self::Folder { files, any } = self else { return false };
        let has_entry = |name: &str| {
            let (name, folder) = name.strip_suffix('/').map_or((name, false), |name| (name, true));
            entries.iter().any(|entry| entry.name == name && entry.is_folder() == folder)
        };
        files.iter().all(|name| has_entry(name)) && any.iter().any(|name| has_entry(name))
    }

    /// Whether an opened zip of this name has it.
    pub(super) fn is_of_zip(self, name: &str) -> bool {
        matches!(self, Self::Zip(ending) if ending != ".zip" && has_ending(name, ending))
    }

    /// Whether a file has it, by its name, its first bytes and the outline of its JSON.
    pub(super) fn is_of_file(self, name: &str, bytes: &[u8], outline: Option<&Outline>) -> bool {
        let fields = |fields: &[Field]| {
            outline.is_some_and(|outline| {
                fields
                    .iter()
                    .all(|(way, shape)| outline.descendant(way).is_some_and(|value| shape.matches(value)))
            })
        };
        match self {
            Self::Folder { .. } => false,
            Self::Json(all) => fields(all),
            Self::Named(needed, all) => name == needed && fields(all),
            Self::Bytes(index, needed) => bytes.get(index..).is_some_and(|rest| rest.starts_with(needed)),
            Self::Zip(ending) => has_ending(name, ending) && bytes.starts_with(ZIP),
        }
    }
}

fn has_ending(name: &str, ending: &str) -> bool {
    let end = name.len().checked_sub(ending.len()).and_then(|start| name.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

impl Shape {
    fn matches(self, value: &Outline) -> bool {
        let text = |condition: &dyn Fn(&str) -> bool| value.text().is_some_and(condition);
        match self {
            Self::Present => true,
            Self::Number => *value == Outline::Number,
            Self::Truth => *value == Outline::Truth,
            Self::Text => text(&|_| true),
            Self::Begins(needed) => text(&|t| t.starts_with(needed)),
            Self::Ends(needed) => text(&|t| t.ends_with(needed)),
            Self::List => matches!(value, Outline::List(_)),
            Self::Object => matches!(value, Outline::Object(_)),
        }
    }
}
