//! Values that do not fit their columns.

use files::Tree;
use ingest::formats::table::incomplete_tables;
use model::Verdict::{Failed, Passed, Unfinished};
use model::{EndReason, Verdict};

use crate::table::{HEADER, folder, read, table};

#[test]
fn what_does_not_fit_is_reported_with_its_row() {
    let read = table(
        "t.csv",
        "run,harness,model,scenario,turn,attempt,passed,tests_passed,tests_total,end_reason,planned_turns,cost_usd\n\
         a,h,m,gap,1,1,1,,,,,\n\
         a,h,m,gap,3,1,1,,,,,\n\
         a,h,m,on,1,1,0,,,,,\n\
         a,h,m,on,2,1,1,,,,,\n\
         a,h,m,odd,1,1,1,3,4,,5,\n\
         a,h,m,odd,1,2,1,4,3,,6,\n\
         a,h,m,odd,2,x,1,,,,5,\n\
         a,h,m,odd,2,1,perhaps,,,ran away,5,-1\n\
         b,h,m,odd,1,1,1,,,,7,\n\
         b,other,m,odd2,1,1,1,,,,,\n\
         ,h,m,odd,1,1,1,,,,,\n\
         a,h,m,,1,1,1,,,,,\n\
         a,h,m,odd,1,1,1,,,,,,,surplus\n\
         a,h,m,odd,99999,1,1,,,,,\n",
    );
    let mut found: Vec<(&str, String)> = read
        .warnings()
        .iter()
        .map(|(code, message)| (*code, message.split(' ').take(2).collect::<Vec<_>>().join(" ")))
        .collect();
    found.sort();
    let expected = [
        ("table.cells", "Row 14"),
        ("table.contradiction", "Row 10"),
        ("table.contradiction", "Row 11"),
        ("table.contradiction", "Row 6"),
        ("table.contradiction", "Row 7"),
        ("table.contradiction", "Row 7"),
        ("table.end_reason", "Row 9"),
        ("table.gap", "Row 3"),
        ("table.goes_on", "Row 5"),
        ("table.no_name", "Row 12"),
        ("table.no_name", "Row 13"),
        ("table.no_number", "Row 8"),
        ("turns.out_of_range", "Row 15"),
        ("value.not_usable", "Row 7"),
        ("value.not_usable", "Row 8"),
        ("value.not_usable", "Row 9"),
        ("value.not_usable", "Row 9"),
    ];
    let found: Vec<(&str, &str)> = found.iter().map(|(code, row)| (*code, row.as_str())).collect();
    assert_eq!(found, expected, "{:#?}", read.warnings());
    assert_eq!(read.episode("a", "gap").stamina(), 1);
    assert_eq!(read.episode("a", "on").stamina(), 0);
    let odd = read.episode("a", "odd");
    assert_eq!((odd.planned_turns, odd.turns[0].attempts[1].passed), (Some(5), None));
    // Its verdict cannot be read, so it is an error of the verifier, and not an attempt that is still running.
    let unreadable = &odd.turns[1].attempts[0];
    assert_eq!((unreadable.verdict, unreadable.end_reason), (Verdict::Error, Some(EndReason::VerifierError)));
}

#[test]
fn a_verdict_that_cannot_be_read_is_an_error_of_the_verifier() {
    let read = table(
        "t.csv",
        "run,harness,model,scenario,turn,attempt,passed,verdict,end_reason\n\
         a,h,m,word,1,1,maybe,,\n\
         a,h,m,number,1,1,2,,\n\
         a,h,m,verdict,1,1,,so-so,\n\
         a,h,m,reason,1,1,maybe,,budget\n\
         a,h,m,stated,1,1,maybe,failed,\n\
         a,h,m,unknown,1,1,NaN,,\n",
    );
    let end = |scenario: &str| {
        let attempt = &read.episode("a", scenario).turns[0].attempts[0];
        (attempt.verdict, attempt.end_reason)
    };
    for scenario in ["word", "number", "verdict"] {
        assert_eq!(end(scenario), (Verdict::Error, Some(EndReason::VerifierError)), "{scenario}");
    }
    assert_eq!(end("reason"), (Unfinished, Some(EndReason::Budget)));
    assert_eq!(end("stated"), (Failed, None));
    assert_eq!(end("unknown"), (Unfinished, None));
    assert_eq!(read.codes(), ["value.not_usable"; 5]);
}

