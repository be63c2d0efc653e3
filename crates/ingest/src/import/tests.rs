//! Imports with a toy format, so that what is tested is the import: a place is a folder with `toy.txt`, which lists
//! runs; every `<run>.<name>.ep` beside it is a part with one episode. Its content `panic` makes the reader fail; after `#` it is
//! the identity of the episode.

mod failed_survey;
mod one_place;
mod stopped_copies;

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use model::{Artifact, Attempt, Benchmark, Run, Transcript, Turn, Verdict};

use super::*;
use crate::discover::{Extent, discover_among, search};
use crate::format_trait::{Reading, Sniff};
use files::{Entry, ReadError, join};

#[derive(Debug, Default)]
struct Toy {
    read: Arc<Mutex<Vec<String>>>,
    /// How often what parts share was read.
    opened: AtomicUsize,
    /// How many folders it was asked about.
    sniff_count: AtomicUsize,
}

struct ToyReader {
    folder: String,
    read: Arc<Mutex<Vec<String>>>,
}

impl Toy {
    fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// The parts read since the last call, by name.
    fn taken(&self) -> Vec<String> {
        let mut read = std::mem::take(&mut *self.read.lock().unwrap());
        read.sort();
        read
    }
}

fn is_episode(entry: &Entry) -> bool {
    Path::new(&entry.name).extension().is_some_and(|ext| ext == "ep")
}

impl Format for Toy {
    fn id(&self) -> &'static str {
        "toy"
    }
    fn name(&self) -> &'static str {
        "Toy"
    }
    fn looked_for(&self) -> &'static str {
        "toy.txt"
    }
    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        self.sniff_count.fetch_add(1, Ordering::Relaxed);
        if tree.entry(&join(folder, "toy.txt")).is_some() {
            return Sniff::Recognized;
        }
        match tree.list(folder).into_iter().filter(is_episode).count() {
            0 => Sniff::Not { found: "none".to_owned(), closeness: 0 },
            n => Sniff::Not { found: format!("{n} .ep but no toy.txt"), closeness: 50 },
        }
    }
    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey {
        let (list, _) = tree.read_text(&join(folder, "toy.txt"), 1000).unwrap();
        assert!(!list.contains("panic"), "told to");
        report.files_read += 1;
        let benchmark = Benchmark { key: "toy".to_owned(), name: "Toy".to_owned() };
        let runs = list.lines().map(|line| Run::unknown(line, benchmark.clone())).collect();
        let parts = tree.list(folder).into_iter().filter(is_episode);
        Survey { runs, parts: parts.map(|e| Part { key: e.name, stamp: e.stamp }).collect() }
    }
    fn reader(&self, _: &Tree, folder: &str) -> Box<dyn PartReader> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Box::new(ToyReader { folder: folder.to_owned(), read: Arc::clone(&self.read) })
    }
    fn transcript(&self, _: &Tree, _: &Artifact) -> Result<Transcript, ReadError> {
        Err(ReadError::Missing)
    }
}

impl PartReader for ToyReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        self.read.lock().unwrap().push(part.key.clone());
        let path = join(&self.folder, &part.key);
        let text = match tree.read_text(&path, 100) {
            Ok((text, _)) => text,
            Err(error) => {
                report.unreadable(&path, &error, "The episode is left out.");
                return Vec::new();
            }
        };
        assert_ne!(text, "panic", "told to");
        report.files_read += 1;
        if let Some(count) = text.strip_prefix('!') {
            for number in 0..count.parse::<u32>().unwrap() {
                report.warn(Warning::skipped(format!("{path}/{number}"), "json.truncated", "It ends."));
            }
        }
        if text == "added" {
            return (0..3).map(|number| Self::with_added_tokens(&part.key, number, report)).collect();
        }
        let (run, name) = part.key.trim_end_matches(".ep").split_once('.').unwrap();
        let mut episode = Episode::new(name, name);
        episode.identity = text.strip_prefix('#').map(|id| format!("id-of-{id}"));
        for number in 1..=u32::try_from(text.len()).unwrap() {
            let mut turn = Turn::new(number);
            turn.attempts.push(Attempt::new(1, Verdict::Passed));
            episode.turns.push(turn);
        }
        vec![Reading { run: run.to_owned(), episode }]
    }
}

