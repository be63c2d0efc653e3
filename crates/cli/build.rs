//! Embeds the built web UI in a released program, so that `stamina serve` works wherever the program is. A program for
//! development uses the UI of the checkout: embedded, every build of the UI would rebuild the program.
#![allow(clippy::print_stdout, reason = "a build script tells cargo on standard output")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| {
        env::var_os(name).ok_or_else(|| io::Error::other(format!("cargo does not set the variable {name}")))
    };
    let ui = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("../../ui/dist");
    let mut files = Vec::new();
    if variable("PROFILE")? == "release" {
        // Named even if they do not exist: cargo then runs this again, and a UI that is built later is embedded.
        for watched in [ui.join("index.html"), ui.clone()] {
            println!("cargo::rerun-if-changed={}", watched.display());
        }
        if ui.join("index.html").is_file() {
            collect(&ui, "", &mut files)?;
        } else {
            println!(
                "cargo::warning=The web UI is not built: this `stamina serve` needs --ui. `npm run build -w ui` builds it."
            );
        }
    }
    fs::write(PathBuf::from(variable("OUT_DIR")?).join("web_ui.rs"), table(&files))
}

/// Collects the files below a folder, sorted, each with its path in URLs.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, entry.path()));
        }
    }
    Ok(())
}

/// An expression of type `&[(&str, &[u8])]`.
fn table(files: &[(String, PathBuf)]) -> String {
    let mut text = "&[\n".to_owned();
    for (name, path) in files {
        let path = path.to_string_lossy();
        let _ = writeln!(text, "({name:?}, include_bytes!({path:?}).as_slice()),");
    }
    text.push_str("]\n");
    text
}
