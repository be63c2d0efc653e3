//! Folders and zips that mean harm: what is bad is named and left out, what is good is read, nothing outside is.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use files::{ReadError, Tree, ZipLimits};
use proptest::prelude::*;

use crate::hostile_kit::{self, ZipEntry, open_zip, walk, warned, zip};

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut list: Vec<_> = list.iter().map(|(p, c)| ((*p).to_owned(), (*c).to_owned())).collect();
    list.sort();
    list
}

#[test]
// docs/security.md: An opened folder or zip
fn a_folder_gives_up_only_its_own_files() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(temp.path().join("secret.json"), "{}").unwrap();
    fs::write(root.join("a/b/good.json"), "{}").unwrap();
    fs::write(root.join(OsStr::from_bytes(b"bad\xffname")), "{}").unwrap();
    symlink("../secret.json", root.join("out.json")).unwrap();
    symlink(temp.path(), root.join("absolute")).unwrap();
    symlink("..", root.join("a/loop")).unwrap();
    symlink("good.json", root.join("a/b/inside.json")).unwrap();
    symlink("/dev/zero", root.join("a/zero")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let tree = Tree::open(&root).unwrap();
    assert_eq!(walk(&tree), ["a", "a/b", "a/b/good.json"]);
    assert_eq!(
        warned(&tree),
        pairs(&[
            ("a/b/inside.json", "link.skipped"),
            ("a/loop", "link.skipped"),
            ("a/zero", "link.skipped"),
            ("absolute", "link.skipped"),
            ("bad\u{fffd}name", "name.not_utf8"),
            ("dangling", "link.skipped"),
            ("out.json", "link.skipped"),
            ("socket", "file.special"),
        ])
    );
    for path in ["out.json", "absolute/secret.json", "a/loop/a/b/good.json", "a/zero", "a/b/inside.json"] {
        assert!(matches!(tree.read(path, 9), Err(ReadError::Link)), "{path}");
        assert!(tree.entry(path).is_none(), "{path}");
    }
    assert_eq!(tree.read("socket", 9).unwrap_err().code(), "file.unreadable");
    drop(socket);
}

#[test]
// docs/security.md: An opened folder or zip
fn a_link_swapped_in_after_the_look_is_not_followed() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("results");
    fs::create_dir_all(root.join("run")).unwrap();
    fs::create_dir(temp.path().join("outside")).unwrap();
    fs::write(temp.path().join("outside/f.json"), "\"secret\"").unwrap();
    fs::write(root.join("run/f.json"), "1").unwrap();
    let tree = Tree::open(&root).unwrap();
    assert_eq!(tree.list("run").len(), 1);
    fs::remove_dir_all(root.join("run")).unwrap();
    symlink("../outside", root.join("run")).unwrap();
    assert!(matches!(tree.read("run/f.json", 99), Err(ReadError::Link)));
    assert!(tree.list("run").is_empty());
    // Even when the root itself is swapped: the handle stays on the folder that was opened.
    fs::remove_file(root.join("run")).unwrap();
    fs::rename(&root, temp.path().join("moved")).unwrap();
    symlink("outside", &root).unwrap();
    assert!(matches!(tree.read("f.json", 99), Err(ReadError::Missing)));
}

#[test]
fn folders_without_end_are_left_at_a_depth() {
    let temp = tempfile::tempdir().unwrap();
    let deep = vec!["d"; 60].join("/");
    fs::create_dir_all(temp.path().join(&deep)).unwrap();
    fs::write(temp.path().join(&deep).join("f"), "x").unwrap();
    let entries = [ZipEntry::stored(format!("{deep}/f"), "x"), ZipEntry::stored("d/good", "x")];
    let (_temp, zipped) = open_zip(&zip(&entries));
    let zipped = zipped.unwrap();
    let folder = Tree::open(temp.path()).unwrap();
    assert_eq!(walk(&folder).len(), files::MAX_DEPTH);
    assert_eq!(walk(&zipped), ["d", "d/good"]);
    assert_eq!(warned(&zipped)[0].1, "folder.too_deep");
    assert_eq!(warned(&folder)[0].1, "folder.too_deep");
}

