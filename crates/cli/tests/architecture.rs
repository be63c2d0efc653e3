//! ARCHITECTURE.md says which crate depends on which; this holds it against what Cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Table = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository")
}

/// The table under "Rooms": | `crate` | folder | what | depends on |
fn documented() -> Table {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rooms = text.split("## Rooms").nth(1).expect("a section Rooms");
    rooms
        .lines()
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let names =
                cells[4].split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
            (cells[1].trim_matches('`').to_owned(), names)
        })
        .collect()
}

fn actual() -> Table {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|d| d["kind"].is_null())
                .filter_map(|d| d["name"].as_str())
                .filter(|name| ours.contains(name))
                .map(str::to_owned)
                .collect();
            (package["name"].as_str().expect("name").to_owned(), dependencies)
        })
        .collect()
}

#[test]
fn the_crate_table_is_what_cargo_says() {
    assert_eq!(documented(), actual());
}
