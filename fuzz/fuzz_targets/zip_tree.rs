#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use files::{Tree, join};
use ingest::view;
use libfuzzer_sys::fuzz_target;

static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();

fn path() -> PathBuf {
    FOLDER
        .get_or_init(|| tempfile::tempdir().expect("a temporary folder can be made"))
        .path()
        .join("input.zip")
}

fuzz_target!(|input: &[u8]| {
    fs::write(path(), input).expect("a file can be written");
    let Ok(tree) = Tree::open(&path()) else { return };
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in tree.list(&folder) {
            assert!(!matches!(entry.name.as_str(), "" | "." | "..") && !entry.name.contains(['/', '\\']));
            let path = join(&folder, &entry.name);
            if entry.is_folder() {
                folders.push(path);
                continue;
            }
            if let Ok(bytes) = tree.read(&path, 1 << 20) {
                assert_eq!(bytes.len() as u64, entry.size);
            }
            let _ = tree.read_json::<serde_json::Value>(&path, 1 << 16);
            let _ = view::text_page(&tree, &path, -5, 100);
        }
    }
});
