//! The picture in the documentation equals the drawing of its spec.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use figures::export::{Format, export, spec_in};

#[test]
fn the_picture_of_the_published_results_is_the_one_that_its_spec_gives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
    let file = |ending: &str| folder.join(format!("evocode-published.{ending}"));
    let spec = spec_in(&std::fs::read(file("pdf")).unwrap()).unwrap();
    let mut old = Vec::new();
    for (format, ending) in [(Format::Pdf, "pdf"), (Format::Png, "png")] {
        let picture = export(&spec, format).unwrap();
        assert!(
            picture.warnings.is_empty(),
            "letters of other fonts are not the same everywhere: {:?}",
            picture.warnings
        );
        if picture.bytes == std::fs::read(file(ending)).unwrap() {
            continue;
        }
        if std::env::var_os("UPDATE_PICTURES").is_some() {
            std::fs::write(file(ending), picture.bytes).unwrap();
        } else {
            old.push(ending);
        }
    }
    assert!(
        old.is_empty(),
        "docs/figures/evocode-published is drawn differently now ({old:?}). After a look at the new one, write both again with \
         `UPDATE_PICTURES=1 cargo test --workspace --locked --test figures_integration`, or with \
         `stamina figure docs/figures/evocode-published.pdf --out docs/figures/evocode-published.pdf` and then `.png`"
    );
}