impl ToyReader {
    /// One of several episodes of a part whose cached tokens were added to the input. Their reader has reported very much before.
    fn with_added_tokens(part: &str, number: u32, report: &mut Report) -> Reading {
        if number == 0 {
            for place in 0..5_000 {
                report.warn(Warning::skipped(format!("{part}/{place}"), "json.truncated", "It ends."));
            }
        }
        let mut episode = Episode::new(format!("e{number}"), "task");
        episode.identity = Some(format!("id-of-{number}"));
        let mut turn = Turn::new(1);
        let mut attempt = Attempt::new(1, Verdict::Passed);
        attempt.tokens = Tokens { input: Some(30), cached: Some(20), output: Some(1) };
        attempt.cached_input = CachedInput::Added;
        turn.attempts.push(attempt);
        episode.turns.push(turn);
        Reading { run: "run".to_owned(), episode }
    }
}

struct Bench {
    temp: tempfile::TempDir,
    store: Store,
    source: SourceId,
    toy: &'static Toy,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::in_memory().unwrap();
        let source = store.put_source(temp.path().to_str().unwrap(), "toys", false).unwrap();
        Self { temp, store, source, toy: Toy::new() }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        let path = self.temp.path().join(path);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }

    fn import(&self) -> ImportResult {
        let stop = AtomicBool::new(false);
        let tree = Tree::open(self.temp.path()).unwrap();
        import_among(&tree, &self.store, self.source, &[self.toy], &|_, _| {}, &stop).unwrap()
    }

    fn warnings(&self) -> Vec<(String, String)> {
        let page = self.store.warnings(self.source, &store::WarningFilter::default(), 0, 100).unwrap();
        page.warnings.into_iter().map(|w| (w.path, w.code)).collect()
    }
}

#[test]
fn added_cached_tokens_are_reported_once_however_much_else_is_reported_of_a_part() {
    let bench = Bench::new();
    bench.write("toy.txt", "run\n");
    bench.write("run.first.ep", "added");
    assert_eq!(bench.import().counts.episodes, 3);
    let counts = bench.store.source(bench.source).unwrap().unwrap().severities;
    assert_eq!((counts.warnings, counts.repairs), (5_001, 0), "not once for each episode");
}

#[test]
fn a_tree_whose_places_are_known_is_not_searched_again() {
    let bench = Bench::new();
    for folder in ["a", "b", "c"] {
        bench.write(&format!("{folder}/toy.txt"), "run\n");
        bench.write(&format!("{folder}/run.first.ep"), "1");
    }
    let tree = Tree::open(bench.temp.path()).unwrap();
    let sniff_count = || bench.toy.sniff_count.load(Ordering::Relaxed);
    assert_eq!(search(&tree, &[bench.toy], Extent::FirstPlace).unwrap().places.len(), 1);
    assert_eq!(sniff_count(), 2, "whether there is anything is known after the first place");
    bench.toy.sniff_count.store(0, Ordering::Relaxed);
    let found = discover_among(&tree, &[bench.toy]).unwrap();
    assert_eq!((found.places.len(), sniff_count()), (3, 4), "the root and three folders, once each");
    let stop = AtomicBool::new(false);
    let imported = import_found(&tree, &bench.store, bench.source, found, &|_, _| {}, &stop).unwrap();
    assert_eq!((imported.counts.episodes, sniff_count()), (3, 4));
    assert_eq!(bench.import().counts, imported.counts);
    assert_eq!(sniff_count(), 8, "without them it is");
}

#[test]
fn what_parts_share_is_read_once_for_a_place_and_the_sums_of_a_large_run_are_right() {
    let bench = Bench::new();
    bench.write("toy.txt", "a");
    for number in 0..300 {
        bench.write(&format!("a.{number}.ep"), "x");
    }
    bench.import();
    assert_eq!((bench.toy.taken().len(), bench.toy.opened.load(Ordering::Relaxed)), (300, 1));
    let episodes = || bench.store.list_runs(&store::RunFilter::default()).unwrap().rows[0].1.totals.episodes;
    assert_eq!(episodes(), 300);
    bench.remove("a.7.ep");
    bench.import();
    assert_eq!(episodes(), 299);
}

