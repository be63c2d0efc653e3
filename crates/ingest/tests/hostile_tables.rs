//! Tables that were made to do harm, beside one that is as it should be. A test binary of its own, because it measures the
//! memory of the whole process.

#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::fs;
use std::io::Write as _;

use files::Tree;
use ingest::discover::discover;
use ingest::format_trait::{Format, Report};
use ingest::formats::table::TidyTable;

/// The most memory that this process ever held, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// A struct in the compact protocol of Thrift, while its fields are written in their order.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

fn size(bytes: &(impl AsRef<[u8]> + ?Sized)) -> i64 {
    i64::try_from(bytes.as_ref().len()).unwrap()
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i64, out: &mut Vec<u8>) {
    varint(((number << 1) ^ (number >> 63)) as u64, out);
}

impl Fields {
    fn start(&mut self, id: u8, wire: u8) {
        self.bytes.push((id - self.last) << 4 | wire);
        self.last = id;
    }

    fn short(mut self, id: u8, number: i64) -> Self {
        self.start(id, 5);
        zigzag(number, &mut self.bytes);
        self
    }

    fn long(mut self, id: u8, number: i64) -> Self {
        self.start(id, 6);
        zigzag(number, &mut self.bytes);
        self
    }

    fn text(mut self, id: u8, text: &str) -> Self {
        self.start(id, 8);
        varint(text.len() as u64, &mut self.bytes);
        self.bytes.extend(text.as_bytes());
        self
    }

    fn inner(mut self, id: u8, fields: Self) -> Self {
        self.start(id, 12);
        self.bytes.extend(fields.end());
        self
    }