#[test]
// docs/security.md: An opened folder or zip
fn zip_entries_with_bad_names_are_left_out() {
    let names: &[(&[u8], &str)] = &[
        (b"../up.json", "zip.name"),
        (b"a/../../up.json", "zip.name"),
        (b"a/..", "zip.name"),
        (b"/etc/passwd", "zip.name"),
        (b"C:/Windows/x", "zip.name"),
        (b"C:x", "zip.name"),
        (b"..\\up.json", "zip.name"),
        (b"a\\b.json", "zip.name"),
        (b"nul\0name", "zip.name"),
        (b"bad\xffname", "name.not_utf8"),
    ];
    let mut entries = vec![ZipEntry::stored("a/good.json", "{}")];
    entries.extend(names.iter().map(|(name, _)| ZipEntry::stored(name, "{}")));
    let (_temp, tree) = open_zip(&zip(&entries));
    let tree = tree.unwrap();
    assert_eq!(walk(&tree), ["a", "a/good.json"]);
    let expected: Vec<_> = names.iter().map(|(n, c)| (String::from_utf8_lossy(n).into_owned(), *c)).collect();
    let expected: Vec<_> = expected.iter().map(|(n, c)| (n.as_str(), *c)).collect();
    assert_eq!(warned(&tree), pairs(&expected));
}

#[test]
// docs/security.md: An opened folder or zip
fn zip_entries_that_are_no_plain_files_are_left_out() {
    let entries = [
        ZipEntry::stored("folder/", "").changed(|e| e.mode = 0o040_755),
        ZipEntry::stored("untyped/", "").changed(|e| e.mode = 0o755),
        ZipEntry::stored("unslashed", "").changed(|e| e.mode = 0o040_755),
        ZipEntry::stored("folder/plain", "x").changed(|e| e.mode = 0o100_644),
        ZipEntry::stored("link", "/etc/passwd").changed(|e| e.mode = 0o120_777),
        ZipEntry::stored("pipe", "").changed(|e| e.mode = 0o010_644),
        ZipEntry::stored("device", "").changed(|e| e.mode = 0o020_644),
        ZipEntry::stored("secret", "x").changed(|e| e.flags |= 1),
        ZipEntry::stored("squeezed", "x").changed(|e| e.method = 14),
    ];
    let (_temp, tree) = open_zip(&zip(&entries));
    let tree = tree.unwrap();
    assert_eq!(walk(&tree), ["folder", "folder/plain", "unslashed", "untyped"]);
    assert_eq!(
        warned(&tree),
        pairs(&[
            ("device", "file.special"),
            ("link", "link.skipped"),
            ("pipe", "file.special"),
            ("secret", "zip.encrypted"),
            ("squeezed", "zip.method"),
        ])
    );
}

#[test]
fn the_first_of_a_name_in_a_zip_stays() {
    let entries = [
        ZipEntry::stored("a", "first"),
        ZipEntry::stored("a", "second"),
        ZipEntry::stored("./a", "third"),
        ZipEntry::stored("a/below", "x"),
        ZipEntry::stored("f/x", "x"),
        ZipEntry::stored("f", "file"),
        ZipEntry::stored("f/", ""),
        ZipEntry::stored("a/", ""),
    ];
    let (_temp, tree) = open_zip(&zip(&entries));
    let tree = tree.unwrap();
    assert_eq!(walk(&tree), ["a", "f", "f/x"]);
    assert_eq!(tree.read("a", 99).unwrap(), b"first");
    let mut codes = warned(&tree);
    codes.dedup();
    assert_eq!(codes, pairs(&[("a", "zip.duplicate"), ("a/below", "zip.duplicate"), ("f", "zip.duplicate")]));
}