#[test]
fn only_what_changed_is_read_and_what_is_gone_is_dropped() {
    let bench = Bench::new();
    bench.write("x/toy.txt", "r1\nr2");
    bench.write("x/r1.a.ep", "12");
    bench.write("x/r1.b.ep", "123");
    bench.write("x/r2.a.ep", "1");
    bench.write("y/deep/toy.txt", "r1");
    bench.write("y/deep/r1.a.ep", "1");
    let first = bench.import();
    assert_eq!((first.parts_read, first.parts_unchanged), (4, 0));
    assert_eq!((first.counts.runs, first.counts.episodes, first.counts.turns), (3, 4, 7));
    assert_eq!((first.formats.as_slice(), first.format_names.as_str()), (["toy"].as_slice(), "Toy"));
    bench.toy.taken();

    let again = bench.import();
    assert_eq!((again.parts_read, again.parts_unchanged), (0, 4));
    assert_eq!(again.counts, first.counts);
    assert!(bench.toy.taken().is_empty());

    bench.write("x/r1.b.ep", "1234");
    bench.write("x/r2.new.ep", "1");
    bench.remove("x/r1.a.ep");
    bench.remove("y");
    let changed = bench.import();
    assert_eq!(bench.toy.taken(), ["r1.b.ep", "r2.new.ep"]);
    assert_eq!(changed.parts_unchanged, 1);
    assert_eq!((changed.counts.runs, changed.counts.episodes, changed.counts.turns), (2, 3, 6));
}

#[test]
fn what_is_left_out_as_a_copy_is_not_read_again_and_changes_nothing() {
    let bench = Bench::new();
    for place in ["job", "job copy"] {
        bench.write(&format!("{place}/toy.txt"), "r");
        for episode in ["a", "b"] {
            bench.write(&format!("{place}/r.{episode}.ep"), &format!("#{episode}"));
        }
    }
    // A copy inside one run.
    bench.write("job/r.twice.ep", "#a");
    let runs = || {
        let rows = bench.store.list_runs(&store::RunFilter::default()).unwrap().rows;
        let mut places: Vec<_> = rows.into_iter().map(|(_, run)| (run.place, run.totals.episodes)).collect();
        places.sort();
        places
    };
    let job = || ("job".to_owned(), 2);
    bench.import();
    assert_eq!((runs(), bench.toy.taken().len()), (vec![job()], 5));
    let (warnings, change) = (bench.warnings(), bench.store.last_change().unwrap());
    assert_eq!(warnings.iter().filter(|(_, code)| code == "part.duplicate").count(), 2, "{warnings:?}");
    for _ in 0..3 {
        let again = bench.import();
        assert_eq!((again.parts_read, again.parts_unchanged), (0, 5));
        assert_eq!((runs(), bench.warnings()), (vec![job()], warnings.clone()));
        assert_eq!(bench.store.last_change().unwrap(), change);
    }
    assert_eq!(bench.toy.taken(), [""; 0]);

    // Another run beside them says nothing of them.
    bench.write("other/toy.txt", "r");
    bench.write("other/r.c.ep", "#c");
    bench.import();
    assert_eq!(
        (runs(), bench.toy.taken()),
        (vec![job(), ("other".to_owned(), 1)], vec!["r.c.ep".to_owned()])
    );
    // A trial of its own makes the copy a run.
    bench.write("job copy/r.new.ep", "#new");
    bench.import();
    assert!(runs().contains(&("job copy".to_owned(), 3)), "{:?}", runs());
    bench.remove("job copy/r.new.ep");
    bench.import();
    assert_eq!(runs(), [job(), ("other".to_owned(), 1)]);
    // The copy counts when the original goes.
    bench.remove("job");
    bench.import();
    assert_eq!(runs(), [("job copy".to_owned(), 2), ("other".to_owned(), 1)]);
}

