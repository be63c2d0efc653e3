//! Compares documents with the code: the tables of ARCHITECTURE.md and the places that documents name, and the tests that
//! docs/security.md names. The first comment of a crate is one of these documents. Also refuses tests in comments, which no
//! stage of the check would run.

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

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    serde_json::from_slice(&output.stdout).expect("JSON of cargo metadata")
}

fn actual() -> Table {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let workspace_names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|d| d["kind"].is_null())
                .filter_map(|d| d["name"].as_str())
                .filter(|name| workspace_names.contains(name))
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

/// What stands as code in a document, each once.
fn named(document: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join(document)).expect(document);
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Files and folders of the repository by which a name of a document begins.
const TOPS: [&str; 10] =
    ["bench/", "crates/", "data/", "docs/", "fuzz/", "icons/", "scripts/", "src-tauri/", "tests/", "ui/"];

#[test]
fn what_contributing_and_the_readme_name_exists() {
    let is_of_tree = |name: &String| TOPS.iter().any(|top| name.starts_with(top)) && !name.contains(' ');
    for (document, least) in [("CONTRIBUTING.md", 20), ("README.md", 1)] {
        let named: Vec<String> = named(document).into_iter().filter(is_of_tree).collect();
        let missing: Vec<&String> = named.iter().filter(|name| !root().join(name).exists()).collect();
        assert!(missing.is_empty(), "{document} names what is not there: {missing:?}");
        assert!(named.len() >= least, "{document} names only {} places", named.len());
    }
}

/// The paths below a folder, relative to the repository, with a slash before each.
fn paths(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        all.push_str(&format!("/{}\n", path.strip_prefix(root()).expect("below the repository").display()));
        if path.is_dir() {
            paths(&path, all);
        }
    }
}

/// Whether a place that ARCHITECTURE.md names exists. A place is a path from the root or from a folder in a crate
/// (`fault_attribution/table.rs`), or a module (`store::origins`); nothing for what is no place.
fn is_there(name: &str, below_crates: &str) -> Option<bool> {
    if let Some((package, module)) = name.split_once("::") {
        let source = root().join("crates").join(package).join("src");
        let module = source.join(module.replace("::", "/"));
        return source.exists().then(|| module.is_dir() || module.with_extension("rs").is_file());
    }
    let name = name.trim_end_matches('/');
    let is_place = name.contains('/') && !name.starts_with(['/', '@']) && !name.contains([':', '*', ' '])
        || name.ends_with(".rs")
        || TOPS.iter().any(|top| top.trim_end_matches('/') == name);
    is_place.then(|| root().join(name).exists() || below_crates.contains(&format!("/{name}\n")))
}

#[test]
fn what_architecture_names_exists() {
    let mut below_crates = String::new();
    paths(&root().join("crates"), &mut below_crates);
    let all = named("ARCHITECTURE.md");
    let places: Vec<(&String, bool)> =
        all.iter().filter_map(|name| Some((name, is_there(name, &below_crates)?))).collect();
    let missing: Vec<&String> =
        places.iter().filter(|(_, is_present)| !is_present).map(|(name, _)| *name).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
    assert!(places.len() > 40, "only {} places are named", places.len());

    for absent in ["crates/nothing.rs", "fault_attribution/nothing.rs", "nothing.rs", "store::nothing"] {
        assert_eq!(is_there(absent, &below_crates), Some(false), "{absent}");
    }
    for other in ["/a/<token>", "stamina/base:1", "Attempt::waiting", "journal.json", "cargo test -p x"] {
        assert_eq!(is_there(other, &below_crates), None, "{other}");
    }
}

