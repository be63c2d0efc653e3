//! An import that is stopped before the copies that it reads again are read.

use super::*;

/// The parts of a run that was a copy before counted as read, and the run had no trial for good.
#[test]
fn a_run_that_is_no_copy_any_more_is_read_after_an_import_that_was_stopped() {
    let bench = Bench::new();
    for place in ["job", "job copy"] {
        bench.write(&format!("{place}/toy.txt"), "r");
        for episode in ["a", "b"] {
            bench.write(&format!("{place}/r.{episode}.ep"), &format!("#{episode}"));
        }
    }
    let runs = || {
        let rows = bench.store.list_runs(&store::RunFilter::default()).unwrap().rows;
        let mut places: Vec<_> = rows.into_iter().map(|(_, run)| (run.place, run.totals.episodes)).collect();
        places.sort();
        places
    };
    bench.import();
    assert_eq!(runs(), [("job".to_owned(), 2)]);

    // Now the copy has a trial of its own.
    bench.write("job/r.b.ep", "#other");
    let tree = Tree::open(bench.temp.path()).unwrap();
    let stop = AtomicBool::new(true);
    let stopped = import_among(&tree, &bench.store, bench.source, &[bench.toy], &|_, _| {}, &stop).unwrap();
    assert!(stopped.stopped && stopped.parts_read == 0, "{stopped:?}");
    bench.toy.taken();
    bench.import();
    assert_eq!(bench.toy.taken(), ["r.a.ep", "r.b.ep", "r.b.ep"]);
    assert_eq!(runs(), [("job".to_owned(), 2), ("job copy".to_owned(), 2)]);
    assert_eq!(bench.import().parts_read, 0);
}