#[test]
fn a_reader_that_fails_costs_its_part_and_nothing_else() {
    let bench = Bench::new();
    bench.write("x/toy.txt", "r");
    bench.write("x/r.bad.ep", "panic");
    bench.write("x/r.good.ep", "1");
    bench.write("x/r.large.ep", &"1".repeat(101));
    bench.write("y/toy.txt", "r");
    bench.write("y/r.a.ep", "1");
    let imported = bench.import();
    assert_eq!((imported.counts.runs, imported.counts.episodes), (2, 2));
    assert_eq!(
        bench.warnings(),
        [("x/r.large.ep", "file.too_large"), ("x", "reader.failed")]
            .map(|(p, c)| (p.to_owned(), c.to_owned()))
    );
    // A survey that fails loses nothing of what was read before.
    bench.write("y/toy.txt", "panic");
    let imported = bench.import();
    assert_eq!((imported.counts.runs, imported.counts.episodes), (2, 2));
    assert!(bench.warnings().contains(&("y".to_owned(), "reader.failed".to_owned())));
    // And when the cause is gone, so is the warning.
    bench.write("y/toy.txt", "r");
    bench.write("x/r.bad.ep", "1");
    assert_eq!(bench.import().counts.episodes, 3);
    assert_eq!(bench.warnings().len(), 1);
}

#[test]
fn what_a_part_meets_is_kept_with_the_part() {
    let bench = Bench::new();
    bench.write("toy.txt", "r");
    bench.write("r.a.ep", "1");
    std::os::unix::fs::symlink("/etc", bench.temp.path().join("out")).unwrap();
    bench.import();
    let before = bench.warnings();
    assert_eq!(before, [("out".to_owned(), "link.skipped".to_owned())]);
    bench.import();
    assert_eq!(bench.warnings(), before);
}

#[test]
fn keys_that_repeat_are_reported_and_the_first_stays() {
    let bench = Bench::new();
    bench.write("toy.txt", "r\nr");
    bench.write("r.a.ep", "1");
    assert_eq!(bench.import().counts.runs, 1);
    assert_eq!(bench.warnings(), [(String::new(), "run.duplicate".to_owned())]);
}

#[test]
fn stopping_keeps_what_was_read_and_the_next_import_goes_on() {
    let bench = Bench::new();
    bench.write("toy.txt", "r");
    for n in 0..40 {
        bench.write(&format!("r.e{n}.ep"), "1");
    }
    let tree = Tree::open(bench.temp.path()).unwrap();
    let stop = AtomicBool::new(false);
    let reports = Mutex::new(Vec::new());
    let progress = |done: u32, total: u32| {
        reports.lock().unwrap().push((done, total));
        stop.fetch_or(done == 3, Ordering::Relaxed);
    };
    let imported = import_among(&tree, &bench.store, bench.source, &[bench.toy], &progress, &stop).unwrap();
    assert!(imported.stopped && imported.parts_read >= 3 && imported.parts_read < 40, "{imported:?}");
    let reports = reports.into_inner().unwrap();
    assert_eq!(reports[0], (0, 40));
    assert!(reports.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1));
    assert!(bench.store.source(bench.source).unwrap().unwrap().message.is_some());

    let rest = bench.import();
    assert!(!rest.stopped);
    assert_eq!(rest.parts_unchanged, imported.parts_read);
    assert_eq!(rest.counts.episodes, 40);
    assert_eq!(bench.store.source(bench.source).unwrap().unwrap().message, None);
}

#[test]
fn a_folder_of_no_format_says_what_was_looked_for_and_leaves_the_store_alone() {
    let bench = Bench::new();
    bench.write("toy.txt", "r");
    bench.write("r.a.ep", "1");
    let before = bench.import().counts;
    bench.remove("toy.txt");
    bench.remove("r.a.ep");
    bench.write("batch_1/notes.md", "n");
    bench.write("batch_2/r.a.ep", "1");
    bench.write("batch_2/deep/x/y", "1");
    let tree = Tree::open(bench.temp.path()).unwrap();
    let stop = AtomicBool::new(false);
    let error = import_among(&tree, &bench.store, bench.source, &[bench.toy], &|_, _| {}, &stop).unwrap_err();
    let ImportError::NotRecognized(listed) = error else { panic!("{error:?}") };
    assert_eq!((listed.files, listed.folders, listed.depth, listed.cut_short), (3, 5, 4, false));
    assert_eq!(listed.formats.len(), 1);
    assert_eq!(listed.formats[0].found, "1 .ep but no toy.txt, in batch_2/");
    let closest = listed.closest.unwrap();
    assert_eq!(closest.folder, "batch_2");
    assert!(closest.sentence.contains("“Toy”"), "{}", closest.sentence);
    assert_eq!(bench.store.source_counts(bench.source).unwrap(), before);
}

