//! Where results go, and what is kept.

use crate::{DefaultValue, FormSection, KeyName, Setting, ValueKind};

const ROW: Setting = Setting { section: FormSection::Results, ..Setting::BLANK };

pub(super) const ROWS: &[Setting] = &[
    Setting {
        field: "output_dir",
        key: KeyName::InSection("", "output_dir"),
        default: DefaultValue::Needed(""),
        label: "Folder",
        help: "Where the results are written. The folder must be new or empty.",
        ..ROW
    },
    Setting {
        field: "tags",
        key: KeyName::InSection("", "tags"),
        takes: ValueKind::Words,
        label: "Tags",
        help: "Words under which the library finds the run.",
        ..ROW
    },
    Setting {
        field: "keep_snapshots",
        key: KeyName::InSection("", "keep_snapshots"),
        takes: ValueKind::Integer(0, 1_000_000),
        default: DefaultValue::Empty("all"),
        label: "Code snapshots kept per episode",
        help: "How many copies of the code are kept for each episode; empty: all.",
        ..ROW
    },
];