    fn list(mut self, id: u8, wire: u8, elements: &[Vec<u8>]) -> Self {
        self.start(id, 9);
        self.bytes.push(0xf0 | wire);
        varint(elements.len() as u64, &mut self.bytes);
        self.bytes.extend(elements.concat());
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

const COLUMNS: [&str; 7] = ["run", "harness", "model", "scenario", "turn", "attempt", "passed"];
const VALUES: [&str; 7] = ["a", "h", "m", "s", "1", "1", "true"];

/// A page of kind 0 (data, in an encoding) or 2 (a dictionary) that states this size.
fn page(kind: i64, encoding: i64, values: i64, stated: i64, packed: &[u8]) -> Vec<u8> {
    let head = Fields::default().short(1, kind).short(2, stated).short(3, size(&packed));
    let inner = Fields::default().short(1, values).short(2, encoding);
    let head = if kind == 2 { head.inner(7, inner) } else { head.inner(5, inner.short(3, 3).short(4, 3)) };
    [head.end(), packed.to_vec()].concat()
}

/// A text as it stands in a page.
fn plain(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn leaf(name: &str) -> Vec<u8> {
    Fields::default().short(1, 6).short(3, 0).text(4, name).end()
}

fn schema() -> Vec<Vec<u8>> {
    let root = Fields::default().text(4, "schema").short(5, 7).end();
    std::iter::once(root).chain(COLUMNS.iter().map(|name| leaf(name))).collect()
}

/// What is odd in a file.
struct Odd {
    schema: Vec<Vec<u8>>,
    rows: i64,
    /// Of the column `harness`: its codec, its pages, where they begin as stated.
    codec: i64,
    pages: Vec<u8>,
    start: Option<i64>,
}

impl Default for Odd {
    fn default() -> Self {
        Self { schema: schema(), rows: 1, codec: 0, pages: page(0, 0, 1, 5, &plain("h")), start: None }
    }
}

impl Odd {
    fn pages(codec: i64, pages: Vec<u8>) -> Self {
        Self { codec, pages, ..Self::default() }
    }

    fn file(self) -> Vec<u8> {
        let mut out = b"PAR1".to_vec();
        let mut chunks = Vec::new();
        for (name, value) in COLUMNS.into_iter().zip(VALUES) {
            let start = size(&out);
            let is_odd = name == "harness";
            let stated = 4 + size(&value);
            out.extend(if is_odd { self.pages.clone() } else { page(0, 0, 1, stated, &plain(value)) });
            let length = size(&out) - start;
            let mut encoding = Vec::new();
            zigzag(0, &mut encoding);
            let path = [vec![name.len() as u8], name.as_bytes().to_vec()].concat();
            let column = Fields::default()
                .short(1, 6)
                .list(2, 5, &[encoding])
                .list(3, 8, &[path])
                .short(4, if is_odd { self.codec } else { 0 })
                .long(5, self.rows)
                .long(6, length)
                .long(7, length)
                .long(9, self.start.filter(|_| is_odd).unwrap_or(start));
            chunks.push(Fields::default().long(2, start).inner(3, column).end());
        }
        let group = Fields::default().list(1, 12, &chunks).long(2, 100).long(3, self.rows).end();
        let footer = Fields::default().short(1, 1).list(2, 12, &self.schema).long(3, self.rows);
        let footer = footer.list(4, 12, &[group]).end();
        out.extend(&footer);
        out.extend((footer.len() as u32).to_le_bytes());
        out.extend(b"PAR1");
        out
    }
}

/// Gigabytes of zeros in a gzip of a megabyte each.
fn zeros_in_gzip(mib: usize) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0; 1 << 20];
    for _ in 0..mib {
        gzip.write_all(&zeros).unwrap();
    }
    gzip.finish().unwrap()
}

/// Zeros in a frame of zstd: blocks of 128 KiB that are one byte, repeated.
fn zeros_in_zstd(blocks: u32) -> Vec<u8> {
    let mut frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &(blocks << 17).to_le_bytes()].concat();
    for number in 1..=blocks {
        let head = u32::from(number == blocks) | 1 << 1 | 1 << 17 << 3;
        frame.extend(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// What is wrong with a file, and whether its first row is read all the same.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let nested = (0..100_000).map(|_| Fields::default().short(3, 0).text(4, "").short(5, 1).end());
    let root = Fields::default().text(4, "schema").short(5, 1).end();
    let deep = std::iter::once(root).chain(nested).chain([leaf("run")]).collect();
    let huge_schema = vec![Fields::default().text(4, "schema").short(5, i64::from(i32::MAX)).end()];
    let delta = |counts: u64| {
        let mut bytes = Vec::new();
        // Values a block, blocks in it, values in all, the first of them.
        for number in [128, 4, counts, 0] {
            varint(number, &mut bytes);
        }
        bytes.extend([0; 64]);
        bytes
    };
    let lengths = delta(1 << 30);
    let zstd = zeros_in_zstd(1 << 13);
    vec![
        (
            "a gzip that unpacks to far more than it states",
            Odd::pages(2, page(0, 0, 1, 5, &zeros_in_gzip(700))).file(),
        ),
        ("a page of zstd that unpacks to a gigabyte", Odd::pages(6, page(0, 0, 1, 1 << 30, &zstd)).file()),
        (
            "a page of few bytes that states two gigabytes",
            Odd::pages(1, page(0, 0, 1, 2_000_000_000, b"\0")).file(),
        ),
        ("a schema of a hundred thousand levels", Odd { schema: deep, ..Odd::default() }.file()),
        ("a schema of two billion children", Odd { schema: huge_schema, ..Odd::default() }.file()),
        ("more rows than there are atoms", Odd { rows: 1 << 60, ..Odd::default() }.file()),
        ("a column before the file", Odd { start: Some(-5), ..Odd::default() }.file()),
        ("a column behind the file", Odd { start: Some(1 << 40), ..Odd::default() }.file()),
        ("texts whose number no size states", Odd::pages(0, page(0, 6, 1, size(&lengths), &lengths)).file()),
        (
            "a dictionary of a billion values",
            Odd::pages(0, [page(2, 0, 1 << 30, 5, &plain("h")), page(0, 8, 1, 1, b"\0")].concat()).file(),
        ),
        (
            "an index that its dictionary does not have",
            Odd::pages(0, [page(2, 0, 1, 5, &plain("h")), page(0, 8, 1, 3, &[8, 2, 200])].concat()).file(),
        ),
        ("a text that ends behind its page", Odd::pages(0, page(0, 0, 1, 4, &[0xff; 4])).file()),
        ("a page that ends behind its column", {
            let mut cut = page(0, 0, 1, 5, &plain("h"));
            cut.truncate(cut.len() - 3);
            Odd::pages(0, cut).file()
        }),
    ]
}

/// Runs of a folder of tables, and its warnings: code, path and text.
fn read(folder: &std::path::Path) -> (Vec<String>, Vec<(String, String, String)>) {
    let tree = Tree::open(folder).unwrap();
    let found = discover(&tree).unwrap();
    assert_eq!(found.by_format().iter().map(|format| format.id).collect::<Vec<_>>(), ["table"]);
    let mut report = Report::default();
    let survey = TidyTable.survey(&tree, "", &mut report);
    let mut runs = Vec::new();
    let reader = TidyTable.reader(&tree, "");
    for part in &survey.parts {
        runs.extend(reader.read(&tree, part, &mut report).into_iter().map(|reading| reading.run));
    }
    (runs, report.warnings.into_iter().map(|warning| (warning.code, warning.path, warning.message)).collect())
}

#[test]
// docs/security.md: An opened folder or zip
fn a_hostile_parquet_costs_itself_and_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.csv"), format!("{}\nb,h,m,s,1,1,1\n", COLUMNS.join(","))).unwrap();
    let path = folder.path().join("t.parquet");
    fs::write(&path, Odd::default().file()).unwrap();
    assert_eq!(read(folder.path()), (vec!["b".to_owned(), "a".to_owned()], vec![]), "as it should be");
    for (label, file) in hostile() {
        fs::write(&path, file).unwrap();
        let peak_before = peak();
        let (runs, warnings) = read(folder.path());
        assert_eq!(runs, ["b"], "{label}: {warnings:?}");
        let [(code, warned_path, _)] = &warnings[..] else { panic!("{label}: {warnings:?}") };
        assert_eq!(
            (code.as_str(), warned_path.as_str()),
            ("table.parquet", "t.parquet"),
            "{label}: {warnings:?}"
        );
        assert!(peak() < peak_before + 64, "{label} took {} MiB", peak() - peak_before);
    }
}

#[test]
// docs/security.md: An opened folder or zip
fn texts_that_a_dictionary_repeats_are_kept_up_to_a_bound() {
    // 60,000 rows of one text of 8 KB: some kilobytes of a file, half a gigabyte of requests.
    let rows = 60_000;
    let mut columns = COLUMNS.map(str::to_owned).to_vec();
    columns.push("said".to_owned());
    let root = Fields::default().text(4, "schema").short(5, 8).end();
    let schema: Vec<Vec<u8>> = std::iter::once(root).chain(columns.iter().map(|name| leaf(name))).collect();
    let mut out = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    let number: Vec<u8> = (1..=rows).flat_map(|n: i64| plain(&format!("{}", n % 10_000 + 1))).collect();
    let turn: Vec<u8> = (1..=rows).flat_map(|n: i64| plain(&format!("{}", n / 10_000 + 1))).collect();
    for name in &columns {
        let start = size(&out);
        let repeated = |text: &str| {
            // One run of the index 0, which takes no bits.
            let mut run = vec![0];
            varint((rows as u64) << 1, &mut run);
            let entry = plain(text);
            [page(2, 0, 1, size(&entry), &entry), page(0, 8, rows, size(&run), &run)].concat()
        };
        let bytes = match name.as_str() {
            "turn" => page(0, 0, rows, size(&turn), &turn),
            "attempt" => page(0, 0, rows, size(&number), &number),
            "said" => repeated(&"x".repeat(8_000)),
            _ => repeated("a"),
        };
        out.extend(bytes);
        let length = size(&out) - start;
        let path = [vec![name.len() as u8], name.as_bytes().to_vec()].concat();
        let column =
            Fields::default().short(1, 6).list(2, 5, &[vec![0], vec![16]]).list(3, 8, &[path]).short(4, 0);
        let column = column.long(5, rows).long(6, length).long(7, length).long(9, start);
        chunks.push(Fields::default().long(2, start).inner(3, column).end());
    }
    let group = Fields::default().list(1, 12, &chunks).long(2, 100).long(3, rows).end();
    let footer = Fields::default().short(1, 1).list(2, 12, &schema).long(3, rows).list(4, 12, &[group]).end();
    out.extend(&footer);
    out.extend((footer.len() as u32).to_le_bytes());
    out.extend(b"PAR1");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.parquet"), out).unwrap();
    let peak_before = peak();
    let (runs, warnings) = read(folder.path());
    assert_eq!(runs, ["a"]);
    let is_reported = warnings.iter().any(|(code, ..)| code == "table.too_many_attempts");
    assert!(is_reported, "{:?}", warnings.first());
    assert!(peak() < peak_before + 300, "it took {} MiB", peak() - peak_before);
}

#[test]
// docs/security.md: An opened folder or zip
fn names_of_columns_that_each_row_repeats_count_among_what_a_part_holds() {
    const ROWS: usize = 20_000;
    const OTHERS: usize = 60;
    let names: Vec<String> = (0..OTHERS).map(|number| format!(",{number}{}", "n".repeat(900))).collect();
    let names = names.concat();
    let mut csv = format!("run,harness,model,scenario,turn,attempt,passed{names}\n");
    for row in 0..ROWS {
        csv.push_str(&format!("a,h,m,s{row},1,1,1{}\n", ",x".repeat(OTHERS)));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), csv).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let parts = TidyTable.survey(&tree, "", &mut Report::default()).parts;
    let reader = TidyTable.reader(&tree, "");
    let peak_before = peak();
    let read: Vec<usize> =
        parts.iter().map(|part| reader.read(&tree, part, &mut Report::default()).len()).collect();
    assert_eq!(read.iter().sum::<usize>(), ROWS);
    assert!(read.iter().all(|episodes| *episodes < 1_000), "{read:?}");
    assert!(peak() < peak_before + 150, "it took {} MiB", peak() - peak_before);
}