#[test]
fn single_folders_on_the_way_do_not_count_as_levels() {
    let find = |path: &str, beside: Option<&str>| {
        let temp = tempfile::tempdir().unwrap();
        for path in [Some(path), beside].into_iter().flatten() {
            let path = temp.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "r").unwrap();
        }
        let tree = Tree::open(temp.path()).unwrap();
        discover_among(&tree, &[Toy::new()])
            .map(|d| d.places.into_iter().map(|p| p.folder).collect::<Vec<_>>())
    };
    assert_eq!(find("a/b/c/d/toy.txt", Some("a2/b/c/d/x")).unwrap(), ["a/b/c/d"]);
    assert_eq!(find("w1/w2/a/b/c/d/toy.txt", Some("w1/w2/x")).unwrap(), ["w1/w2/a/b/c/d"]);
    assert!(find("a/b/c/d/e/toy.txt", Some("a2/b/c/d/e/x")).unwrap_err().cut_short);
    assert_eq!(find("a/toy.txt", Some("a/b/toy.txt")).unwrap(), ["a"]);
    assert!(find("node_modules/toy.txt", None).is_err());
    let nothing = discover_among(&Tree::open(Path::new("/proc/self/fdinfo")).unwrap(), &[]);
    assert!(nothing.unwrap_err().formats.is_empty());
}

#[test]
fn readers_hash_with_the_key_of_the_library() {
    let bench = Bench::new();
    bench.write("toy.txt", "r");
    bench.write("r.a.ep", "1");
    let tree = Tree::open(bench.temp.path()).unwrap();
    assert_eq!(tree.hash_key(), [0; 16]);
    let stop = AtomicBool::new(false);
    import_among(&tree, &bench.store, bench.source, &[bench.toy], &|_, _| {}, &stop).unwrap();
    let key = bench.store.hash_key().unwrap();
    assert_ne!(key, [0; 16]);
    assert_eq!((tree.hash_key(), tree.fork().hash_key()), (key, key));
}

#[test]
// docs/security.md: An opened folder or zip
fn an_import_writes_a_bounded_number_of_warnings() {
    let mut report = Report::default();
    for number in 0..5_003 {
        report.warn(Warning::skipped(format!("f{number}"), "json.truncated", "It ends."));
    }
    report.warn(Warning::skipped("link", "link.skipped", "A link.").with_run("r"));
    assert_eq!(report.warnings.len(), 5_000);
    let [none, run_warnings] = [None, Some("r".to_owned())].map(|run| report.not_kept.warnings[&run]);
    assert_eq!((none.warnings, none.notes), (3, 0), "what is not listed keeps its severity");
    assert_eq!((run_warnings.warnings, run_warnings.notes), (0, 1));
    // Of a survey, it counts with the place.
    let mut all = Report::default();
    all.add_survey(report, "x");
    assert_eq!(all.warnings.len(), 5_000);
    assert_eq!(all.not_kept.warnings[&Some("x".to_owned())].to_string(), "3 warnings, 1 note");
}

#[test]
fn a_reader_that_says_too_much_has_the_rest_counted_with_its_run() {
    let bench = Bench::new();
    bench.write("toy.txt", "r\nquiet");
    bench.write("r.loud.ep", "!5007");
    bench.write("quiet.a.ep", "1");
    for _ in 0..2 {
        bench.import();
        let rows = bench.store.list_runs(&store::RunFilter::default()).unwrap().rows;
        let severities = |key: &str| {
            rows.iter().find(|(_, run)| run.key == key).map(|(_, run)| run.severities.to_string())
        };
        assert_eq!(severities("r").as_deref(), Some("5007 warnings"));
        assert_eq!(severities("quiet").as_deref(), Some("no warnings"));
        let page = bench.store.warnings(bench.source, &store::WarningFilter::default(), 4_990, 100).unwrap();
        assert_eq!((page.matching, page.warnings.len()), (5_001, 11));
        let last = page.warnings.last().unwrap();
        assert_eq!(last.code, "warnings.too_many");
        assert!(last.message.contains("7 warnings"), "{}", last.message);
    }
}