#[test]
fn a_list_or_an_object_is_no_flag_and_no_number() {
    let read = table(
        "t.jsonl",
        "{\"run\":\"a\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s\",\"turn\":1,\"attempt\":1,\"passed\":[true],\"tests_total\":{\"all\":3},\"cost_usd\":[],\"note\":[1,2]}\n",
    );
    let attempt = &read.episode("a", "s").turns[0].attempts[0];
    assert_eq!((attempt.verdict, attempt.end_reason), (Verdict::Error, Some(EndReason::VerifierError)));
    assert_eq!(attempt.extra["note"], "[1,2]");
    let [(passed, message), (total, _)] = read.warnings()[..] else { panic!("{:?}", read.warnings()) };
    assert_eq!((passed, total), ("value.not_usable", "value.not_usable"));
    assert_eq!(message, "Row 1 says passed “[true]”, which is no flag. It is unknown.");
}

#[test]
fn a_list_or_an_object_is_no_name() {
    let row = |names: &str| format!("{{{names},\"turn\":1,\"attempt\":1,\"passed\":true}}\n");
    let rows = [
        r#""run":"a","harness":"h","model":"m","scenario":"s1""#,
        r#""run":["a"],"harness":"h","model":"m","scenario":"s2""#,
        r#""run":"a","harness":"h","model":"m","scenario":["s3"]"#,
        r#""run":"b","harness":["h","i"],"model":{"name":"gpt-5"},"scenario":"s4""#,
        r#""run":"a","harness":"h","model":"m","scenario":{"id":5}"#,
    ];
    let read = table("t.jsonl", rows.map(row).concat());
    let named: Vec<(&str, bool, bool)> =
        read.runs.iter().map(|run| (run.key.as_str(), run.harness.is_some(), run.model.is_some())).collect();
    assert_eq!(named, [("a", true, true), ("b", false, false)]);
    let scenarios: Vec<&str> = read.episodes.iter().map(|(_, episode)| episode.scenario.as_str()).collect();
    assert_eq!(scenarios, ["s1", "s4"]);
    assert_eq!(read.episode("b", "s4").turns[0].attempts[0].extra["model.name"], "gpt-5");
    let warnings = read.warnings();
    for (code, start, ending) in [
        ("table.no_name", "Row 2 says run ", "which is a list and no name. The row is left out."),
        ("table.no_name", "Row 3 says scenario ", "which is a list and no name. The row is left out."),
        ("value.not_usable", "Row 4 says harness ", "which is a list and no name. It is unknown."),
        (
            "value.not_usable",
            "Row 4 says model ",
            "It is unknown. “--map model=model.name” takes a part of it.",
        ),
        ("table.no_name", "Row 5 says scenario ", "“--map scenario=scenario.id” takes a part of it."),
    ] {
        let is_reported = |(known, message): &(&str, &str)| {
            *known == code && message.starts_with(start) && message.ends_with(ending)
        };
        assert!(warnings.iter().any(is_reported), "{start}: {warnings:?}");
    }
    assert_eq!(warnings.len(), 5, "{warnings:?}");
}

#[test]
fn a_part_of_an_object_is_mapped_to_a_name() {
    let row = |name: &str, scenario: u32| {
        format!(
            "{{\"run\":\"a\",\"agent\":{{\"name\":\"codex\",\"version\":\"2\"}},\"model\":{{\"provider\":\"openai\",\"name\":\"{name}\"}},\
             \"task\":{{\"id\":\"s{scenario}\"}},\"turn\":1,\"attempt\":1,\"passed\":true}}\n"
        )
    };
    let text: String = (1..=2).map(|scenario| row("gpt-5", scenario)).collect();
    let folder = folder("t.jsonl", text);
    let tree = Tree::open(folder.path()).unwrap();
    let tables = incomplete_tables(&tree);
    let [incomplete] = &tables[..] else { panic!("one table lacks columns") };
    assert_eq!(incomplete.suggestion(), "--map harness=agent.name --map model=model.name");
    let renames = [("harness", "agent.name"), ("model", "model.name")];
    let renames = renames.map(|(name, column)| (name.to_owned(), column.to_owned())).into();
    let tree = tree.with_column_names([(incomplete.header.clone(), renames)].into());
    let read = read(&tree, "");
    assert_eq!(read.warnings(), []);
    let run = &read.runs[0];
    assert_eq!((run.harness.as_deref(), run.model.as_deref()), (Some("codex"), Some("gpt-5")));
    assert_eq!(read.verdicts("a", "s2"), [(1, 1, Passed)]);
    let extra = &read.episode("a", "s2").turns[0].attempts[0].extra;
    assert_eq!((&extra["model.provider"], &extra["agent.version"]), (&"openai".into(), &"2".into()));
}

