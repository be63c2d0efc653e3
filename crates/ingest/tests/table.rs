//! Tidy tables: CSV, JSON Lines and Parquet, as others write them.

#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "helpers of tests; figures are copied, not computed"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use files::Tree;
use ingest::discover::discover;
use ingest::format::{Format, Report};
use ingest::formats::table::{TidyTable, header_id, near};
use model::Verdict::{Failed, Passed, Unfinished};
use model::{ArtifactKind, EndReason, Episode, Request, Run, Tokens, Verdict};

const HEADER: &str = "run,harness,model,scenario,turn,attempt,passed";

struct Read {
    runs: Vec<Run>,
    episodes: Vec<(String, Episode)>,
    parts: usize,
    report: Report,
}

fn read(tree: &Tree, at: &str) -> Read {
    let mut report = Report::default();
    let survey = TidyTable.survey(tree, at, &mut report);
    let mut episodes = Vec::new();
    let reader = TidyTable.reader(tree, at);
    for part in &survey.parts {
        let readings = reader.read(tree, part, &mut report);
        episodes.extend(readings.into_iter().map(|reading| (reading.run, reading.episode)));
    }
    Read { runs: survey.runs, episodes, parts: survey.parts.len(), report }
}

/// A folder with one table of this text.
fn folder(name: &str, text: impl AsRef<[u8]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn table(name: &str, text: impl AsRef<[u8]>) -> Read {
    let folder = folder(name, text);
    let tree = Tree::open(folder.path()).unwrap();
    let found = discover(&tree).unwrap();
    assert_eq!(found.by_format().iter().map(|format| format.id).collect::<Vec<_>>(), ["table"]);
    read(&tree, "")
}

impl Read {
    /// Code and message of every warning.
    fn warnings(&self) -> Vec<(&str, &str)> {
        self.report.warnings.iter().map(|w| (w.code.as_str(), w.message.as_str())).collect()
    }
    fn codes(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|w| w.code.as_str()).collect()
    }
    fn episode(&self, run: &str, scenario: &str) -> &Episode {
        &self
            .episodes
            .iter()
            .find(|(attempt_of, episode)| attempt_of == run && episode.scenario == scenario)
            .unwrap()
            .1
    }
    /// Turn, attempt, verdict.
    fn verdicts(&self, run: &str, scenario: &str) -> Vec<(u32, u32, Verdict)> {
        let turns = self.episode(run, scenario).turns.iter();
        turns.flat_map(|turn| turn.attempts.iter().map(|a| (turn.number, a.number, a.verdict))).collect()
    }
}

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