#[test]
// docs/security.md: An opened folder or zip
fn bombs_are_not_unpacked() {
    let zeros = vec![0; 17 << 20];
    let bomb = ZipEntry::deflated("bomb", &zeros);
    let dull = ZipEntry::deflated("dull", "line\n".repeat(1 << 16));
    // States ten bytes and gives 17 MiB.
    let liar = bomb.clone().changed(|e| {
        e.name = b"liar".to_vec();
        e.size = 10;
    });
    // The same packed bytes under a second name.
    let shared = dull.clone().changed(|e| {
        e.name = b"shared".to_vec();
        e.begins_at_entry = Some(1);
    });
    let (_temp, tree) = open_zip(&zip(&[bomb, dull, liar, shared]));
    let tree = tree.unwrap();
    assert_eq!(walk(&tree), ["dull", "liar"]);
    assert_eq!(warned(&tree), pairs(&[("bomb", "zip.bomb"), ("shared", "zip.bomb")]));
    let error = tree.read("liar", 1 << 30).unwrap_err();
    assert!(matches!(&error, ReadError::Damaged(message) if message.contains("more comes out")), "{error}");
    assert_eq!(tree.read("dull", 1 << 20).unwrap().len(), 5 << 16);
}

#[test]
fn zips_beyond_the_limits_are_read_up_to_them() {
    let entries: Vec<_> = (0..20).map(|n| ZipEntry::stored(format!("f{n:02}"), "0123456789")).collect();
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("x.zip");
    fs::write(&path, zip(&entries)).unwrap();
    let limits = ZipLimits { entries: 5, ..ZipLimits::default() };
    let tree = Tree::open_with(&path, limits).unwrap();
    assert_eq!(tree.list("").len(), 5);
    assert_eq!(warned(&tree), pairs(&[("", "zip.too_many")]));
    let limits = ZipLimits { index: 1000, ..ZipLimits::default() };
    let tree = Tree::open_with(&path, limits).unwrap();
    assert!((1..10).contains(&tree.list("").len()));
    assert_eq!(warned(&tree), pairs(&[("", "zip.too_many")]));
    let limits = ZipLimits { total: 35, ..ZipLimits::default() };
    let tree = Tree::open_with(&path, limits).unwrap();
    assert_eq!(tree.list("").len(), 3);
    assert_eq!(warned(&tree).len(), 17);
    assert!(warned(&tree).iter().all(|(_, code)| code == "zip.too_large"));
}

#[test]
fn a_list_of_contents_without_the_contents_is_not_taken() {
    // A thousand entries that state a place behind the list, each with names of many folders.
    let names: Vec<String> = (0..1000).map(|n| format!("{}{n}", format!("{n}/").repeat(30))).collect();
    let mut entries: Vec<_> = names.iter().map(|name| ZipEntry::stored(name, "")).collect();
    entries.insert(0, ZipEntry::stored("good", "text"));
    let whole = zip(&entries);
    let mut broken = whole.clone();
    for start in 0..whole.len() - 46 {
        if whole[start..].starts_with(b"PK\x01\x02") && whole[start + 46..].first() != Some(&b'g') {
            let far_offset = u32::try_from(whole.len() + start).unwrap();
            broken[start + 42..start + 46].copy_from_slice(&far_offset.to_le_bytes());
        }
    }
    let (_temp, tree) = open_zip(&broken);
    let tree = tree.unwrap();
    assert_eq!(walk(&tree), ["good"]);
    assert!(warned(&tree).iter().all(|(_, code)| code == "zip.damaged") && warned(&tree).len() == 1000);
}

