//! A released program embeds the built web UI, whenever it was built. Runs the build script with cargo.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Prints the names of what it carries.
const PROGRAM: &str = r#"
type Files = &'static [(&'static str, &'static [u8])];
static CARRIED: Files = include!(concat!(env!("OUT_DIR"), "/web_ui.rs"));
fn main() {
    for (name, bytes) in CARRIED {
        println!("{name} {}", bytes.len());
    }
}
"#;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// What the program of a folder carries after a release build.
fn carried(folder: &Path) -> String {
    let built = Command::new(env!("CARGO"))
        .args(["run", "--release", "--offline", "--quiet"])
        .current_dir(folder.join("crates/cli"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    String::from_utf8_lossy(&built.stdout).into_owned()
}

#[test]
fn a_ui_that_is_built_after_the_program_is_in_the_next_one() {
    let home = tempfile::tempdir().expect("a folder");
    let (folder, ui) = (home.path(), home.path().join("ui/dist"));
    let manifest = "[package]\nname = \"carrier\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    write(&folder.join("crates/cli/Cargo.toml"), manifest);
    write(&folder.join("crates/cli/src/main.rs"), PROGRAM);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
    fs::copy(script, folder.join("crates/cli/build.rs")).expect("a copy");

    assert_eq!(carried(folder), "");
    write(&ui.join("index.html"), "<p>");
    write(&ui.join("assets/a.js"), "1");
    assert_eq!(carried(folder), "assets/a.js 1\nindex.html 3\n");
    write(&ui.join("assets/b.js"), "22");
    assert_eq!(carried(folder), "assets/a.js 1\nassets/b.js 2\nindex.html 3\n");
}