#[test]
fn what_r_writes_where_there_is_no_value_is_no_text() {
    // R reads a table that Stamina Lab wrote, and writes NA in each cell that was empty.
    let read = table(
        "t.csv",
        format!(
            "{HEADER},invalid,episode_invalid,exception,benchmark,runner,scenario_title,turn_title,request,log,counted_task\n\
             NA,NA,NaN,NA,1,1,TRUE,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA\n\
             NA,NA,<NA>,NA,2,1,FALSE,None,null,NULL,NaN,NA,NA,NA,NA,NA,NA\n"
        ),
    );
    assert_eq!(read.warnings(), []);
    let run = &read.runs[0];
    assert_eq!((run.key.as_str(), run.benchmark.key.as_str()), ("NA", "table"));
    assert_eq!((&run.harness, &run.model, &run.invalid, &run.runner), (&None, &None, &None, &None));
    let episode = read.episode("NA", "NA");
    assert_eq!((&episode.invalid, &episode.title), (&None, &None));
    assert_eq!(read.verdicts("NA", "NA"), [(1, 1, Passed), (2, 1, Failed)]);
    for turn in &episode.turns {
        assert!(turn.title.is_none() && turn.request.is_none() && turn.attempts[0].exception.is_none());
    }
}

#[test]
fn an_end_that_the_verdict_excludes_is_unknown_and_named() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},end_reason,planned_turns\na,h,m,s,1,1,1,tests_failed,3\na,h,m,s,2,1,0,passed_all,3\n\
             a,h,m,s2,1,1,1,passed_all,1\na,h,m,s3,1,1,1,agent_timeout,1\n"
        ),
    );
    // The failure was censored as one that passed all.
    assert_eq!(read.episode("a", "s").end(), (Some(2), EndReason::TestsFailed));
    assert_eq!(read.episode("a", "s2").end(), (None, EndReason::PassedAll));
    let expected = [
        "Row 2 says end_reason tests_failed of an attempt that counts as passed. The reason is unknown.",
        "Row 3 says end_reason passed_all of an attempt that counts as failed. The reason is unknown.",
    ];
    assert_eq!(read.warnings(), expected.map(|message| ("table.contradiction", message)));
}

#[test]
fn turns_and_attempts_that_count_from_zero_are_shown_from_one() {
    let read = table("t.csv", format!("{HEADER}\na,h,m,s,0,0,0\na,h,m,s,0,1,1\na,h,m,s,1,0,1\n"));
    assert_eq!(read.verdicts("a", "s"), [(1, 1, Failed), (1, 2, Passed), (2, 1, Passed)]);
    assert_eq!(read.codes(), ["turns.from_zero", "turns.from_zero"]);
}

#[test]
fn a_verdict_of_runs_without_tests_is_none_of_a_table() {
    let read = table("t.csv", format!("{HEADER},verdict\na,h,m,s,1,1,,not_tested\n"));
    let attempt = &read.episode("a", "s").turns[0].attempts[0];
    assert_eq!((attempt.verdict, attempt.end_reason), (Verdict::Error, Some(EndReason::VerifierError)));
    assert!(read.warnings().iter().any(|(code, _)| *code == "value.not_usable"));
}

