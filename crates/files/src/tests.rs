//! Folder and zip, through the same questions. Hostile ones are in `tests/hostile_tree.rs`.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::*;

fn folder_without_openat2(path: &Path) -> Tree {
    let inner = folder::Folder::open(path).unwrap().without_openat2();
    Tree::from_inner(path.to_owned(), Inner::Folder(inner), Arc::default())
}

#[test]
fn both_ways_to_open_agree_and_neither_leaves_the_folder() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/x.json"), "{\"k\": 1}").unwrap();
    fs::write(temp.path().join("secret"), "s").unwrap();
    symlink(temp.path().join("secret"), root.join("out")).unwrap();
    symlink("..", root.join("a/up")).unwrap();
    symlink("a", root.join("in")).unwrap();
    for tree in [Tree::open(&root).unwrap(), folder_without_openat2(&root)] {
        let names: Vec<_> = tree.list("").into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(tree.list("a/b").len(), 1);
        assert_eq!(tree.read("a/b/x.json", 100).unwrap(), b"{\"k\": 1}");
        assert_eq!(tree.entry("a/b/x.json"), tree.list("a/b").pop());
        assert_eq!(tree.entry("a").unwrap().kind, EntryKind::Folder);
        assert!(tree.entry("out").is_none());
        assert!(matches!(tree.read("out", 9), Err(ReadError::Link)));
        let through = tree.read("in/b/x.json", 100).unwrap_err();
        assert!(matches!(through, ReadError::Link | ReadError::Missing), "{through:?}");
        assert!(matches!(tree.read("../secret", 9), Err(ReadError::Outside)));
        assert!(matches!(tree.read("/etc/passwd", 9), Err(ReadError::Outside)));
        assert!(matches!(tree.read("a/b/none", 9), Err(ReadError::Missing)));
        assert!(matches!(tree.read("a/b/x.json/y", 9), Err(ReadError::Missing)));
        assert_eq!(tree.read("a", 9).unwrap_err().code(), "file.special");
        assert!(tree.list("a/up").is_empty());
        let warned: Vec<_> = tree.warnings().into_iter().map(|w| (w.path, w.message)).collect();
        assert!(
            warned.iter().any(|(p, m)| p == "out" && m.contains("leads out of the folder")),
            "{warned:?}"
        );
        assert!(warned.iter().any(|(p, m)| p == "in" && m.contains("even inside")), "{warned:?}");
    }
}

/// A task of Harbor in `x.ZIP` was called so, and one in a folder `x.zip` was called `x`.
#[test]
fn a_zip_has_the_name_of_the_folder_that_was_zipped() {
    let temp = tempfile::tempdir().unwrap();
    let mut zip = ZipWriter::new(Vec::new());
    zip.pack("task.toml", b"", &mut Packer::new(0)).unwrap();
    let zip = zip.finish().unwrap();
    for (name, folder_name) in [("a.zip", "a"), ("b.ZIP", "b"), (".zip", ".zip"), ("c.zip.zip", "c.zip")] {
        let path = temp.path().join(name);
        fs::write(&path, &zip).unwrap();
        assert_eq!(Tree::open(&path).unwrap().folder_name(), folder_name, "{name}");
    }
    for name in ["x.zip", "x"] {
        let path = temp.path().join(name);
        fs::create_dir(&path).unwrap();
        assert_eq!(Tree::open(&path).unwrap().folder_name(), name);
    }
}

#[test]
fn a_listing_that_is_kept_is_that_of_one_moment_and_its_warnings_are_those_of_the_tree() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir_all(temp.path().join("a/b")).unwrap();
    symlink("b", temp.path().join("a/link")).unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    let names = |tree: &Tree, folder: &str| -> Vec<String> {
        tree.list(folder).into_iter().map(|entry| entry.name).collect()
    };
    let kept = tree.with_listing("a");
    assert_eq!(tree.warnings().len(), 1, "the link");
    fs::write(temp.path().join("a/later"), "x").unwrap();
    fs::write(temp.path().join("later"), "x").unwrap();
    assert_eq!(names(&kept, "a"), ["b"]);
    assert_eq!(names(&kept, "./a/"), ["b"], "however it is spelled");
    assert_eq!(names(&tree, "a"), ["b", "later"]);
    assert_eq!(names(&kept, ""), ["a", "later"], "of one folder only");
    assert_eq!(names(&kept.fork(), "a"), ["b", "later"]);
    assert_eq!(kept.read("a/later", 9).unwrap(), b"x");
    assert!(tree.with_listing("../outside").list("../outside").is_empty());
}

