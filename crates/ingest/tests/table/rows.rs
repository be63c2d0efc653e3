//! What rows say of their runs, episodes, turns and attempts.

use std::collections::BTreeMap;
use std::fs;

use files::Tree;
use ingest::format_trait::{Format, Report};
use ingest::formats::table::TidyTable;
use model::Verdict::{Failed, Passed, Unfinished};
use model::{EndReason, Tokens};

use crate::table::{HEADER, Read, folder, read, table};

#[test]
fn a_row_is_an_attempt() {
    let read = table(
        "results.csv",
        "run,harness,model,scenario,turn,attempt,passed,tests_passed,tests_total,end_reason,tokens_in,tokens_cached,\
         tokens_out,cost_usd,seconds,planned_turns,note\n\
         a,codex,gpt,s1,1,1,true,4,4,,100,20,10,0.5,12.5,3,first\n\
         a,codex,gpt,s1,2,1,no,3,4,tests_failed,200,,20,,,3,\n\
         a,codex,gpt,s1,2,2,PASS,4,4,,,,,,,3,\n\
         a,codex,gpt,s1,3,1,0,0,4,Agent timeout,,,,,,3,\n\
         b,,gpt,s1,1,1,,,,budget,,,,,,3,\n",
    );
    assert_eq!(read.warnings(), []);
    assert_eq!(read.runs.len(), 2);
    assert_eq!((read.runs[0].harness.as_deref(), read.runs[1].harness.as_deref()), (Some("codex"), None));
    assert_eq!(read.runs[0].benchmark.key, "table");
    let expected = [(1, 1, Passed), (2, 1, Failed), (2, 2, Passed), (3, 1, Failed)];
    assert_eq!(read.verdicts("a", "s1"), expected);
    let episode = read.episode("a", "s1");
    assert_eq!((episode.stamina(), episode.planned_turns), (2, Some(3)));
    assert_eq!(episode.end(), (Some(3), EndReason::AgentTimeout));
    let first = &episode.turns[0].attempts[0];
    assert_eq!(first.tokens, Tokens { input: Some(100), cached: Some(20), output: Some(10) });
    assert_eq!((first.cost_usd, first.timing.agent_seconds), (Some(0.5), Some(12.5)));
    assert_eq!((first.passed, first.total, first.extra["note"].as_str()), (Some(4), Some(4), Some("first")));
    let second = &episode.turns[1].attempts[0];
    assert_eq!((second.tokens.cached, second.cost_usd, second.extra.len()), (None, None, 0));
    assert_eq!(read.verdicts("b", "s1"), [(1, 1, Unfinished)]);
    assert_eq!(read.episode("b", "s1").end(), (Some(1), EndReason::Budget));
}

/// The number was an extra field, and every test that did not pass counted as failed.
#[test]
fn tests_that_neither_passed_nor_failed_do_not_count_as_failed() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},tests_passed,tests_total,tests_failed\n\
             a,h,m,s1,1,1,false,41,44,2\na,h,m,s1,2,1,false,41,44,3\na,h,m,s1,3,1,false,41,44,9\na,h,m,s1,4,1,false,,,2\n"
        ),
    );
    let failing = |turn: usize| {
        let attempt = &read.episode("a", "s1").turns[turn].attempts[0];
        (attempt.stated_failing(), attempt.counted_failing())
    };
    assert_eq!(
        [0, 1, 2, 3].map(failing),
        [(Some(2), Some(2)), (None, Some(3)), (None, Some(3)), (None, None)]
    );
    let warnings = read.warnings();
    // The turns after a failed one have notes of their own.
    let others: Vec<&str> =
        (warnings.iter().map(|(code, _)| *code)).filter(|code| *code != "table.goes_on").collect();
    assert_eq!(others, ["table.contradiction"]);
}

