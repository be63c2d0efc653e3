use model::{Benchmark, Episode, Run};
use store::{OmittedCounts, ParsedPart, RunFilter, Store};

use super::*;

/// A library with a run of these scenarios, of which so many were planned.
fn library(planned: Option<u32>, scenarios: &[&str], left_out: u32) -> (Store, RunEntry) {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/data/a", "a", false).unwrap();
    let run = Run { planned_episodes: planned, ..Run::unknown("a", Benchmark::locobench_agent()) };
    store.put_runs(source, "", "locobench", &[run]).unwrap();
    let episode = |(index, name): (usize, &&str)| {
        let mut episode = Episode::new(index.to_string(), *name);
        episode.session = Some(SessionFigures::default());
        ("a".to_owned(), episode)
    };
    let episodes: Vec<(String, Episode)> = scenarios.iter().enumerate().map(episode).collect();
    let part =
        ParsedPart { place: "", key: "a", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
    let mut not_kept = OmittedCounts::default();
    if left_out > 0 {
        not_kept.episodes.insert("a".to_owned(), left_out);
    }
    store.put_part_with(source, &part, &not_kept).unwrap();
    let entry = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    (store, entry)
}

fn missing_line(planned: Option<u32>, scenarios: &[&str], left_out: u32) -> Option<String> {
    let (store, entry) = library(planned, scenarios, left_out);
    let rows = rows(store.sessions(entry.id).unwrap());
    let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
    missing(&entry, &all, &rows)
}

#[test]
fn means_over_a_part_of_the_sessions_say_so() {
    let three = ["s1", "s2", "s3"];
    assert_eq!(missing_line(None, &three, 0), None);
    let begin = "The means are over the scenarios of 3 of";
    let line = format!("{begin} 4 sessions; 1 is left out");
    assert!(missing_line(None, &three, 1).unwrap().starts_with(&line));
    let five = format!("{begin} 8 sessions; 5 are left out");
    assert!(missing_line(None, &three, 5).unwrap().starts_with(&five));
}

#[test]
fn a_session_that_repeats_a_scenario_is_none_of_one_that_is_missing() {
    let twice = ["s1", "s1", "s2"];
    let line = "The means are over 2 of 3 scenarios; the others are not there.";
    assert_eq!(missing_line(Some(3), &twice, 0).as_deref(), Some(line));
    assert_eq!(missing_line(Some(2), &twice, 0), None);
    let (_, entry) = library(Some(3), &twice, 0);
    assert_eq!((entry.totals.episodes, entry.planned_episodes), (3, Some(4)), "one session is missing");
    let (store, entry) = library(Some(3), &["s1", "s2", "s3"], 0);
    assert_eq!((entry.totals.episodes, entry.planned_episodes), (3, Some(3)));
    let slug = store.episodes(entry.id).unwrap()[0].slug.clone();
    store.withdraw_episodes(&entry.slug, &[slug], Some("wrong image")).unwrap();
    let entry = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
    let rows = rows(store.sessions(entry.id).unwrap());
    let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
    assert_eq!(missing(&entry, &all, &rows), None, "what is withdrawn is not missing");
}

#[test]
fn the_sentence_of_a_session_that_does_nothing_has_the_figures() {
    assert!(nothing_sentence().starts_with("A session that does nothing scores .780 / .650 "));
}

#[test]
fn the_last_session_of_a_scenario_that_was_played_twice_counts() {
    let entry = |scenario: &str, repeat, comprehension| SessionEntry {
        slug: format!("{scenario}-{repeat}"),
        scenario: scenario.to_owned(),
        repeat,
        invalid: None,
        figures: SessionFigures {
            imported: ImportedFigures {
                comprehension: Some(comprehension),
                efficiency: Some(0.4),
                ..ImportedFigures::default()
            },
            ..SessionFigures::default()
        },
    };
    let rows = rows(vec![entry("b", 1, 0.6), entry("a", 2, 0.8), entry("a", 1, 0.1)]);
    let shown: Vec<(&str, bool)> = rows.iter().map(|row| (row.episode.as_str(), row.counts)).collect();
    assert_eq!(shown, [("a-1", false), ("a-2", true), ("b-1", true)]);
    let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
    let mean_of = |name: &str| all.imported.iter().find(|m| m.name == name).unwrap();
    assert!((mean_of("comprehension").mean.unwrap() - 0.7).abs() < 1e-12 && mean_of("comprehension").n == 2);
    assert!((mean_of("balance").mean.unwrap() - 2.0 * 0.7 * 0.4 / 1.1).abs() < 1e-12);
    assert_eq!((mean_of("execution_success_rate").mean, mean_of("overall").n), (None, 0));
}

#[test]
fn a_withdrawn_session_is_in_no_mean_and_another_of_its_scenario_is() {
    let entry = |repeat: u32, reason: Option<&str>| SessionEntry {
        slug: format!("a-{repeat}"),
        scenario: "a".to_owned(),
        repeat,
        invalid: reason.map(str::to_owned),
        figures: SessionFigures {
            imported: ImportedFigures {
                comprehension: Some(f64::from(repeat) / 10.0),
                ..ImportedFigures::default()
            },
            ..SessionFigures::default()
        },
    };
    let mean_of = |entries: Vec<SessionEntry>| {
        let rows = rows(entries);
        let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
        let mean = all.imported.iter().find(|m| m.name == "comprehension").unwrap().mean;
        (mean, all.sessions, cautions(&all, &rows).into_iter().filter(|c| c.contains("withdrawn")).count())
    };
    assert_eq!(mean_of(vec![entry(1, None), entry(2, Some("wrong image"))]), (Some(0.1), 2, 1));
    assert_eq!(mean_of(vec![entry(1, Some("wrong image"))]), (None, 1, 1));
    assert_eq!(mean_of(vec![entry(1, None), entry(2, None)]), (Some(0.2), 2, 0));
}

#[test]
fn a_figure_that_is_not_the_mean_of_its_own_nine_is_marked() {
    let pair = LcbaPair::from_metrics(&NOTHING);
    let right = ImportedFigures {
        metrics: NOTHING.map(Some),
        comprehension: Some(pair.comprehension),
        efficiency: Some(pair.efficiency),
        overall: Some(pair.overall()),
    };
    let none: Vec<String> = Vec::new();
    let others =
        |imported, compat| differing(&SessionFigures { imported, compat, ..SessionFigures::default() });
    assert_eq!(others(right, Some(NOTHING)), none);
    assert_eq!(others(ImportedFigures::default(), Some(NOTHING)), none, "nothing is imported");
    let better = ImportedFigures { comprehension: Some(0.9), ..right };
    assert_eq!(others(better, Some(NOTHING)), ["comprehension"]);
    assert_eq!(others(better, None), ["comprehension"], "the nine that are imported tell it");
    let all = ImportedFigures { efficiency: Some(0.66), overall: Some(0.73), ..right };
    assert_eq!(others(all, None), ["efficiency", "overall"]);
    // Without all of its own five, the figure computed here tells it.
    let mut metrics = right.metrics;
    metrics[0] = None;
    let cut = ImportedFigures { metrics, ..better };
    assert_eq!(others(cut, None), none);
    assert_eq!(others(cut, Some(NOTHING)), ["comprehension"]);
}

/// The metrics of one session are imported and computed here, of another imported alone, of the third nothing is.
#[test]
fn only_sessions_in_which_a_figure_could_be_compared_are_said_to_have_the_same() {
    let imported = |first: Option<f64>| {
        let mut metrics = NOTHING.map(Some);
        metrics[0] = first;
        ImportedFigures { metrics, ..ImportedFigures::default() }
    };
    let entry = |scenario: &str, imported, compat| SessionEntry {
        slug: scenario.to_owned(),
        scenario: scenario.to_owned(),
        repeat: 1,
        invalid: None,
        figures: SessionFigures { imported, compat, ..SessionFigures::default() },
    };
    let rows = rows(vec![
        entry("a", imported(Some(0.9)), Some(NOTHING)),
        entry("b", imported(None), Some(NOTHING)),
        entry("c", imported(Some(0.5)), None),
        entry("d", ImportedFigures::default(), Some(NOTHING)),
    ]);
    let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
    assert_eq!((all.differ, all.differ_of, all.scenarios), (1, 2, 4));
    let expected = "In 1 of 2 sessions an imported figure is another than the one computed here.";
    assert!(cautions(&all, &rows).iter().any(|caution| caution == expected), "{:?}", cautions(&all, &rows));
    // The figure itself is known in one of the two.
    let marks = marked(&rows.iter().collect::<Vec<_>>());
    assert_eq!(marks, [("execution_success_rate".to_owned(), 1, 1)]);
}

#[test]
fn the_balance_is_of_the_scenarios_of_which_both_means_are_known() {
    let entry = |scenario: &str, comprehension, efficiency| SessionEntry {
        slug: scenario.to_owned(),
        scenario: scenario.to_owned(),
        repeat: 1,
        invalid: None,
        figures: SessionFigures {
            imported: ImportedFigures {
                comprehension: Some(comprehension),
                efficiency,
                ..ImportedFigures::default()
            },
            ..SessionFigures::default()
        },
    };
    let rows = rows(vec![entry("a", 0.6, Some(0.4)), entry("b", 0.8, Some(0.6)), entry("c", 0.1, None)]);
    let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
    let mean_of = |name: &str| all.imported.iter().find(|m| m.name == name).unwrap();
    assert!((mean_of("comprehension").mean.unwrap() - 0.5).abs() < 1e-12);
    let balance = mean_of("balance");
    // Of 0.7 and 0.5; the session whose efficiency is unknown is in neither.
    assert!((balance.mean.unwrap() - 0.7 / 1.2).abs() < 1e-12, "{balance:?}");
    assert_eq!((balance.n, mean_of("comprehension").n), (2, 3));
}

#[test]
fn a_session_that_used_up_its_turns_did_not_end_by_itself() {
    let figures = |difficulty: Option<&str>, turns, status: &str| SessionFigures {
        difficulty: difficulty.map(str::to_owned),
        turns: Some(turns),
        status: Some(status.to_owned()),
        ..SessionFigures::default()
    };
    for (difficulty, turn_limit) in [("easy", 20), ("medium", 30), ("hard", 40), ("expert", 50)] {
        assert!(ended_by_itself(&figures(Some(difficulty), turn_limit - 1, "completed")), "{difficulty}");
        assert!(!ended_by_itself(&figures(Some(difficulty), turn_limit, "completed")), "{difficulty}");
        assert!(ended_by_itself(&figures(Some(difficulty), turn_limit, "failed")), "an error ended it");
    }
    assert!(ended_by_itself(&figures(None, 60, "completed")), "its limit is not known");
    assert!(!ended_by_itself(&figures(Some("easy"), 3, "timeout")));
    // What the scenario allows comes before what is planned for its difficulty.
    let limited = |difficulty: Option<&str>, turns| SessionFigures {
        max_turns: Some(20),
        ..figures(difficulty, turns, "completed")
    };
    assert!(!ended_by_itself(&limited(Some("expert"), 20)));
    assert!(ended_by_itself(&limited(Some("expert"), 19)));
    assert!(!ended_by_itself(&limited(None, 20)));
}

#[test]
fn a_session_of_which_no_end_is_known_did_not_end() {
    let figures = |status: Option<&str>| SessionFigures {
        turns: Some(3),
        max_turns: Some(20),
        status: status.map(str::to_owned),
        ..SessionFigures::default()
    };
    for status in [None, Some("active"), Some("initializing"), Some("paused"), Some("another word")] {
        assert!(!ended_by_itself(&figures(status)), "{status:?}");
    }
    assert!(ended_by_itself(&figures(Some("completed"))) && ended_by_itself(&figures(Some("failed"))));
}

/// A session without a recorded conversation says its turns all the same.
#[test]
fn a_session_whose_turns_are_known_is_in_the_lengths_whether_its_answers_are_or_not() {
    let entry = |name: &str, turns, answered| SessionEntry {
        slug: name.to_owned(),
        scenario: name.to_owned(),
        repeat: 1,
        invalid: None,
        figures: SessionFigures {
            turns,
            answered,
            status: Some("completed".to_owned()),
            ..SessionFigures::default()
        },
    };
    let rows = rows(vec![
        entry("a", Some(14), None),
        entry("b", Some(4), Some(3)),
        entry("c", None, Some(2)),
        entry("d", Some(0), Some(0)),
    ]);
    let started: Vec<Option<bool>> = rows.iter().map(|row| row.never_started).collect();
    assert_eq!(started, [Some(false), Some(false), Some(false), Some(true)]);
    let curve = running(&rows.iter().collect::<Vec<_>>());
    assert_eq!(curve.iter().find(|point| point.step == 1).map(|point| point.at_risk), Some(2));
    assert_eq!(curve.last().map(|point| point.step), Some(14));
    let all = group("all".to_owned(), &rows.iter().collect::<Vec<_>>());
    assert_eq!((all.turns, all.answered, all.never_started), (18, (4, 3), 1));
    let expected = "3 of 4 turns got an answer of the model; the others count as turns. Of 14 turns nothing says it: \
                no conversation is recorded.";
    assert!(cautions(&all, &rows).iter().any(|caution| caution == expected), "{:?}", cautions(&all, &rows));
}

#[test]
fn what_a_limit_of_time_ended_still_ran() {
    let row = |turns, status: &str| SessionRow {
        episode: String::new(),
        scenario: String::new(),
        repeat: 1,
        counts: true,
        invalid: None,
        never_started: Some(false),
        figures: SessionFigures {
            turns: Some(turns),
            status: Some(status.to_owned()),
            ..SessionFigures::default()
        },
        compat: None,
        differs: Vec::new(),
    };
    let rows = [row(2, "completed"), row(2, "timeout"), row(4, "completed")];
    let curve = running(&rows.iter().collect::<Vec<_>>());
    let share = |step: u32| curve.iter().find(|point| point.step == step).map(|point| point.share);
    // One of three ends in step 2, one is seen until then; the last one ends in step 4.
    assert_eq!((share(1), share(4)), (Some(1.0), Some(0.0)));
    assert!((share(2).unwrap() - 2.0 / 3.0).abs() < 1e-12);
    // The longest one was stopped: nobody is seen after its last step.
    let stopped = running(&[&row(2, "completed"), &row(4, "timeout")]);
    let points: Vec<(u32, u32)> = stopped.iter().map(|point| (point.step, point.at_risk)).collect();
    assert_eq!(points, [(1, 2), (2, 2), (3, 1), (4, 1)]);
}

#[test]
fn a_page_has_its_sessions_and_a_figure_is_marked_by_those_that_count() {
    let entry = |scenario: &str, repeat, overall| SessionEntry {
        slug: format!("{scenario}-{repeat}"),
        scenario: scenario.to_owned(),
        repeat,
        invalid: None,
        figures: SessionFigures {
            imported: ImportedFigures {
                metrics: [Some(0.5); 9],
                comprehension: Some(0.5),
                efficiency: Some(0.5),
                overall: Some(overall),
            },
            ..SessionFigures::default()
        },
    };
    let all = || rows(vec![entry("a", 1, 0.9), entry("a", 2, 0.9), entry("b", 1, 0.9), entry("c", 1, 0.5)]);
    let shown = |offset, limit| -> Vec<String> {
        page(all(), offset, limit).into_iter().map(|row| row.episode).collect()
    };
    assert_eq!(shown(0, 0), ["a-1", "a-2", "b-1", "c-1"]);
    assert_eq!(shown(1, 2), ["a-2", "b-1"]);
    assert_eq!((shown(3, 9), shown(4, 9)), (vec!["c-1".to_owned()], vec![]));
    let rows = all();
    let counted: Vec<&SessionRow> = rows.iter().filter(|row| row.counts).collect();
    assert_eq!(marked(&counted), [("overall".to_owned(), 2, 2)], "the first of a does not count");
}

/// "1 of 1 sessions never started" and "0 of 1 turns got an answer" stood there.
#[test]
fn one_session_and_one_turn_are_in_the_singular() {
    let all = SessionGroup {
        scenarios: 1,
        never_started: 1,
        turns: 1,
        answered: (1, 0),
        ..SessionGroup::default()
    };
    let sentences = cautions(&all, &[]);
    let has = |start: &str| sentences.iter().any(|caution| caution.starts_with(start));
    assert!(has("1 of 1 session never started.") && has("0 of 1 turn got an answer"), "{sentences:?}");
}