#[test]
fn no_turns_may_be_planned_and_no_attempts_may_not() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},planned_turns,attempt_limit\na,h,m,s1,,,,0,0\na,h,m,s2,1,1,true,0,0\na,h,m,s3,,,,,0\n"
        ),
    );
    // Whoever had nothing to do has done all of it.
    let nothing = read.episode("a", "s1");
    assert_eq!((nothing.planned_turns, nothing.end()), (Some(0), (None, EndReason::PassedAll)));
    let unknown = read.episode("a", "s3");
    assert_eq!((unknown.planned_turns, unknown.end()), (None, (Some(1), EndReason::Unfinished)));
    assert_eq!(read.runs[0].attempt_limit, None);
    let warnings = read.warnings();
    let has_warning =
        |code: &str, what: &str| warnings.iter().any(|(c, message)| *c == code && message.starts_with(what));
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
    let of_episode = |what: &str, known: &str| {
        format!("Row {what} of an episode that begins in row 2 and had “{known}”. The first is taken.")
    };
    let of_turn = |what: &str, turn: u32, known: &str| {
        format!("Row {what} of turn {turn}, of which an earlier row says “{known}”. The first is taken.")
    };
    let expected = [
        of_episode("4 says scenario_title “Store”", "Shop"),
        of_episode("4 says episode_tokens_out “11”", "10"),
        of_episode("4 says episode_cost_usd “0.75”", "0.5"),
        of_episode("4 says episode_agent_seconds “61”", "60"),
        of_episode("4 says episode_started_at “2026-01-03T00:00:00Z”", "2026-01-02T00:00:00Z"),
        of_episode("6 says episode_invalid “another reason”", "wrong image"),
        // The title of turn 2 was made of its request: no row said it before.
        of_turn("6 says request “Add a basket”", 2, "Add a cart"),
        of_turn("7 says turn_title “Sign in”", 1, "Login"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_way_to_write_one_gives_the_same() {
    let rows = "a,h,\"m, \"\"x\"\"\",s 1,1,1,true,0.5\na,h,\"m, \"\"x\"\"\",s 1,2,1,false,NaN\n";
    let plain = table("t.csv", format!("{HEADER},cost_usd\n{rows}"));
    let with_mark = format!("\u{feff}{HEADER},cost_usd\n{rows}").replace('\n', "\r\n");
    let german = "run;harness;model;scenario;turn;attempt;passed;cost_usd\n\
                  a;h;\"m, \"\"x\"\"\";s 1;1;1;1;0,5\na;h;\"m, \"\"x\"\"\";s 1;2;1;0;\n";
    let tabs = "Run\tHarness\tModel\tScenario\tTurn\tAttempt\tPassed\tCost USD\n\
                a\th\t\"m, \"\"x\"\"\"\ts 1\t1\t1\tyes\t0.5\na\th\t\"m, \"\"x\"\"\"\ts 1\t2\t1\tno\tNA\n";
    let lines = "{\"run\":\"a\",\"harness\":\"h\",\"model\":\"m, \\\"x\\\"\",\"scenario\":\"s 1\",\"turn\":1,\"attempt\":1,\"passed\":true,\"cost_usd\":0.5}\n\n\
                 {\"run\":\"a\",\"harness\":\"h\",\"model\":\"m, \\\"x\\\"\",\"scenario\":\"s 1\",\"turn\":2.0,\"attempt\":1,\"passed\":false,\"cost_usd\":NaN}";
    for (name, text) in
        [("t.csv", with_mark.as_str()), ("t.csv", german), ("t.tsv", tabs), ("t.jsonl", lines)]
    {
        let other = table(name, text);
        assert_eq!(other.warnings(), [], "{name}: {text}");
        assert_eq!(other.runs, plain.runs, "{name}");
        assert_eq!(other.episodes, plain.episodes, "{name}");
    }
    assert_eq!(plain.runs[0].model.as_deref(), Some("m, \"x\""));
}

#[test]
fn a_quoted_line_break_stands_in_one_row() {
    let read = table(
        "t.csv",
        format!(
            "{HEADER},request\na,h,m,s,1,1,1,\"Build it.\nWith tests.\"\na,h,m,s,2,1,0,Add users\na,h,m,s,2,1,0,twice\n"
        ),
    );
    let Some(Request::Text(text)) = &read.episode("a", "s").turns[0].request else { panic!() };
    assert_eq!(text, "Build it.\nWith tests.");
    assert_eq!(read.episode("a", "s").turns[1].title.as_deref(), Some("Add users"));
    let [(code, message)] = read.warnings()[..] else { panic!("{:?}", read.warnings()) };
    assert_eq!(code, "table.duplicate");
    assert!(message.starts_with("Row 4 is attempt 1 at turn 2 of scenario “s”, as is row 3."), "{message}");
}

#[test]
fn what_does_not_fit_is_said_with_its_row() {
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
fn turns_and_attempts_that_count_from_zero_are_shown_from_one() {
    let read = table("t.csv", format!("{HEADER}\na,h,m,s,0,0,0\na,h,m,s,0,1,1\na,h,m,s,1,0,1\n"));
    assert_eq!(read.verdicts("a", "s"), [(1, 1, Failed), (1, 2, Passed), (2, 1, Passed)]);
    assert_eq!(read.codes(), ["turns.from_zero", "turns.from_zero"]);
}

#[test]
fn rows_may_stand_in_any_order_and_in_several_files() {
    let whole = format!("{HEADER}\na,h,m,s,1,1,0\na,h,m,s,1,2,1\na,h,m,s,2,1,1\na,h,m,t,1,1,1\n");
    let one = table("t.csv", whole);
    let folder = folder("1.csv", format!("{HEADER}\na,h,m,s,2,1,1\na,h,m,t,1,1,1\n"));
    fs::write(
        folder.path().join("2.jsonl"),
        "{\"run\":\"a\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s\",\"turn\":1,\"attempt\":2,\"passed\":true}\n\
         {\"run\":\"a\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s\",\"turn\":1,\"attempt\":1,\"passed\":false}\n",
    )
    .unwrap();
    fs::write(folder.path().join("prices.csv"), "model,price\nm,1\n").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let apart = read(&tree, "");
    assert_eq!((one.warnings(), apart.warnings()), (vec![], vec![]));
    assert_eq!(apart.runs, one.runs);
    let sorted = |read: &Read| {
        let mut episodes = read.episodes.clone();
        episodes.sort_by(|a, b| a.1.key.cmp(&b.1.key));
        episodes
    };
    assert_eq!(sorted(&apart), sorted(&one));
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
    let before = stamps(&tree);
    fs::write(folder.path().join("t.csv"), format!("{}r9,h,m,new,1,1,1\n", rows(true))).unwrap();
    let after = stamps(&tree);
    let changed: Vec<bool> = after.iter().map(|(key, stamp)| before.get(key) != Some(stamp)).collect();
    assert_eq!(changed.iter().filter(|changed| **changed).count(), 1);
}

#[test]
fn other_names_are_guessed_and_mapped() {
    let text = "experiment,agent,llm,task,round,try,ok\ne1,h,m,s,1,1,1\ne1,h,m,s,2,1,0\n";
    let folder = folder("rounds.csv", text);
    let tree = Tree::of_file(&folder.path().join("rounds.csv")).unwrap();
    let nothing = discover(&tree).unwrap_err();
    let [lacking] = &nothing.tables[..] else { panic!("{nothing:?}") };
    assert_eq!(lacking.there, ["harness", "scenario"]);
    assert_eq!(
        lacking.suggestion(),
        "--map run=experiment --map model=llm --map turn=round --map attempt=try --map passed=ok"
    );
    let header: Vec<String> = text.lines().next().unwrap().split(',').map(str::to_owned).collect();
    let names_of = lacking.missing.iter().map(|(ours, theirs)| ((*ours).to_owned(), theirs.clone().unwrap()));
    let names = BTreeMap::from([(header_id(&header), names_of.collect())]);
    let tree = tree.with_column_names(names);
    assert!(near(&tree).is_empty());
    let read = read(&tree, "");
    assert_eq!(read.verdicts("e1", "s"), [(1, 1, Passed), (2, 1, Failed)]);
    assert!(read.episodes[0].1.turns[0].attempts[0].extra.is_empty(), "a column that is mapped is no other");
}

#[test]
fn no_other_table_is_taken_for_one() {
    let folder = folder("prices.csv", "model,input,output\nm,1,2\n");
    fs::write(folder.path().join("log.jsonl"), "{\"run\":\"a\",\"model\":\"m\"}\n").unwrap();
    fs::write(folder.path().join("no.parquet"), b"PAR1 is not enough").unwrap();
    fs::write(folder.path().join("empty.csv"), b"").unwrap();
    fs::write(folder.path().join("bytes.csv"), b"\xff\xfe,\x00").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let nothing = discover(&tree).unwrap_err();
    assert!(nothing.tables.is_empty(), "{nothing:?}");
}

#[test]
fn a_quote_that_nobody_closes_does_not_take_the_file() {
    let mut text = format!("{HEADER}\na,h,m,s,1,1,1\na,h,\"m,s,2,1,1\n");
    text.push_str(&"x".repeat(6 << 20));
    let read = table("t.csv", text);
    assert_eq!(read.codes(), ["table.row_too_long"]);
    assert!(read.warnings()[0].1.contains("It is read up to row 2."), "{:?}", read.warnings());
    assert_eq!(read.verdicts("a", "s").len(), 1);
}

#[test]
fn files_beside_the_table_are_found_and_nothing_else() {
    let folder = folder(
        "t.csv",
        format!("{HEADER},log,request\na,h,m,s,1,1,1,logs/1.txt,asked.md\na,h,m,s,2,1,1,../secret,none.md\n"),
    );
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::write(folder.path().join("logs/1.txt"), "hello").unwrap();
    fs::write(folder.path().join("asked.md"), "Build it").unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    let read = read(&tree, "");
    let turns = &read.episode("a", "s").turns;
    assert_eq!(turns[0].attempts[0].artifacts[0].kind, ArtifactKind::AgentLog);
    assert!(matches!(&turns[0].request, Some(Request::File(file)) if file.path == "asked.md"));
    assert!(matches!(&turns[1].request, Some(Request::Text(text)) if text == "none.md"));
    assert_eq!(read.codes(), ["file.missing"]);
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

/// Written by pandas and polars: `tests/fixtures/table/make.py`.
#[test]
fn parquet_of_others_is_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table");
    let csv = fs::read(fixtures.join("attempts.csv")).unwrap();
    let plain = table("t.csv", csv);
    assert_eq!(plain.warnings(), []);
    for name in ["pandas-snappy.parquet", "polars-zstd.parquet", "pandas-gzip.parquet", "pandas.jsonl"] {
        let bytes = fs::read(fixtures.join(name)).unwrap();
        let other = table(&format!("t.{}", name.rsplit_once('.').unwrap().1), bytes);
        assert_eq!(other.warnings(), [], "{name}");
        assert_eq!(other.runs, plain.runs, "{name}");
        assert_eq!(other.episodes, plain.episodes, "{name}");
    }
}

#[test]
fn repeats_are_told_apart_however_they_are_written() {
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

#[test]
fn a_verdict_of_runs_without_tests_is_none_of_a_table() {
    let read = table("t.csv", format!("{HEADER},verdict\na,h,m,s,1,1,,not_tested\n"));
    assert_eq!(read.episode("a", "s").turns[0].attempts[0].verdict, model::Verdict::Unfinished);
    assert!(read.warnings().iter().any(|(code, _)| *code == "value.not_usable"));
}

#[test]
fn times_and_rewards_that_cannot_be_are_said_at_every_level() {
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

/// Written by pyarrow: `tests/fixtures/table/make.py`.
#[test]
fn decimal_numbers_of_parquet_have_their_point() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table");
    for name in ["decimal-integers.parquet", "decimal-bytes.parquet"] {
        let read = table("t.parquet", fs::read(fixtures.join(name)).unwrap());
        let turns = &read.episode("a", "s").turns;
        let attempt_of = |turn: usize| {
            let attempt = &turns[turn].attempts[0];
            (attempt.cost_usd, attempt.reward, attempt.extra.get("share").and_then(serde_json::Value::as_f64))
        };
        assert_eq!(attempt_of(0), (Some(0.25), Some(0.25), Some(0.25)), "{name}");
        // Nothing costs less than nothing.
        assert_eq!(attempt_of(1), (None, Some(-0.0001), Some(-0.0001)), "{name}");
        assert_eq!(attempt_of(2), (None, None, None), "{name}");
    }
}

/// In pages of the second version only the values are packed, not the levels before them.
#[test]
fn parquet_of_the_second_version_is_read() {
    use parquet::basic::{Compression, GzipLevel};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    let columns: Vec<String> =
        HEADER.split(',').map(|name| format!("optional binary {name} (UTF8);")).collect();
    let schema = format!("message t {{ {} }}", columns.join(" "));
    let schema = parquet::schema::parser::parse_message_type(&schema).unwrap();
    let options = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::GZIP(GzipLevel::default()));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), options.build().into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for values in ["a a", "h h", "m m", "s s", "1 2", "1 1", "true true"] {
        let values: Vec<ByteArray> = values.split(' ').map(ByteArray::from).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&[1, 1]), None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    let read = table("t.parquet", writer.into_inner().unwrap());
    assert_eq!(read.warnings(), vec![]);
    assert_eq!(read.episode("a", "s").turns.len(), 2);
}

#[test]
fn columns_of_json_lines_are_read_wherever_they_begin() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for scenario in 0..300 {
        let cost =
            if scenario < 250 { String::new() } else { format!(",\"cost_usd\":{scenario},\"seed\":7") };
        let row = format!("\"run\":\"r\",\"harness\":\"h\",\"model\":\"m\",\"scenario\":\"s{scenario}\"");
        let _ = writeln!(text, "{{{row},\"turn\":1,\"attempt\":1,\"passed\":true{cost}}}");
    }
    let late = table("late.jsonl", &text);
    let attempt = |read: &Read, scenario: &str| read.episode("r", scenario).turns[0].attempts[0].clone();
    assert_eq!(attempt(&late, "s100").cost_usd, None);
    assert_eq!(attempt(&late, "s299").cost_usd, Some(299.0));
    assert_eq!(attempt(&late, "s299").extra.get("seed"), Some(&serde_json::json!(7)));
    // A required one, too: the first rows have no verdict.
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(at, line)| if at < 220 { line.replace(",\"passed\":true", "") } else { line.to_owned() })
        .collect();
    let late = table("late.jsonl", lines.join("\n"));
    assert_eq!(attempt(&late, "s219").verdict, Unfinished);
    assert_eq!(attempt(&late, "s220").verdict, Passed);
}
