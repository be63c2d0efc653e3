#![no_main]

use files::Tree;
use ingest::unread;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("results.json"), input).expect("a file");
    let tree = Tree::open(folder.path()).expect("a tree");
    assert!(unread::find(&tree).len() <= 1);
});
