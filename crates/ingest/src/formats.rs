//! Every format that Stamina Lab reads. To add one: a file here, a line in [`all`], a section in `docs/formats.md`, a line in `ui/src/open/formats.ts`.

pub mod evocode;
pub mod harbor;
pub mod locobench;
pub mod pack;
pub mod staminabench;
pub mod table;
pub mod terminal_bench;

use crate::format_trait::Format;

/// Every format, in the order in which they are asked.
pub fn all() -> &'static [&'static dyn Format] {
    &[
        &pack::Pack,
        &harbor::Harbor,
        &terminal_bench::TerminalBench,
        &evocode::EvoCode,
        &locobench::LocoBench,
        &staminabench::StaminaBench,
        // Last: a table beside results of another kind is of those.
        &table::TidyTable,
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_first_page_and_the_documentation_name_every_format() {
        let known: BTreeSet<&str> = all().iter().map(|format| format.name()).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let page = std::fs::read_to_string(root.join("ui/src/open/formats.ts")).unwrap();
        let page_ids: BTreeSet<&str> =
            page.split(" format: \"").skip(1).filter_map(|row| row.split('"').next()).collect();
        assert_eq!(page_ids, known);
        let documentation = std::fs::read_to_string(root.join("docs/formats.md")).unwrap();
        let rows = documentation.lines().skip_while(|line| !line.starts_with("| format |")).skip(2);
        let documented_ids: BTreeSet<&str> =
            rows.map_while(|row| row.strip_prefix("| [")?.split(']').next()).collect();
        assert_eq!(documented_ids, known);
    }
}
