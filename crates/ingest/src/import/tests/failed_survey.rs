//! A place whose survey fails.

use super::*;

/// A part that is to be read again, as all are after an update, was dropped with its episodes.
#[test]
fn a_survey_that_fails_keeps_the_parts_that_are_to_be_read_again() {
    let bench = Bench::new();
    for place in ["x", "y"] {
        bench.write(&format!("{place}/toy.txt"), "r");
        bench.write(&format!("{place}/r.a.ep"), "1");
    }
    assert_eq!(bench.import().counts.episodes, 2);
    // A part with an episode of a run that is not there counts as not read.
    let episodes = ["r", "another"].map(|run| (run.to_owned(), Episode::new("a", "a")));
    let part =
        ParsedPart { place: "x", key: "r.a.ep", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
    bench.store.put_part(bench.source, &part).unwrap();
    let stamps = bench.store.part_stamps(bench.source).unwrap();
    assert!(stamps.keys().all(|(place, _)| place == "y"), "{stamps:?}");
    bench.write("x/toy.txt", "panic");
    let imported = bench.import();
    assert_eq!((imported.counts.runs, imported.counts.episodes), (2, 2), "what was read of it before stays");
    let warnings = bench.warnings();
    for code in ["reader.failed", "episode.run_unknown"] {
        assert!(warnings.contains(&("x".to_owned(), code.to_owned())), "{code}: {warnings:?}");
    }
    bench.write("x/toy.txt", "r");
    bench.toy.taken();
    bench.import();
    assert_eq!(bench.toy.taken(), ["r.a.ep"], "now it is read again");
    assert!(bench.warnings().is_empty());
}
