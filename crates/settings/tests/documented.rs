//! `docs/cli.md` has the table of settings that the declarations give.

use std::path::Path;

use settings::docs;

#[test]
fn the_documentation_lists_every_setting_as_it_is_declared() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    let page = std::fs::read_to_string(root.join("docs/cli.md")).expect("docs/cli.md");
    let (_, rest) = page.split_once(docs::BEGIN).expect("the line before the table");
    let (documented, _) = rest.split_once(docs::END).expect("the line after the table");
    let declared = docs::table();
    if documented.trim() != declared.trim() {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings.md");
        std::fs::write(&new, &declared).expect("the table can be written");
        panic!("The table of settings in docs/cli.md is another one; put that of {} there", new.display());
    }
}