#[test]
fn damage_in_a_zip_is_found_where_it_is_read() {
    let text = format!("{{\"k\": \"{}\"}}", "value ".repeat(1000));
    let cut = |e: &mut ZipEntry| e.packed.truncate(e.packed.len() / 2);
    let entries = [
        ZipEntry::deflated("good", &text),
        ZipEntry::deflated("crc", &text).changed(|e| e.crc ^= 1),
        ZipEntry::stored("stored_crc", &text).changed(|e| e.crc ^= 1),
        ZipEntry::deflated("cut", &text).changed(cut),
        ZipEntry::stored("stored_cut", &text).changed(cut),
        ZipEntry::deflated("longer", &text).changed(|e| e.size -= 5),
        ZipEntry::deflated("shorter", &text).changed(|e| e.size += 5),
        ZipEntry::deflated("garbage", &text).changed(|e| e.packed.iter_mut().for_each(|b| *b ^= 0x5a)),
    ];
    let (_temp, tree) = open_zip(&zip(&entries));
    let tree = tree.unwrap();
    assert_eq!(walk(&tree).len(), entries.len());
    assert!(tree.warnings().is_empty());
    assert_eq!(tree.read("good", 1 << 20).unwrap(), text.as_bytes());
    assert_eq!(tree.read_range("crc", 0, 5).unwrap().0, b"{\"k\":");
    for entry in &entries[1..] {
        let name = std::str::from_utf8(&entry.name).unwrap();
        assert_eq!(tree.read(name, 1 << 20).unwrap_err().code(), "zip.damaged", "{name}");
        let error = tree.read_json::<serde_json::Value>(name, 1 << 20).unwrap_err();
        assert_eq!(error.code(), "zip.damaged", "{name}: {error}");
    }
}

#[test]
fn a_zip_without_its_end_is_no_zip_and_says_so() {
    let whole = zip(&[ZipEntry::stored("a", "x"), ZipEntry::stored("b", "y")]);
    for bytes in [&b""[..], b"PK", &whole[..whole.len() - 10], b"{\"json\": true}"] {
        let (_temp, tree) = open_zip(bytes);
        let error = tree.unwrap_err();
        assert_eq!(error.code(), "source.not_zip", "{error}");
    }
    // The list of contents breaks off after its first entry.
    let mut broken = whole.clone();
    let second = broken.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    broken[second] = b'X';
    let (_temp, tree) = open_zip(&broken);
    let tree = tree.unwrap();
    assert_eq!(walk(&tree), ["a"]);
    assert_eq!(warned(&tree), pairs(&[("", "zip.damaged")]));
}

#[test]
fn two_threads_read_one_zip() {
    let entries: Vec<_> =
        (0..50).map(|n| ZipEntry::deflated(format!("{n}"), format!("{n} ").repeat(5000))).collect();
    let (_temp, tree) = open_zip(&zip(&entries));
    let tree = tree.unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for n in 0..50 {
                    let text = tree.read_text(&n.to_string(), 1 << 20).unwrap().0;
                    assert_eq!(text, format!("{n} ").repeat(5000));
                }
            });
        }
    });
}

fn any_tree() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let name = prop_oneof!["[a-c]{1,2}", "\\PC{1,8}", Just("..".to_owned()), Just(".".to_owned())];
    let path = prop::collection::vec(name, 1..5).prop_map(|parts| parts.join("/"));
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        Just(b"{\"a\": [1, 2]}".to_vec()),
        Just(Vec::new())
    ];
    prop::collection::vec((path, content), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (_temp, tree) = open_zip(&bytes);
        if let Ok(tree) = tree {
            walk(&tree);
        }
    }

    #[test]
    fn a_zip_with_flipped_bytes_gives_what_it_can(
        files in any_tree(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = hostile_kit::zip_of(&files);
        for (index, value) in flips {
            let position = index.index(bytes.len());
            bytes[position] = value;
        }
        let (_temp, tree) = open_zip(&bytes);
        if let Ok(tree) = tree {
            for path in walk(&tree) {
                prop_assert!(!path.split('/').any(|part| part.is_empty() || part == "." || part == ".."));
            }
        }
    }

    #[test]
    fn what_a_zip_lists_is_what_it_holds(files in any_tree()) {
        let (_temp, tree) = open_zip(&hostile_kit::zip_of(&files));
        let tree = tree.unwrap();
        let listed = walk(&tree);
        for path in &listed {
            let entry = tree.entry(path).unwrap();
            if !entry.is_folder() {
                let clean = |name: &str| name.split('/').filter(|p| !matches!(*p, "" | ".")).collect::<Vec<_>>().join("/");
                let first = files.iter().find(|(name, _)| clean(name) == *path);
                prop_assert_eq!(&tree.read(path, 1 << 20).unwrap(), &first.unwrap().1);
            }
        }
    }
}