#[test]
fn times_and_rewards_that_cannot_be_are_reported_at_every_level() {
    let levels =
        "started_at,finished_at,episode_started_at,episode_finished_at,run_started_at,run_finished_at";
    let found = |times: [&str; 6], reward: &str| -> Vec<String> {
        let row = format!("a,h,m,s,1,1,1,{},{reward}", times.join(","));
        let read = table("t.csv", format!("{HEADER},{levels},reward\n{row}\n"));
        let attempt = &read.episode("a", "s").turns[0].attempts[0];
        assert_eq!((attempt.verdict, attempt.timing.started_at.as_deref()), (Passed, Some(times[0])));
        let mut codes: Vec<String> = read.codes().into_iter().map(str::to_owned).collect();
        codes.sort();
        codes
    };
    let (early, late, local) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T00:00:00");
    assert_eq!(found([early, late, early, late, early, late], "0.5"), [""; 0]);
    let backwards = found([late, early, late, early, late, early], "1");
    assert_eq!(backwards, ["value.not_usable"; 3]);
    assert_eq!(found([early, local, local, early, early, local], "0"), ["value.not_usable"; 3]);
    for reward in ["7", "-0.5"] {
        assert_eq!(found([early, early, early, early, early, early], reward), ["reward.range"], "{reward}");
    }
}

#[test]
fn a_quote_that_is_not_closed_hides_no_rows() {
    let header = "run,harness,model,scenario,turn,attempt,passed,request\n";
    let rows = |text: &str| {
        let read = table("t.csv", format!("{header}{text}"));
        let warnings: Vec<String> = (read.warnings().iter())
            .map(|(code, message)| format!("{code} {}", message.split(". ").next().unwrap_or_default()))
            .collect();
        (read.episodes.len(), warnings)
    };
    // Texts of several lines, with and without the cells after them, are none.
    let whole = "a,h,m,one,1,1,1,\"first\nsecond, third\"\na,h,m,two,1,1,1\na,h,m,three,1,1,1,\"x\ny\"\n";
    assert_eq!(rows(whole), (3, vec![]));
    for (text, first, hidden) in [
        // In the middle, up to the end of the file and up to another quote, and in the last column.
        ("a,h,m,one,1,1,1,\na,h,\"m,two,1,1,1,\na,h,m,three,1,1,1,\na,h,m,four,1,1,1,\n", 3, 2),
        ("a,h,m,one,1,1,1,\na,h,\"m,two,1,1,1,\na,h,m,three,1,1,1,\na,h,m,four,1,1,1,x\"\n", 3, 2),
        ("a,h,m,one,1,1,1,\na,h,m,two,1,1,1,\"x\na,h,m,three,1,1,1,\n", 3, 1),
    ] {
        let warning = format!(
            "table.cells Row {first} has a quote that is not closed: one of its cells has {hidden} of the rows after it"
        );
        assert_eq!(rows(text), (1, vec![warning]), "{text}");
    }
}

#[test]
fn an_episode_that_ends_otherwise_than_its_last_attempt_is_reported() {
    let read = table(
        "t.csv",
        "run,harness,model,scenario,turn,attempt,passed,verdict,episode_end_reason\n\
         a,h,m,one,1,1,1,,passed_all\n\
         a,h,m,two,1,1,0,error,passed_all\n",
    );
    let warnings = read.warnings();
    let [(code, message)] = warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(code, "table.contradiction");
    assert!(message.starts_with("Row 3 counts as error"), "{message}");
}

/// A blank verdict was "not passed".
#[test]
fn a_turn_after_one_of_which_nobody_knows_whether_it_passed_says_so() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER}\na,h,m,s,1,1,\na,h,m,s,2,1,1\nb,h,m,s,1,1,0\nb,h,m,s,2,1,1\nc,h,m,s,1,1,maybe\nc,h,m,s,2,1,1\n"
        ),
    );
    let found: Vec<&str> = (read.warnings().into_iter())
        .filter(|(code, _)| *code == "table.goes_on")
        .map(|(_, message)| message.split(". ").next().unwrap_or_default())
        .collect();
    let expected = [
        "Row 3 is turn 2, after turn 1, of which it is unknown whether it passed",
        "Row 5 is turn 2, after turn 1 was not passed",
        "Row 7 is turn 2, after turn 1, of which it is unknown whether it passed",
    ];
    assert_eq!(found, expected);
}