#[test]
fn json_errors_say_what_and_where() {
    let temp = tempfile::tempdir().unwrap();
    let code = |bytes: &[u8]| {
        fs::write(temp.path().join("f"), bytes).unwrap();
        let tree = Tree::open(temp.path()).unwrap();
        let error = tree.read_json::<std::collections::BTreeMap<String, Vec<u32>>>("f", 1 << 20).unwrap_err();
        (error.code(), error.to_string())
    };
    assert_eq!(code(b"").0, "file.empty");
    assert_eq!(code(b" \n").0, "file.empty");
    let (truncated, message) = code(b"{\"a\": [1,\n2");
    assert_eq!(truncated, "json.truncated");
    assert!(message.contains("line 2 column 1"), "{message}");
    assert_eq!(code(b"{\"a\": }").0, "json.malformed");
    assert_eq!(code(b"{\"a\": \"text\"}").0, "json.wrong_type");
    assert_eq!(code(b"{\"a\xff\": []}").0, "file.not_utf8");
    assert_eq!(code(b"\xff\xfe{\0}\0").0, "file.not_utf8");
    assert_eq!(code(&[0; 100]).0, "json.malformed");
    let deep = "[".repeat(100_000);
    assert_eq!(code(format!("{{\"a\": {deep}").as_bytes()).0, "json.wrong_type");
    fs::write(temp.path().join("f"), b"\xef\xbb\xbf[1]").unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(tree.read_json::<Value>("f", 100).unwrap(), serde_json::json!([1]));
    fs::write(temp.path().join("f"), "[".repeat(100_000)).unwrap();
    assert_eq!(tree.read_json::<Value>("f", 1 << 20).unwrap_err().code(), "json.truncated");
    assert!(matches!(tree.read_json::<Value>("f", 10), Err(ReadError::TooLarge { size: 100_000, cap: 10 })));
    // Python reads some hundred levels: such a value costs itself alone.
    let deep = format!("{{\"a\": {}{}, \"b\": 1}}", "[".repeat(200), "]".repeat(200));
    fs::write(temp.path().join("f"), deep).unwrap();
    assert_eq!(tree.read_json::<Value>("f", 1 << 20).unwrap()["b"], 1);
}

#[test]
fn large_json_streams_and_fails_the_same_way() {
    let temp = tempfile::tempdir().unwrap();
    let mut text = String::from("[0");
    while text.len() < 5 << 20 {
        text.push_str(",\n1234567");
    }
    let lines = text.lines().count();
    fs::write(temp.path().join("cut"), &text).unwrap();
    let mut bad = text.clone().into_bytes();
    bad.extend_from_slice(b", \"\xff\"]");
    fs::write(temp.path().join("bad"), bad).unwrap();
    text.push(']');
    fs::write(temp.path().join("whole"), &text).unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(tree.read_json::<Vec<u32>>("whole", 1 << 30).unwrap().len(), lines);
    let cut = tree.read_json::<Vec<u32>>("cut", 1 << 30).unwrap_err();
    assert_eq!(cut.code(), "json.truncated");
    assert!(cut.to_string().contains(&format!("line {lines} column 7")), "{cut}");
    assert_eq!(tree.read_json::<Vec<Value>>("bad", 1 << 30).unwrap_err().code(), "file.not_utf8");
    assert_eq!(tree.read_json::<Vec<String>>("whole", 1 << 30).unwrap_err().code(), "json.wrong_type");
}

/// Keeps the numbers of a list.
#[derive(Default)]
struct Numbers(Vec<f64>);

impl JsonSink for Numbers {
    fn restart(&mut self) {
        self.0.clear();
    }

    fn take<'de, D: serde::Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        struct Elements<'a>(&'a mut Vec<f64>);
        impl<'de> serde::de::Visitor<'de> for Elements<'_> {
            type Value = ();
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
                while let Some(number) = seq.next_element::<Option<f64>>()? {
                    self.0.extend(number);
                }
                Ok(())
            }
        }
        json.deserialize_seq(Elements(&mut self.0))
    }
}

#[test]
fn a_number_with_which_a_file_breaks_off_is_not_kept() {
    let temp = tempfile::tempdir().unwrap();
    let outcome = |blanks: usize, rest: &str, cap: u64| {
        fs::write(temp.path().join("f"), format!("[{}{rest}", " ".repeat(blanks))).unwrap();
        let tree = Tree::open(temp.path()).unwrap();
        let mut numbers = Numbers::default();
        let code = tree.read_json_into("f", cap, &mut numbers).err().map(|error| error.code());
        (code, numbers.0)
    };
    let cut = Some("json.truncated");
    assert_eq!(outcome(0, "12, 34]", 100), (None, vec![12.0, 34.0]));
    // With what Python writes, too.
    for rest in ["12, 3", "12, 34", "12, -3.5e1", "12, 3\n", "12, ", "12,", "NaN, 12, 3"] {
        assert_eq!(outcome(0, rest, 100), (cut, vec![12.0]), "{rest:?}");
    }
    // A file system may leave zero bytes after a power cut.
    assert_eq!(outcome(0, "12, 3\0\0\0\0", 100), (Some("json.malformed"), vec![12.0]));
    // What is longer than is taken whole streams by.
    let blanks = 300 << 10;
    for rest in ["12, 34", "NaN, 12, 3"] {
        assert_eq!(outcome(blanks, rest, 1 << 30), (cut, vec![12.0]), "{rest:?}");
    }
    let bound = (blanks + "[12, 3".len()) as u64;
    assert_eq!(outcome(blanks, "12, 3456]", bound), (cut, vec![12.0]), "as if it broke off at the bound");
    assert_eq!(without_cut_number(b"{\"a\": -1.5E+3 \n"), Some(&b"{\"a\": "[..]));
    for whole in [&b"{\"a\": true"[..], b"{\"a\": 1}", b"[1, ", b"", b" \0"] {
        assert_eq!(without_cut_number(whole), None);
    }
}

#[test]
fn ranges_and_stamps_follow_the_content() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("f"), "0123456789").unwrap();
    let tree = Tree::open(temp.path()).unwrap();
    assert_eq!(tree.read_range("f", 3, 4).unwrap(), (b"3456".to_vec(), 10));
    assert_eq!(tree.read_range("f", 8, 4).unwrap(), (b"89".to_vec(), 10));
    assert_eq!(tree.read_range("f", 10, 4).unwrap(), (Vec::new(), 10));
    let before = tree.entry("f").unwrap().stamp;
    assert_eq!(before, tree.entry("f").unwrap().stamp);
    fs::write(temp.path().join("f"), "0123456789a").unwrap();
    assert_ne!(before, tree.entry("f").unwrap().stamp);
}
