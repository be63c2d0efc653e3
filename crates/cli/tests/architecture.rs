//! Compares documents with the code: the crate table of ARCHITECTURE.md, and the tests that docs/security.md names. Also
//! refuses tests in comments, which no stage of the check would run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Table = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository")
}

/// The table under "Crates": | `crate` | folder | what | depends on |
fn documented() -> Table {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let crates = text.split("## Crates").nth(1).expect("a section Crates");
    crates
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

#[test]
fn what_contributing_names_exists() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let is_of_tree = |name: &&str| {
        name.contains('/') && ["crates/", "data/", "docs/"].iter().any(|top| name.starts_with(top))
    };
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_of_tree).collect();
    let missing: Vec<&&str> = named.iter().filter(|name| !root().join(name).exists()).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md names what is not there: {missing:?}");
    assert!(named.len() > 20, "only {} places are named", named.len());
}

/// The text of every Rust file of the crates.
fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(&path).expect("a source file"));
        }
    }
}

/// The tests that docs/security.md names, each with its section.
fn promised() -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(root().join("docs/security.md")).expect("docs/security.md");
    let (mut section, mut named) = (String::new(), BTreeSet::new());
    for paragraph in text.split("\n\n") {
        if let Some(heading) = paragraph.lines().rfind(|line| line.starts_with('#')) {
            heading.trim_start_matches('#').trim().clone_into(&mut section);
        }
        if paragraph.starts_with("Tests: ") {
            let names = paragraph.split('`').skip(1).step_by(2);
            named.extend(names.map(|name| (name.to_owned(), section.clone())));
        }
    }
    named
}

/// The tests that name a section of docs/security.md in the line above them, each with that section.
fn promising(sources: &str) -> BTreeSet<(String, String)> {
    let lines: Vec<&str> = sources.lines().map(str::trim).collect();
    let name = |line: &str| {
        let (_, rest) = line.split_once("fn ")?;
        Some(rest.split_once('(')?.0.to_owned())
    };
    let pairs = lines.windows(2).filter_map(|pair| {
        let section = pair[0].strip_prefix("// docs/security.md: ")?;
        Some((name(pair[1]).unwrap_or_else(|| pair[1].to_owned()), section.to_owned()))
    });
    pairs.collect()
}

#[test]
fn promises_of_security_and_their_tests_name_each_other() {
    let mut all = String::new();
    for folder in ["crates", "src-tauri/src"] {
        sources(&root().join(folder), &mut all);
    }
    let (end_to_end, promised): (BTreeSet<_>, BTreeSet<_>) =
        promised().into_iter().partition(|(name, _)| name.contains('/'));
    for (name, section) in end_to_end {
        let text = std::fs::read_to_string(root().join(&name)).unwrap_or_default();
        assert!(text.contains(&format!("docs/security.md: {section}")), "{name} does not name its section");
    }
    let promising = promising(&all);
    let (unnamed, forgotten): (Vec<_>, Vec<_>) =
        (promised.difference(&promising).collect(), promising.difference(&promised).collect());
    assert!(
        unnamed.is_empty(),
        "docs/security.md names tests that do not exist, or whose line above is not `// docs/security.md: SECTION`: {unnamed:?}"
    );
    assert!(
        forgotten.is_empty(),
        "tests name a section of docs/security.md that does not name them: {forgotten:?}"
    );
    assert!(promised.len() > 60, "only {} tests are named", promised.len());
}

/// Blocks of code in comments of documentation that rustdoc would take for tests: those that name no other language.
fn tests_in_comments(source: &str) -> Vec<&str> {
    let (mut found, mut is_open) = (Vec::new(), false);
    for line in source.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = comment.and_then(|text| text.trim().strip_prefix("```")) else { continue };
        is_open = !is_open;
        if is_open && !["text", "toml", "json", "yaml", "sh"].contains(&language) {
            found.push(line);
        }
    }
    found
}

#[test]
fn no_comment_holds_a_test() {
    let mut all = String::new();
    for folder in ["crates", "src-tauri/src"] {
        sources(&root().join(folder), &mut all);
    }
    assert_eq!(
        tests_in_comments(&all),
        [""; 0],
        "cargo-nextest runs no tests of comments: write it as a test, or name the language, as in ```text"
    );
    assert_eq!(tests_in_comments("/// ```text\n/// a\n/// ```\n    //! ```\n//! ```\n").len(), 1);
}