#[test]
fn no_turns_may_be_planned_and_no_attempts_may_not() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},planned_turns,attempt_limit\na,h,m,s1,,,,0,0\na,h,m,s2,1,1,true,0,0\na,h,m,s3,,,,,0\n"
        ),
    );
    // An episode without planned turns has passed all of them.
    let empty_episode = read.episode("a", "s1");
    assert_eq!((empty_episode.planned_turns, empty_episode.end()), (Some(0), (None, EndReason::PassedAll)));
    let unknown = read.episode("a", "s3");
    assert_eq!((unknown.planned_turns, unknown.end()), (None, (Some(1), EndReason::Unfinished)));
    assert_eq!(read.runs[0].attempt_limit, None);
    let warnings = read.warnings();
    let has_warning = |code: &str, start: &str| {
        warnings.iter().any(|(c, message)| *c == code && message.starts_with(start))
    };
    assert!(
        has_warning("value.not_usable", "Row 2 says attempt_limit “0”, which is no integer from 1."),
        "{warnings:?}"
    );
    assert!(has_warning("table.contradiction", "Row 3 is turn 1, and planned_turns says 0."), "{warnings:?}");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn a_row_that_says_another_thing_of_its_run_is_named() {
    let read = table(
        "t.csv",
        "run,harness,model,scenario,turn,attempt,passed,benchmark,benchmark_name,runner,runner_version,simulated,attempt_limit,invalid,run_started_at\n\
         a,h,,s1,1,1,1,one,,,,yes,3,,\n\
         a,h,m,s2,1,1,1,one,One,r,2,true,3.0,wrong image,2026-01-02T00:00:00Z\n\
         a,h,m,s3,1,1,1,two,One,r,3,no,4,wrong image,\n\
         b,,m,s1,1,1,1,,,,,,,,\n\
         b,oracle,m,s2,1,1,1,,,,,,,,\n",
    );
    let run = &read.runs[0];
    assert_eq!((run.benchmark.key.as_str(), run.benchmark.name.as_str()), ("one", "One"));
    assert_eq!((run.model.as_deref(), run.invalid.as_deref()), (Some("m"), Some("wrong image")));
    assert_eq!(run.runner, Some(("r".to_owned(), Some("2".to_owned()))));
    assert_eq!((run.simulated, run.attempt_limit, run.started_at.is_some()), (true, Some(3), true));
    // A baseline is known by its harness, wherever that stands.
    assert_eq!(read.runs[1].baseline, Some(model::Baseline::Oracle));
    let named: Vec<String> = (read.warnings().iter())
        .map(|(code, message)| {
            format!("{code} {}", message.split(" of a run of which ").next().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        named,
        [
            "table.contradiction Row 4 says benchmark “two”",
            "table.contradiction Row 4 says runner_version “3”",
            "table.contradiction Row 4 says simulated “no”",
            "table.contradiction Row 4 says attempt_limit “4”",
        ]
    );
}

#[test]
fn a_row_that_says_another_thing_of_its_episode_or_turn_is_named() {
    let read = table(
        "t.csv",
        "run,harness,model,scenario,turn,attempt,passed,scenario_title,turn_title,request,episode_tokens_in,episode_tokens_cached,episode_tokens_out,episode_cost_usd,episode_agent_seconds,episode_started_at,episode_invalid\n\
         a,h,m,s,1,1,0,Shop,Login,,100,150,10,0.5,60,2026-01-02T00:00:00Z,\n\
         a,h,m,s,1,2,1,Shop,Login,Add a login,100,150,10,0.50,6e1,2026-01-02T01:00:00+01:00,\n\
         a,h,m,s,2,1,0,Store,,Add a cart,100,150,11,0.75,61,2026-01-03T00:00:00Z,wrong image\n\
         a,h,m,s,2,2,0,,,Add a cart,,,,,,,wrong image\n\
         a,h,m,s,2,3,1,,Basket,Add a basket,,,,,,,another reason\n\
         a,h,m,s,1,3,1,,Sign in,,,,,,,,\n",
    );
    let episode = read.episode("a", "s");
    assert_eq!((episode.title.as_deref(), episode.cost_usd), (Some("Shop"), Some(0.5)));
    assert_eq!(episode.tokens, Some(Tokens { input: Some(250), cached: Some(150), output: Some(10) }));
    let found: Vec<&str> = (read.warnings().into_iter())
        .filter(|(code, message)| *code == "table.contradiction" && message.contains(" says "))
        .map(|(_, message)| message)
        .collect();
    let episode_message = |statement: &str, known: &str| {
        format!("Row {statement} of an episode that begins in row 2 and had “{known}”. The first is taken.")
    };
    let turn_message = |statement: &str, turn: u32, known: &str| {
        format!("Row {statement} of turn {turn}, of which an earlier row says “{known}”. The first is taken.")
    };
    let expected = [
        episode_message("4 says scenario_title “Store”", "Shop"),
        episode_message("4 says episode_tokens_out “11”", "10"),
        episode_message("4 says episode_cost_usd “0.75”", "0.5"),
        episode_message("4 says episode_agent_seconds “61”", "60"),
        episode_message("4 says episode_started_at “2026-01-03T00:00:00Z”", "2026-01-02T00:00:00Z"),
        episode_message("6 says episode_invalid “another reason”", "wrong image"),
        // The title of turn 2 was made of its request: no row had it before.
        turn_message("6 says request “Add a basket”", 2, "Add a cart"),
        turn_message("7 says turn_title “Sign in”", 1, "Login"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn rows_may_stand_in_any_order_and_in_several_files() {
    let whole = format!("{HEADER}\na,h,m,s,1,1,0\na,h,m,s,1,2,1\na,h,m,s,2,1,1\na,h,m,t,1,1,1\n");
    let single_table = table("t.csv", whole);
    let folder = folder("1.csv", format!("{HEADER}\na,h,m,s,2,1,1\na,h,m,t,1,1,1\n"));
    fs::write(
        folder.path().join("2.jsonl"),
        "{\"run\":\"a\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s\",\"turn\":1,\"attempt\":2,\"passed\":true}\n\
         {\"run\":\"a\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s\",\"turn\":1,\"attempt\":1,\"passed\":false}\n",
    )
    .unwrap();
    fs::write(folder.path().join("prices.csv"), "model,price\nm,1\n").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let split = read(&tree, "");
    assert_eq!((single_table.warnings(), split.warnings()), (vec![], vec![]));
    assert_eq!(split.runs, single_table.runs);
    let sorted = |read: &Read| {
        let mut episodes = read.episodes.clone();
        episodes.sort_by(|a, b| a.1.key.cmp(&b.1.key));
        episodes
    };
    assert_eq!(sorted(&split), sorted(&single_table));
}

#[test]
fn a_warning_names_the_file_of_each_row() {
    let folder = folder("1.csv", format!("{HEADER}\na,h,m,s,1,1,1\na,h,m,s,4,1,1\n"));
    let second = format!("{HEADER}\na,h,m,s,1,1,0\na,h,m,s,2,1,1\na,h,m,s,2,2,0\na,h,n,t,1,1,1\n");
    fs::write(folder.path().join("2.csv"), second).unwrap();
    let read = read(&Tree::open(folder.path()).unwrap(), "");
    let warnings = read.report.warnings.iter();
    let mut named: Vec<(&str, &str)> = warnings
        .map(|warning| (warning.path.as_str(), warning.message.split('.').next().unwrap_or_default()))
        .collect();
    named.sort_unstable();
    let expected = [
        ("1.csv", "Row 3 is turn 4, after turn 2 was not passed"),
        ("1.csv", "Row 3 is turn 4, and there is no turn 3"),
        ("2.csv", "Row 2 is attempt 1 at turn 1 of scenario “s”, as is row 2 of 1"),
        ("2.csv", "Row 4 is attempt 2 at turn 2, after attempt 1 passed"),
        ("2.csv", "Row 5 says model “n” of a run of which row 2 of 1"),
    ];
    assert_eq!(named, expected);
}

#[test]
fn another_harness_or_model_within_an_episode_is_named() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER}\na,h,m,s,1,1,1\na,h,other,s,2,1,1\na,h,other,s,3,1,1\na,,,s,4,1,1\na,h,m,s,5,1,1\na,k,m,s,6,1,1\n"
        ),
    );
    let expected = [
        (
            "table.contradiction",
            "Row 3 says model “other” of a run of which row 2 says another. The first is taken.",
        ),
        (
            "table.contradiction",
            "Row 7 says harness “k” of a run of which row 2 says another. The first is taken.",
        ),
    ];
    assert_eq!(read.warnings(), expected);
    assert_eq!((read.runs[0].harness.as_deref(), read.runs[0].model.as_deref()), (Some("h"), Some("m")));
}

#[test]
fn the_first_of_two_columns_with_one_name_is_read_with_a_warning() {
    let read = table("t.csv", format!("{HEADER},Passed,note,note\na,h,m,s,1,1,1,0,x,y\n"));
    let sentence =
        "It has more than one column with the name “Passed”, “note”. The first one of each name is taken.";
    assert_eq!(read.warnings(), [("table.column_twice", sentence)]);
    assert_eq!(read.verdicts("a", "s"), [(1, 1, Passed)]);
    assert_eq!(read.episode("a", "s").turns[0].attempts[0].extra["note"], "x");
}

#[test]
fn seconds_that_are_of_another_unit_are_unknown() {
    let seconds = "agent_seconds,test_seconds,episode_agent_seconds,episode_test_seconds";
    let row = "a,h,m,s,1,1,1,90500000000,100000000,1e9,2.5";
    let read = table("t.csv", format!("{HEADER},{seconds}\n{row}\n"));
    let episode = read.episode("a", "s");
    let attempt_timing = &episode.turns[0].attempts[0].timing;
    assert_eq!((attempt_timing.agent_seconds, attempt_timing.test_seconds), (None, Some(1e8)));
    assert_eq!((episode.timing.agent_seconds, episode.timing.test_seconds), (None, Some(2.5)));
    let warnings: Vec<&str> = (read.warnings().iter())
        .map(|(code, message)| {
            assert_eq!(*code, "value.not_usable");
            message.split(':').next().unwrap_or_default()
        })
        .collect();
    let expected = [
        "Row 2 says episode_agent_seconds “1e9”, which is more than three years",
        "Row 2 says agent_seconds “90500000000”, which is more than three years",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn each_run_has_the_first_of_its_warnings() {
    use std::fmt::Write as _;
    let mut text = format!("{HEADER}\n");
    for run in ["a", "b"] {
        for scenario in 0..30 {
            writeln!(text, "{run},h,m,s{scenario},0,1,1").unwrap();
        }
    }
    let read = table("t.csv", text);
    let run_warnings =
        |run: &str| read.report.warnings.iter().filter(|warning| warning.run.as_deref() == Some(run)).count();
    assert_eq!((run_warnings("a"), run_warnings("b")), (20, 1));
    assert!(read.warnings().last().unwrap().1.ends_with(" 39 more of the same kind are not listed."));
    let repairs = |run: &str| read.report.not_kept.warnings[&Some(run.to_owned())].repairs;
    assert_eq!((repairs("a"), repairs("b")), (10, 29));
}

#[test]
fn warnings_that_are_not_listed_are_counted_with_their_run_and_severity() {
    use std::fmt::Write as _;
    let mut text = format!("{HEADER},planned_turns\n");
    for run in 0..250 {
        writeln!(text, "r{run},h,m,s,0,1,1,2\nr{run},h,m,s,1,1,maybe,2").unwrap();
    }
    let read = table("t.csv", text);
    let mut counts = std::collections::HashMap::new();
    for warning in &read.report.warnings {
        let run_warnings: &mut model::WarningCounts = counts.entry(warning.run.clone().unwrap()).or_default();
        run_warnings.add(&warning.code);
    }
    // The first ones of 200 runs are listed.
    assert_eq!(counts.len(), 200);
    for (run, unlisted) in &read.report.not_kept.warnings {
        *counts.entry(run.clone().unwrap()).or_default() += *unlisted;
    }
    let one_of_each = model::WarningCounts { repairs: 1, warnings: 1, notes: 0 };
    assert!(counts.len() == 250 && counts.values().all(|counts| *counts == one_of_each), "{counts:?}");
}

/// Parts end between episodes, and give the same as one part, in order or not.
#[test]
fn a_long_table_is_read_in_parts() {
    let rows = |sorted: bool| {
        let mut rows: Vec<String> = (0..50_000_u32)
            .map(|row| {
                let (episode, turn) = (row / 7, row % 7 + 1);
                format!("r{},h,m,s{episode},{turn},1,{}\n", episode % 3, u8::from(turn < 5))
            })
            .collect();
        if !sorted {
            rows.sort_by_key(|row| {
                row.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
            });
        }
        format!("{HEADER}\n{}", rows.concat())
    };
    let (sorted, apart) = (table("t.csv", rows(true)), table("t.csv", rows(false)));
    assert_eq!((sorted.parts, apart.parts), (3, 3));
    for read in [&sorted, &apart] {
        assert_eq!(read.episodes.len(), 7_143);
        assert_eq!(read.episodes.iter().map(|(_, e)| e.turns.len()).sum::<usize>(), 50_000);
        assert!(read.episodes.iter().filter(|(_, e)| e.turns.len() == 7).all(|(_, e)| e.stamina() == 4));
    }
    // What stands before a change is not read again.
    let folder = folder("t.csv", rows(true));
    let tree = Tree::open(folder.path()).unwrap();
    let stamps = |tree: &Tree| {
        let parts = TidyTable.survey(tree, "", &mut Report::default()).parts;
        parts.iter().map(|part| (part.key.clone(), part.stamp)).collect::<BTreeMap<_, _>>()
    };
    let original = stamps(&tree);
    fs::write(folder.path().join("t.csv"), format!("{}r9,h,m,new,1,1,1\n", rows(true))).unwrap();
    let after_change = stamps(&tree);
    let changed: Vec<bool> =
        after_change.iter().map(|(key, stamp)| original.get(key) != Some(stamp)).collect();
    assert_eq!(changed.iter().filter(|changed| **changed).count(), 1);
}

#[test]
fn an_episode_and_a_run_may_have_no_attempt() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},episode_end_reason,planned_turns\na,h,m,s,,,,environment,4\na,h,m,t,1,,,,4\nb,h,m,,,,,,\n"
        ),
    );
    assert_eq!(read.warnings(), []);
    assert_eq!(read.runs.len(), 2);
    assert_eq!(read.episode("a", "s").end(), (Some(1), EndReason::Environment));
    assert_eq!(read.episode("a", "t").turns[0].attempts.len(), 0);
    assert_eq!(read.episodes.len(), 2);
}

