//! A place that is read alone.

use super::*;
use crate::import::one_place::import_place_among;

impl Bench {
    /// Reads what changed in a place.
    fn import_place(&self, folder: &str) -> PlaceImport {
        let stop = AtomicBool::new(false);
        let tree = Tree::open(self.temp.path()).unwrap();
        import_place_among(&tree, &self.store, self.source, folder, &[self.toy], &stop).unwrap()
    }

    /// Number, place and episodes of each run.
    fn runs(&self) -> Vec<(i64, String, u32)> {
        let rows = self.store.list_runs(&store::RunFilter::default()).unwrap().rows;
        let mut runs: Vec<_> =
            rows.into_iter().map(|(_, run)| (run.id, run.place, run.totals.episodes)).collect();
        runs.sort();
        runs
    }

    /// How many folders were asked for their format since the last call.
    fn folder_count(&self) -> usize {
        self.toy.sniff_count.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn a_place_is_read_alone_and_the_others_stay_as_they_were_read() {
    let bench = Bench::new();
    for folder in ["earlier", "other", "playing"] {
        bench.write(&format!("{folder}/toy.txt"), "r");
        bench.write(&format!("{folder}/r.a.ep"), "1");
    }
    bench.write("playing/r.gone.ep", "12");
    bench.import();
    let (before, _) = (bench.runs(), (bench.toy.taken(), bench.folder_count()));
    bench.write("playing/r.b.ep", "123");
    bench.remove("playing/r.gone.ep");
    // What else changes is left to an import of all.
    bench.write("other/r.c.ep", "1234");
    bench.remove("earlier");
    assert_eq!(bench.import_place("playing"), PlaceImport::Read);
    assert_eq!((bench.toy.taken(), bench.folder_count()), (vec!["r.b.ep".to_owned()], 1));
    assert_eq!(bench.runs(), before, "the same runs, of which one lost an episode and has another");
    let all = bench.import();
    assert_eq!(bench.toy.taken(), ["r.c.ep"], "what was read of the place is known");
    assert_eq!((all.counts.runs, all.counts.episodes), (2, 4));
    let playing_run = |runs: &[(i64, String, u32)]| runs.iter().find(|run| run.1 == "playing").cloned();
    assert_eq!(playing_run(&bench.runs()), playing_run(&before));
}

#[test]
fn a_place_that_may_change_what_is_kept_of_others_is_not_read_alone() {
    let bench = Bench::new();
    bench.write("job/toy.txt", "r");
    bench.write("job/r.a.ep", "#1");
    assert_eq!(bench.import_place("job"), PlaceImport::NeedsSource, "it was not read before");
    bench.write("copy/toy.txt", "r");
    bench.write("copy/r.a.ep", "#1");
    bench.import();
    assert_eq!(bench.runs().len(), 1, "one is left out as a copy");
    for folder in ["job", "copy"] {
        assert_eq!(bench.import_place(folder), PlaceImport::NeedsSource, "{folder}");
    }
    // No format recognizes the folder any more.
    let bench = Bench::new();
    bench.write("x/toy.txt", "r");
    bench.write("x/r.a.ep", "1");
    bench.import();
    bench.remove("x/toy.txt");
    assert_eq!(bench.import_place("x"), PlaceImport::NeedsSource);
    assert_eq!(bench.runs().len(), 1, "an import of all drops it");
}

#[test]
fn a_place_whose_reading_is_stopped_leaves_the_source_unread() {
    let bench = Bench::new();
    bench.write("x/toy.txt", "r");
    bench.write("x/r.a.ep", "1");
    bench.import();
    bench.write("x/r.b.ep", "2");
    let (stop, tree) = (AtomicBool::new(true), Tree::open(bench.temp.path()).unwrap());
    let read = import_place_among(&tree, &bench.store, bench.source, "x", &[bench.toy], &stop).unwrap();
    assert_eq!(read, PlaceImport::Stopped);
    assert!(!bench.store.source(bench.source).unwrap().unwrap().complete);
    bench.import();
    assert!(bench.store.source(bench.source).unwrap().unwrap().complete);
}