#[test]
fn what_the_first_comment_of_a_crate_names_exists() {
    let (mut places, mut missing) = (0, Vec::new());
    for entry in std::fs::read_dir(root().join("crates")).expect("crates").flatten() {
        let (package, source) = (entry.path(), entry.path().join("src"));
        // A program without a library has none.
        let text = std::fs::read_to_string(source.join("lib.rs")).unwrap_or_default();
        let comment: String = text.lines().filter_map(|line| line.strip_prefix("//!")).collect();
        let is_place = |name: &&str| {
            name.contains('/')
                && !name.starts_with(['/', '.'])
                && !name.contains([' ', ':', '*', '<', '=', '…'])
        };
        for name in comment.split('`').skip(1).step_by(2).filter(is_place) {
            places += 1;
            if ![root(), package.as_path(), source.as_path()].iter().any(|folder| folder.join(name).exists())
            {
                missing.push(format!("{}: {name}", source.display()));
            }
        }
    }
    assert!(missing.is_empty(), "comments name what is not there: {missing:?}");
    assert!(places >= 8, "only {places} places are named");
}

/// Names of packages in the first cell of a row under "Dependencies".
fn chosen() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let section = text.split("\n## Dependencies\n").nth(1).expect("a section Dependencies");
    let cells = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let names = cells.flat_map(|line| line.split('|').nth(1).unwrap_or_default().split(", "));
    names.filter_map(|name| name.split_whitespace().next()).map(str::to_owned).collect()
}

/// The packages of others that ours depend on: what programs are made of, and all with those of tests.
fn used() -> (BTreeSet<String>, BTreeSet<String>) {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let workspace_names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let (mut made_of, mut all) = (BTreeSet::new(), BTreeSet::new());
    for dependency in packages.iter().flat_map(|package| package["dependencies"].as_array().expect("a list"))
    {
        let name = dependency["name"].as_str().expect("name");
        if !workspace_names.contains(name) {
            all.insert(name.to_owned());
            if dependency["kind"] != "dev" {
                made_of.insert(name.to_owned());
            }
        }
    }
    for manifest in ["package.json", "ui/package.json"] {
        let text = std::fs::read_to_string(root().join(manifest)).expect(manifest);
        let json: serde_json::Value = serde_json::from_str(&text).expect(manifest);
        for (kind, is_shipped) in [("dependencies", true), ("devDependencies", false)] {
            let Some(object) = json[kind].as_object() else { continue };
            for name in object.keys() {
                all.insert(name.clone());
                if is_shipped {
                    made_of.insert(name.clone());
                }
            }
        }
    }
    (made_of, all)
}

#[test]
fn the_dependency_table_is_what_the_manifests_say() {
    let (chosen, (made_of, all)) = (chosen(), used());
    let covers = |row: &str, name: &str| match row.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => row == name,
    };
    let unnamed: Vec<&String> =
        made_of.iter().filter(|name| !chosen.iter().any(|row| covers(row, name))).collect();
    assert!(unnamed.is_empty(), "ARCHITECTURE.md has no row for {unnamed:?}");
    let unused: Vec<&String> =
        chosen.iter().filter(|row| !all.iter().any(|name| covers(row, name))).collect();
    assert!(unused.is_empty(), "ARCHITECTURE.md has rows for what nothing depends on: {unused:?}");
}

/// Lines of a document outside its blocks of code, without what stands as code in them.
fn prose(text: &str) -> Vec<String> {
    let mut is_fenced = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    });
    lines.map(|line| line.split('`').step_by(2).collect()).collect()
}

