//! Scores that come back from a tidy table.

use workbench::api::TableSubject;

use crate::library::{Library, members};
use crate::scores::{runs, table, write_tasks};

/// The tidy table of all runs of a library, in a library of its own.
fn there_and_back(library: &Library) -> (Library, tempfile::TempDir) {
    let ids: Vec<String> = runs(library).into_iter().map(|run| run.id).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    table(&library.workbench.table(&TableSubject::Tidy { members: members(&ids) }).unwrap().to_csv())
}

/// Scores of rounds of all runs of a library, those of rounds by themselves last.
fn rounds_of(library: &Library) -> Vec<model::RoundScores> {
    let mut all: Vec<model::RoundScores> = runs(library).into_iter().filter_map(|run| run.rounds).collect();
    all.sort_by_key(|rounds| rounds.alone);
    all
}

#[test]
fn scores_of_rounds_come_back_from_a_tidy_table() {
    let room = tempfile::tempdir().unwrap();
    let place = |name: &str| room.path().join(name);
    write_tasks(
        &place("alone"),
        "sr",
        1,
        &[("parser", &["1", "0001", "1"]), ("cache", &["01", "1", "0000"])],
    );
    // No round has four tries of which each might have passed: the limit says how many it might have had.
    write_tasks(
        &place("chains"),
        "mt_at_k",
        2,
        &[("parser", &["1", "001", "1"]), ("cache", &["01", "1", "1"])],
    );
    let library = Library::new(&["alone", "chains"].map(place));
    let before = rounds_of(&library);
    let [chains, alone] = &before[..] else { panic!("{before:?}") };
    assert_eq!(
        (chains.round_by_round, &chains.mt_at_k[..]),
        (true, &[50.0 / 3.0, 200.0 / 3.0, 100.0, 100.0][..])
    );
    assert_eq!((alone.alone, alone.sr_at_k.len(), alone.gap.is_some()), (true, 4, true));
    let (back, _folder) = there_and_back(&library);
    assert_eq!(rounds_of(&back), before);
    let (reimported, _folder) = there_and_back(&back);
    assert_eq!(rounds_of(&reimported), before);
}

#[test]
fn episodes_whose_repeats_are_words_come_back_each_by_itself() {
    let rows = "run,harness,model,scenario,turn,attempt,passed,planned_turns,repeat\n\
                r,h,m,u,1,1,true,2,seed a\nr,h,m,u,2,1,true,2,seed a\n\
                r,h,m,u,1,1,false,2,seed b\nr,h,m,u,1,1,true,2,\nr,h,m,v,1,1,true,2,2\n";
    let (library, _folder) = table(rows);
    let numbers = |library: &Library| {
        let run = runs(library).remove(0);
        (run.episodes, run.dataset_score, run.stamina.mean, run.stamina.events, run.perfect)
    };
    assert_eq!((numbers(&library).0, numbers(&library).4), (4, Some(1)));
    let (back, _folder) = there_and_back(&library);
    assert_eq!(numbers(&back), numbers(&library));
}

#[test]
fn why_scores_of_rounds_are_missing_comes_back_from_a_tidy_table() {
    let head = "run,harness,model,scenario,turn,attempt,passed,planned_turns,benchmark,scoring,planned_tasks,began_from_another\n";
    let rows = "alone,h,m,parser/round-1,1,1,true,1,harbor-sr:x,turns,2,\n\
                forked,h,m,parser,1,1,true,2,harbor:x,turns,,yes\n\
                forked,h,m,parser,2,1,true,2,harbor:x,turns,,yes\n";
    let (library, _folder) = table(&format!("{head}{rows}"));
    let before = rounds_of(&library);
    let [forked, alone] = &before[..] else { panic!("{before:?}") };
    assert!(
        forked.mt_at_k.is_empty()
            && forked.missing[0].contains("1 of 1 episode began from what another trial"),
        "{forked:?}"
    );
    assert_eq!((alone.sr, alone.missing[1].as_str()), (None, "SR is unknown: of 2 tasks 1 is not there."));
    let (back, _folder) = there_and_back(&library);
    assert_eq!(rounds_of(&back), before);
}

/// "The number of rounds is unknown for 2 of 2 episodes" was all that was said, and nobody knew what to do about it.
#[test]
fn a_refusal_names_the_column_that_a_table_lacks() {
    let first_reason = |text: &str| rounds_of(&table(text).0).remove(0).missing.remove(0);
    let head = "run,harness,model,scenario,turn,attempt,passed";
    let undeclared = first_reason(&format!("{head}\nr,h,m,a,1,1,true\nr,h,m,a,2,1,false\n"));
    assert_eq!(
        undeclared,
        "MT@k and Comp are refused: the number of rounds is unknown for 1 of 1 episode; give the column planned_turns."
    );
    let rows = |more: &str| {
        format!("r,h,m,a,1,1,false,2{more}\nr,h,m,a,1,2,true,2{more}\nr,h,m,a,2,1,true,2{more}\n")
    };
    let retried = first_reason(&format!("{head},planned_turns\n{}", rows("")));
    assert!(
        retried.ends_with("; where each try began from one snapshot, give the column restore_before_try."),
        "{retried}"
    );
    // With both columns nothing is refused.
    let restored = first_reason(&format!("{head},planned_turns,restore_before_try\n{}", rows(",yes")));
    assert!(restored.starts_with("SR and Gap are unknown"), "{restored}");
}
