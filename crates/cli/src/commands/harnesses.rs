//! `stamina harnesses`: the programs that a run can use as agents.

use serde_json::json;
use workbench::runs;

use crate::print::{print, print_json};
use crate::text_table;

/// `stamina harnesses`.
pub(crate) fn harnesses(as_json: bool) {
    let all = runs::harnesses();
    if as_json {
        print_json(&json!(all));
        return;
    }
    let rows: Vec<Vec<String>> = all
        .into_iter()
        .map(|h| vec![h.name.to_uppercase(), h.title, h.version, h.api.replace('_', " "), h.image])
        .collect();
    print(&text_table::table(&["agent", "program", "version", "API", "image"], &[false; 5], &rows));
}
