//! `docs/formats.md` names every warning code and reported figure that the readers can give, and no other.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::collections::BTreeSet;
use std::path::Path;

/// Text in quotes, or in backticks, that has the form of a code: `json.truncated`.
fn codes(text: &str, quote: char) -> BTreeSet<String> {
    const FILES: [&str; 13] =
        ["json", "txt", "toml", "log", "lock", "py", "zip", "yaml", "yml", "md", "rs", "csv", "sh"];
    let is_code = |word: &str| {
        word.split_once('.').is_some_and(|(group, name)| {
            let lower = |s: &str, digits: bool| {
                !s.is_empty()
                    && s.bytes()
                        .all(|b| b.is_ascii_lowercase() || b == b'_' || (digits && b.is_ascii_digit()))
            };
            lower(group, false) && lower(name, true) && !FILES.contains(&name)
        })
    };
    text.split(quote).filter(|word| is_code(word)).map(str::to_owned).collect()
}

fn sources(folder: &Path, out: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.file_name().unwrap() != "tests.rs"
            && !path.ends_with("attribution/exception_table.rs")
            && !path.ends_with("attribution/exception_packages.rs")
        {
            // (These two name packages of Python.)
            let text = std::fs::read_to_string(&path).unwrap();
            // Tests name codes and much else.
            out.push_str(text.split("#[cfg(test)]\nmod tests").next().unwrap_or(""));
        }
    }
}

/// Every code of a table of warnings with the severity that it is given there.
#[test]
fn the_severity_of_every_code_is_documented_as_it_is() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let doc = std::fs::read_to_string(crate_folder.join("../../docs/formats.md")).unwrap();
    let (_, doc) = doc.split_once("\n## Warnings\n").unwrap();
    let (doc, _) = doc.split_once("\n## ").unwrap();
    let mut documented = BTreeSet::new();
    for row in doc.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for code in codes(cells[1], '`') {
            assert_eq!(model::Severity::from_code(&code).as_str(), cells[2], "{code}");
            documented.insert(code);
        }
    }
    let defined: BTreeSet<String> =
        model::Severity::ALL.iter().flat_map(|s| s.codes()).map(|code| (*code).to_owned()).collect();
    assert_eq!(documented, defined);
}

#[test]
fn every_code_is_documented_and_every_documented_code_exists() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let doc = std::fs::read_to_string(crate_folder.join("../../docs/formats.md")).unwrap();
    let (_, doc) = doc.split_once("\n## Warnings\n").unwrap();
    let mut code = String::new();
    sources(&crate_folder.join("src"), &mut code);
    sources(&crate_folder.join("../files/src"), &mut code);
    let store = std::fs::read_to_string(crate_folder.join("../store/src/parts.rs")).unwrap();
    code.push_str(store.split("#[cfg(test)]").next().unwrap_or(""));
    // The entries that stand for others.
    code.push_str(&std::fs::read_to_string(crate_folder.join("../model/src/warning.rs")).unwrap());
    let documented = codes(doc, '`');
    let given = codes(&code, '"');
    let missing: Vec<&String> = given.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/formats.md: {missing:?}");
    // These two are assembled from their parts.
    let composed = ["staminabench.success_rate", "staminabench.average_score"];
    let stale: Vec<&String> =
        documented.difference(&given).filter(|c| !composed.contains(&c.as_str())).collect();
    assert!(stale.is_empty(), "in docs/formats.md and nowhere else: {stale:?}");
}
