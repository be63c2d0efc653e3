//! Memory stays bounded whatever lies there. A test binary of its own, because it measures the whole process.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod hostile_kit;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use files::Tree;
use hostile_kit::{ZipEntry, files_of, write_folder, zip};
use ingest::import::import;
use ingest::view;
use store::Store;

/// The most memory that this process ever held, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn sparse(path: &Path, bytes: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::options().create(true).write(true).truncate(false).open(path).unwrap().set_len(bytes).unwrap();
}

/// JSON of so many MiB that is one text between `begin` and `end`.
fn long_text(path: &Path, start: &str, mib: usize, end: &str) {
    let mut file = fs::File::create(path).unwrap();
    file.write_all(start.as_bytes()).unwrap();
    for _ in 0..mib {
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    file.write_all(end.as_bytes()).unwrap();
}

#[test]
// docs/security.md: An opened folder or zip
fn gigabytes_do_not_end_up_in_memory() {
    const TWO_GIB: u64 = 2 << 30;
    const ROOM: u64 = 120;
    let start = peak();
    let mut held = start;
    let mut step = |label: &str| {
        let current = peak();
        assert!(
            current < start + ROOM,
            "{label} took {} MiB more, {} MiB in all",
            current - held,
            current - start
        );
        held = current;
    };

    // A sparse file of 2 GiB, through every way to read.
    let temp = tempfile::tempdir().unwrap();
    sparse(&temp.path().join("large.json"), TWO_GIB);
    sparse(&temp.path().join("a/large.py"), TWO_GIB);
    sparse(&temp.path().join("b/large.py"), TWO_GIB);
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(tree.read("large.json", 1 << 20).unwrap_err().code(), "file.too_large");
    assert_eq!(
        tree.read_json::<serde_json::Value>("large.json", 1 << 30).unwrap_err().code(),
        "file.too_large"
    );
    assert_eq!(
        tree.read_json::<serde_json::Value>("large.json", u64::MAX).unwrap_err().code(),
        "json.malformed"
    );
    let page = view::text_page(&tree, "large.json", -10, 0).unwrap();
    assert_eq!((page.total, page.text.as_str()), (TWO_GIB, "\\u{0}".repeat(10).as_str()));
    view::text_page(&tree, "large.json", 1 << 30, 0).unwrap();
    assert!(view::file_pair(&tree, Some("a"), "b", "large.py").unwrap().not_shown.is_some());
    step("a sparse file");

    // A zip whose entry states little and unpacks to much, and one that states much.
    let zeros = vec![0; 16 << 20];
    let mut entries = vec![
        ZipEntry::deflated("liar.json", &zeros).changed(|e| e.size = 100),
        ZipEntry::stored("boaster.json", "{}").changed(|e| e.size = u32::MAX - 1),
    ];
    entries.extend((0..20_000).map(|n| ZipEntry::stored(format!("folder{}/f{n}", n % 50), "")));
    drop(zeros);
    let path = temp.path().join("bomb.zip");
    fs::write(&path, zip(&entries)).unwrap();
    drop(entries);
    let bomb = Tree::open(&path).unwrap();
    assert_eq!(bomb.read("liar.json", 1 << 30).unwrap_err().code(), "zip.damaged");
    assert_eq!(hostile_kit::warned(&bomb), [("boaster.json".to_owned(), "zip.bomb".to_owned())]);
    assert_eq!(bomb.list("folder7").len(), 400);
    drop(bomb);
    step("a zip that lies");

    // Results whose files are far too large, some of them valid.
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/harbor/jobs");
    let root = temp.path().join("jobs");
    let mut files = files_of(&fixtures.join("terminus2-mock-priced"));
    for (path, bytes) in files_of(&fixtures.join("nop-k1")) {
        files.push((format!("nop/{path}"), bytes));
    }
    for (path, _) in &mut files {
        if !path.starts_with("nop/") {
            *path = format!("priced/{path}");
        }
    }
    write_folder(&root, &files);
    files.sort();
    let names: Vec<_> = files.into_iter().map(|(path, _)| path).collect();
    let find =
        |name: &str, nth: usize| root.join(names.iter().filter(|p| p.ends_with(name)).nth(nth).unwrap());
    let trajectory = find("agent/trajectory.json", 0);
    let message = "{\"schema_version\": \"ATIF-v1.8\", \"agent\": {\"name\": \"a\", \"version\": \"1\"}, \
                   \"steps\": [{\"step_id\": 1, \"source\": \"user\", \"message\": \"";
    long_text(&trajectory, message, 200, "\"}]}");
    sparse(&find("verifier/test-stdout.txt", 0), TWO_GIB);
    sparse(&find("verifier/test-stdout.txt", 1), TWO_GIB);
    sparse(&root.join("nop/result.json"), TWO_GIB);
    sparse(&root.join("nop/config.json"), TWO_GIB);
    sparse(&find("trial.log", 0), TWO_GIB);
    let store = Store::open(&temp.path().join("library.db")).unwrap();
    let source = store.put_source(root.to_str().unwrap(), "jobs", false).unwrap();
    let tree = Tree::open(&root).unwrap();
    let imported = import(&tree, &store, source, &|_, _| {}, &AtomicBool::new(false)).unwrap();
    assert!(imported.counts.episodes >= 2, "{imported:?}");
    step("results with large files");
}