/// The anchors of a document, as GitHub makes them of its headings (each heading is there once).
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    headings
        .map(|heading| heading.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn links_of_documents_lead_to_files_and_headings() {
    let mut documents: Vec<_> =
        ["README", "ARCHITECTURE", "CONTRIBUTING", "STYLE", "CHANGELOG", "bench/README", "fuzz/README"]
            .map(|name| root().join(name).with_extension("md"))
            .into();
    let pages = std::fs::read_dir(root().join("docs")).expect("docs").flatten().map(|entry| entry.path());
    documents.extend(pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    let (mut links, mut broken) = (0, Vec::new());
    for document in &documents {
        let text = std::fs::read_to_string(document).expect("a document");
        let prose = prose(&text);
        let targets =
            prose.iter().flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split_once(')'));
        for (target, _) in targets.filter(|(target, _)| !target.contains(':')) {
            links += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { document.clone() } else { document.with_file_name(path) };
            let is_there = match std::fs::read_to_string(&path) {
                Ok(text) => anchor.is_empty() || anchors(&text).contains(anchor),
                // A picture or a folder.
                Err(_) => anchor.is_empty() && path.exists(),
            };
            if !is_there {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
    assert!(links > 150, "only {links} links");
    let text = "# A `b` c: d_e!\n```sh\n# none\n```\nsee [x](y.md) `[z](w.md)`";
    assert!(anchors(text).contains("a-b-c-d_e"));
    assert_eq!(prose(text), ["# A  c: d_e!", "see [x](y.md) "]);
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

#[test]
fn the_exact_layout_of_staminabench_guesses_nothing() {
    let format = root().join("crates/ingest/src/formats/staminabench");
    let mut exact = String::new();
    sources(&format.join("exact"), &mut exact);
    for file in
        ["exact.rs", "bounded_json.rs", "file_head.rs", "json_fields.rs", "test_logs.rs", "part_warnings.rs"]
    {
        exact.push_str(&std::fs::read_to_string(format.join(file)).expect(file));
    }
    assert!(exact.contains("schema_version") && exact.len() > 10_000, "other files");
    assert!(!exact.contains("heuristic::"), "the exact layout names what guesses");
}

/// The tests that docs/security.md names, each with its section.
fn promised() -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(root().join("docs/security.md")).expect("docs/security.md");
    let (mut section, mut named) = (String::new(), BTreeSet::new());
    let mut twice = Vec::new();
    for paragraph in text.split("\n\n") {
        if let Some(heading) = paragraph.lines().rfind(|line| line.starts_with('#')) {
            heading.trim_start_matches('#').trim().clone_into(&mut section);
        }
        if paragraph.starts_with("Tests: ") {
            let names = paragraph.split('`').skip(1).step_by(2);
            twice.extend(names.filter(|name| !named.insert(((*name).to_owned(), section.clone()))));
        }
    }
    assert!(twice.is_empty(), "docs/security.md names tests twice in one section: {twice:?}");
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

#[test]
// docs/security.md: Dependencies
fn crates_of_others_are_fewer_than_750_for_all_systems() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let others = lock.lines().filter(|line| line.starts_with("source = ")).count();
    assert!((1..750).contains(&others), "{others}: docs/security.md says what stands in the way of fewer");
}

#[test]
// docs/security.md: Dependencies
fn pre_releases_among_the_crates_are_listed_with_why() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let text = std::fs::read_to_string(root().join("docs/security.md")).expect("docs/security.md");
    let section = text.split("## Dependencies").nth(1).expect("a section Dependencies");
    let listed: Vec<&str> = section.lines().take_while(|line| !line.starts_with("## ")).collect();
    let lines: Vec<&str> = lock.lines().collect();
    let value = |line: &str, key: &str| {
        Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.trim_end_matches('"').to_owned())
    };
    let crates =
        lines.windows(2).filter_map(|pair| Some((value(pair[0], "name")?, value(pair[1], "version")?)));
    let early: Vec<String> = crates
        .filter(|(_, version)| version.split('+').next().is_some_and(|version| version.contains('-')))
        .map(|(name, _)| format!("- `{name}`"))
        .collect();
    for name in &early {
        assert!(
            listed.iter().any(|line| line.starts_with(name.as_str())),
            "docs/security.md does not say why {name}"
        );
    }
    let reasons =
        listed.iter().filter(|line| line.contains("beta") || line.contains("release candidate")).count();
    assert_eq!(reasons, early.len(), "docs/security.md lists others than {early:?}");
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