#[test]
fn repeats_are_distinguished_however_they_are_written() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},repeat\na,h,m,s,1,1,1,0\na,h,m,s,1,1,0,1\na,h,m,s,2,1,0,1.0\na,h,m,s,1,1,1,2\na,h,m,t,1,1,1,NA\na,h,m,t,2,1,1,\na,h,m,u,1,1,1,seed a\na,h,m,u,1,1,0,seed b\n"
        ),
    );
    let mut episodes: Vec<(&str, u32, usize)> =
        read.episodes.iter().map(|(_, e)| (e.scenario.as_str(), e.repeat, e.turns.len())).collect();
    episodes.sort_unstable();
    assert_eq!(episodes, [("s", 0, 1), ("s", 1, 2), ("s", 2, 1), ("t", 1, 2), ("u", 1, 1), ("u", 1, 1)]);
    let keys: std::collections::HashSet<&str> = read.episodes.iter().map(|(_, e)| e.key.as_str()).collect();
    assert_eq!(keys.len(), 6);
    // Pages show both of them as repeat 1. That it is unknown was all that was said.
    let warnings = read.warnings();
    let texts: Vec<&str> =
        warnings.iter().filter(|(code, _)| *code == "table.repeat").map(|(_, text)| *text).collect();
    assert_eq!(texts.len(), 2, "{warnings:?}");
    for (text, start) in texts.iter().zip(["Row 8 says repeat “seed a”", "Row 9 says repeat “seed b”"])
    {
        assert!(
            text.starts_with(start) && text.contains("Give a number up to 4294967295 to each repeat"),
            "{text}"
        );
    }
    assert!(!read.codes().contains(&"value.not_usable"), "{warnings:?}");
}

#[test]
fn what_a_later_row_says_of_the_episode_is_taken() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},planned_turns,episode_end_reason\na,h,m,s,1,1,1,,\na,h,m,s,2,1,1,10,budget\na,h,m,s,2,2,1,10,endpoint\n"
        ),
    );
    let episode = read.episode("a", "s");
    assert_eq!((episode.planned_turns, episode.end_reason), (Some(10), Some(EndReason::Budget)));
    assert!(
        read.warnings()
            .iter()
            .any(|(code, text)| *code == "table.contradiction" && text.contains("endpoint"))
    );
}

#[test]
fn a_gap_ends_an_episode_before_it_and_is_no_pass_of_all() {
    let read = table("t.csv", format!("{HEADER}\na,h,m,s,1,1,1\na,h,m,s,3,1,0\n"));
    assert_eq!(read.episode("a", "s").end(), (Some(2), EndReason::Unfinished));
}
