//! Tidy tables through the program: read, mapped, exported and read again; numbers as other programs compute them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::app::{Served, TestHome, text};
use crate::folders::fixtures;

fn sample() -> String {
    fixtures().join("../../data/sample-table.csv").canonicalize().expect("the sample").display().to_string()
}

fn answer(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.stamina(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

/// `tests/fixtures/table/lifelines.json` is what `golden.py` beside it computes with lifelines. `python_page.rs` has the
/// programs of `docs/python.md`.
#[test]
fn mean_stamina_is_that_of_lifelines() {
    let home = TestHome::new();
    let read = answer(&home, &["ingest", &sample()]);
    assert_eq!(read["sources"][0]["format"], "table");
    assert_eq!(read["sources"][0]["warnings"], json!([]));
    assert_eq!((&read["sources"][0]["runs"], &read["sources"][0]["episodes"]), (&json!(4), &json!(32)));
    let golden: Value = serde_json::from_slice(
        &fs::read(fixtures().join("table/lifelines.json")).expect("the golden values"),
    )
    .expect("JSON");
    let runs = answer(&home, &["runs"]);
    let runs = runs.as_array().expect("a list");
    assert_eq!(runs.len(), 4);
    let reason = "MT@k, SR, Gap and Comp do not apply: its turns score by their share of tests passed; \
               a column scoring that says turns has them score as a whole.";
    for run in runs {
        assert_eq!((&run["mt_at_k"], &run["rounds_missing"]), (&Value::Null, &json!([reason])));
        let id = run["id"].as_str().expect("an id");
        let expected = &golden[id.strip_prefix("sample-table.csv.").expect("the name of the table")];
        let near = |a: &Value, b: &Value, label: &str| {
            if b.is_null() {
                return assert!(a.is_null(), "{id}, {label}: {a}");
            }
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            assert!((a - b).abs() < 1e-9, "{id}, {label}: {a} and {b}");
        };
        for name in ["mean", "ci_low", "ci_high", "tau", "n", "events", "censored"] {
            near(&run["stamina"][name], &expected[name], name);
        }
    }
    // And what stands on a table of two other programs: https://lifelines.readthedocs.io has its log-rank test.
    let compared = answer(&home, &["table", "pairs", "loopy-m-large", "loopy-m-small"]);
    let row = &compared["rows"][0];
    for (name, key) in [("logrank_chi2", "chi2"), ("logrank_p", "p")] {
        let (value, golden_value) =
            (row[name].as_f64().expect(name), golden["logrank"][key].as_f64().expect(key));
        assert!((value - golden_value).abs() < 1e-9, "{name}: {value} and {golden_value}");
    }
}

#[test]
fn a_table_with_other_names_is_named_with_what_to_write_and_remembered() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rounds.csv");
    let rows = "experiment,agent,llm,task,round,try,ok\ne1,codex,gpt,s1,1,1,yes\ne1,codex,gpt,s1,2,1,no\n";
    fs::write(&path, rows).expect("written");
    let path = path.to_str().expect("UTF-8");
    let output = home.stamina(&["ingest", path, "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let refusal: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let error = &refusal["errors"][0];
    assert_eq!(
        error["message"],
        "\"rounds.csv\" is a table without the columns run, model, turn, attempt, passed of a tidy table"
    );
    let map = "--map run=experiment --map model=llm --map turn=round --map attempt=try --map passed=ok";
    assert_eq!(error["hint"], format!("Say which column is which: stamina ingest {path} {map}"));
    assert_eq!(
        (&error["tables"][0]["map"], &error["tables"][0]["missing"][0]["guess"]),
        (&json!(map), &json!("experiment"))
    );
    // What is to be pasted into a shell is one word there.
    let spaced = folder.path().join("my rounds.csv");
    fs::write(&spaced, rows).expect("written");
    let spaced = spaced.to_str().expect("UTF-8");
    let output = home.stamina(&["ingest", spaced, "--json"]);
    let refusal: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let hint = format!("Say which column is which: stamina ingest '{spaced}' {map}");
    assert_eq!(refusal["errors"][0]["hint"], hint);
    for (wrong, problem) in [
        ("round=turn", "A tidy table has no column \"round\""),
        ("turn=rnd", "No table there has the columns rnd"),
        ("turn", "does not say which"),
    ] {
        let output = home.stamina(&["ingest", path, "--map", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(text(&output.stderr).contains(problem), "{wrong}: {}", text(&output.stderr));
    }
    // Only what the table lacks is named.
    let output = home.stamina(&["ingest", path, "--map", "run=experiment", "--map", "turn=rnd"]);
    let message = text(&output.stderr);
    assert!(message.contains("No table there has the columns rnd\n"), "{message}");
    let arguments: Vec<&str> = ["ingest", path].into_iter().chain(map.split(' ')).collect();
    let read = answer(&home, &arguments);
    assert_eq!(
        (&read["sources"][0]["format"], &read["sources"][0]["attempts"]),
        (&json!("table"), &json!(2))
    );
    // Another file with the same header, in another order of rows and in a folder, needs no word.
    let other = tempfile::tempdir().expect("a folder");
    fs::write(other.path().join("more.csv"), rows.replace("e1", "e2")).expect("written");
    let read = answer(&home, &["ingest", other.path().to_str().expect("UTF-8")]);
    assert_eq!(read["sources"][0]["format"], "table");
    // And it is read again by itself.
    fs::write(path, format!("{rows}e1,codex,gpt,s2,1,1,no\n")).expect("written");
    assert_eq!(answer(&home, &["ingest", path])["sources"][0]["attempts"], 3);
}

/// Names are compared without case, and with every other sign as `_`.
#[test]
fn a_column_is_mapped_by_its_name_however_it_is_written() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rounds.csv");
    let row = "e1,codex,gpt,s1,1,1,yes\n";
    fs::write(&path, format!("Run,Agent,Model,Task,Round,Try No,Passed\n{row}")).expect("written");
    let path = path.to_str().expect("UTF-8");
    let read = answer(&home, &["ingest", path, "--map", "turn=round", "--map", "attempt=try_no"]);
    assert_eq!(
        (&read["sources"][0]["format"], &read["sources"][0]["attempts"]),
        (&json!("table"), &json!(1))
    );
    // Of two that are alike, the one that is called so; a name of neither says nothing.
    let two = folder.path().join("two.csv");
    fs::write(&two, "run,agent,model,task,Round,ROUND,attempt,passed\ne2,codex,other,s1,7,1,1,yes\n")
        .expect("written");
    let two = two.to_str().expect("UTF-8");
    let output = home.stamina(&["ingest", two, "--map", "turn=round"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("No table there has the columns round"), "{message}");
    answer(&home, &["ingest", two, "--map", "turn=ROUND"]);
    let runs = home.json(&["runs"]);
    let other_run =
        runs.as_array().expect("runs").iter().find(|run| run["model"] == "other").expect("the run");
    let shown = home.json(&["show", other_run["id"].as_str().expect("an id")]);
    assert_eq!(shown["episodes"][0]["turns"].as_array().map(Vec::len), Some(1), "{shown}");
}

/// An importer of others is run where a user says so, and never by itself.
#[test]
// docs/security.md: An importer of others
fn an_importer_of_others_makes_the_table_of_a_folder() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    fs::create_dir(&results).expect("a folder");
    fs::write(results.join("log.txt"), "what the agent did").expect("written");
    fs::write(results.join("verdicts.txt"), "s1 1 true\ns1 2 false\n").expect("written");
    let program = folder.path().join("importer");
    let script = "#!/bin/sh\n[ -e \"$1/verdicts.txt\" ] || { echo no verdicts.txt >&2; exit 66; }\n\
        echo run >> \"$0.runs\"\n\
        echo run,harness,model,scenario,turn,attempt,passed,log\n\
        while read s t p; do echo \"r,h,m,$s,$t,1,$p,log.txt\"; done < \"$1/verdicts.txt\"\n";
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let (program, path) = (program.to_str().expect("UTF-8"), results.to_str().expect("UTF-8"));
    let runs = || fs::read_to_string(format!("{program}.runs")).map_or(0, |runs| runs.lines().count());
    assert_eq!(home.stamina(&["ingest", path]).status.code(), Some(2), "nobody else reads it");
    assert_eq!(runs(), 0);
    let read = answer(&home, &["ingest", path, "--with", program]);
    let source = &read["sources"][0];
    assert_eq!(
        (&source["format"], &source["attempts"], &source["warnings"]),
        (&json!("table"), &json!(2), &json!([]))
    );
    assert_eq!(source["path"], fs::canonicalize(path).expect("there").to_str().expect("UTF-8"));
    let shown = answer(&home, &["show", "results.r"]);
    assert_eq!(shown["episodes"][0]["scenario"], "s1");
    // Reading it again does not run the importer; saying so does.
    answer(&home, &["ingest", path]);
    assert_eq!(runs(), 1);
    fs::write(results.join("verdicts.txt"), "s1 1 true\ns1 2 true\ns1 3 true\n").expect("written");
    assert_eq!(answer(&home, &["ingest", path, "--with", program])["sources"][0]["attempts"], 3);
    assert_eq!(runs(), 2);
    // What is no table does not take the place of the one before.
    for (body, code, words) in [("echo hello", 2, "Nothing in"), ("exit 0", 1, "wrote nothing")] {
        fs::write(program, format!("#!/bin/sh\n{body}\n")).expect("written");
        let refused = home.stamina(&["ingest", path, "--with", program]);
        assert_eq!(refused.status.code(), Some(code), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
        assert_eq!(answer(&home, &["ingest", path])["sources"][0]["attempts"], 3);
        assert_eq!(fs::read_dir(home.path("library.sqlite.imported")).expect("the folder").count(), 1);
    }
    fs::write(program, script).expect("written");
    let other = folder.path().join("other");
    fs::create_dir(&other).expect("a folder");
    let refused = home.stamina(&["ingest", other.to_str().expect("UTF-8"), "--with", program]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("no verdicts.txt"), "{}", text(&refused.stderr));
    let missing = home.stamina(&["ingest", path, "--with", "nothing-of-this-name"]);
    assert!(
        text(&missing.stderr).contains("No program stamina-import-nothing-of-this-name"),
        "{}",
        text(&missing.stderr)
    );
}

#[test]
fn the_whole_library_goes_out_and_comes_in() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    for input in [
        sample(),
        fixtures().join("staminabench/own").display().to_string(),
        fixtures().join("harbor/jobs/failures-k1").display().to_string(),
    ] {
        answer(&home, &["ingest", &input]);
    }
    answer(&home, &["withdraw", "sample-table.csv.planner-m-small", "--reason", "wrong image"]);
    let runs = |home: &TestHome| {
        let mut runs: Vec<Value> = answer(home, &["runs"])
            .as_array()
            .expect("a list")
            .iter()
            .map(|run| {
                let mut kept = json!({});
                for name in [
                    "harness",
                    "model",
                    "benchmark",
                    "stamina",
                    "score",
                    "dataset_score",
                    "case_score",
                    "mt_at_k",
                    "comp",
                    "pass_rate",
                    "end_reasons",
                    "invalid",
                ] {
                    kept[name] = run[name].clone();
                }
                kept
            })
            .collect();
        runs.sort_by_key(Value::to_string);
        runs
    };
    for ending in ["csv", "jsonl", "parquet"] {
        let out = folder.path().join(format!("all.{ending}"));
        answer(&home, &["table", "tidy", "--out", out.to_str().expect("UTF-8")]);
        let other = TestHome::new();
        let read = answer(&other, &["ingest", out.to_str().expect("UTF-8")]);
        assert_eq!(read["sources"][0]["format"], "table", "{ending}");
        assert_eq!(runs(&home), runs(&other), "{ending}");
        assert_eq!(runs(&other).iter().filter(|run| run["invalid"] == "wrong image").count(), 1, "{ending}");
    }
}

/// The table that an importer makes may have other names; it goes when its source is closed.
#[test]
fn the_table_of_an_importer_is_mapped_and_goes_with_its_source() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    fs::create_dir(&results).expect("a folder");
    let program = folder.path().join("importer");
    let script = "#!/bin/sh\necho experiment,agent,llm,task,round,try,ok\necho e1,codex,gpt,s1,1,1,yes\n";
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let [path, program] = [&results, &program].map(|path| path.to_str().expect("UTF-8"));
    let arguments = ["ingest", path, "--with", program];
    assert_eq!(home.stamina(&arguments).status.code(), Some(2), "its columns have other names");
    let map: Vec<&str> = ["run=experiment", "model=llm", "turn=round", "attempt=try", "passed=ok"]
        .into_iter()
        .flat_map(|pair| ["--map", pair])
        .collect();
    assert_eq!(answer(&home, &[&arguments[..], &map].concat())["sources"][0]["attempts"], 1);
    // It is remembered by the header.
    assert_eq!(answer(&home, &arguments)["sources"][0]["attempts"], 1);
    let kept = || fs::read_dir(home.path("library.sqlite.imported")).expect("the folder").count();
    assert_eq!(kept(), 1);
    answer(&home, &["close", path]);
    assert_eq!(kept(), 0);
}

/// The app runs an importer of its settings for what a user opens with it, and for nothing else.
#[test]
// docs/security.md: An importer of others
fn an_importer_of_the_settings_is_run_only_for_what_is_opened_with_it() {
    let home = TestHome::new();
    let (results, own_tools) = (home.path("results"), home.path("own"));
    for folder in [&results, &own_tools] {
        fs::create_dir(folder).expect("a folder");
    }
    let write_program = |path: &Path, name: &str| {
        let script = "#!/bin/sh\necho run >> \"$0.runs\"\n\
            echo experiment,harness,model,scenario,turn,attempt,passed\necho e,h,m,s1,1,1,true\n";
        let path = path.join(name);
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        path.to_str().expect("UTF-8").to_owned()
    };
    let (program, planted) = (
        write_program(&own_tools, "stamina-import-verdicts"),
        write_program(&results, "stamina-import-planted"),
    );
    let runs =
        |program: &str| fs::read_to_string(format!("{program}.runs")).map_or(0, |runs| runs.lines().count());
    let path = results.to_str().expect("UTF-8");
    let app = Served::new(&home);
    let added = app.get("set_importers", &json!({ "add": [program], "remove": [] }));
    let listed = json!({ "name": "verdicts", "path": program, "in_settings": true, "state": "ready" });
    assert_eq!(added["importers"], json!([listed]));
    assert_eq!(added["path"], home.path(".config/stamina-lab/importers.json").to_str().expect("UTF-8"));

    // Opening a source runs none, whatever else the request says; nor is one run that is not listed.
    let plain = app.ask("open_source", &json!({ "path": path, "importer": program })).unwrap_err();
    assert_eq!(plain["code"], "source.not_recognised");
    let arguments =
        |importer: &str, columns: Value| json!({ "path": path, "importer": importer, "columns": columns });
    let refused = app.ask("open_with_importer", &arguments(&planted, json!({}))).unwrap_err();
    assert_eq!(refused["code"], "importer.not_listed");
    assert_eq!((runs(&program), runs(&planted)), (0, 0));

    // Its table has another name for a column, which the app then asks for.
    let missing = app.ask("open_with_importer", &arguments(&program, json!({}))).unwrap_err();
    assert_eq!(missing["not_recognised"]["tables"][0]["missing"][0]["column"], "run");
    let opened = app.get("open_with_importer", &arguments(&program, json!({ "run": "experiment" })));
    assert_eq!(opened["path"], fs::canonicalize(path).expect("there").to_str().expect("UTF-8"));
    let is_read = |state: &Value| state["sources"][0]["status"] == "ready" && state["runs"] == 1;
    app.until("app_state", &json!({}), is_read);
    assert_eq!(runs(&program), 2);

    // Neither a look for changes nor the next start runs it again.
    app.get("rescan_source", &json!({ "source": opened["id"] }));
    app.until("app_state", &json!({}), is_read);
    drop(app);
    let app = Served::new(&home);
    app.until("app_state", &json!({}), is_read);
    assert_eq!(runs(&program), 2);
    assert_eq!(app.get("list_importers", &json!({}))["importers"], json!([listed]));

    // The command line knows it by its name, until it is removed.
    let named = ["ingest", path, "--with", "verdicts"];
    assert_eq!(answer(&home, &named)["sources"][0]["attempts"], 1);
    assert_eq!(runs(&program), 3);
    let left = app.get("set_importers", &json!({ "add": [], "remove": ["verdicts"] }));
    assert_eq!(left["importers"], json!([]));
    assert_eq!(home.stamina(&named).status.code(), Some(2));
    let removed = app.ask("open_with_importer", &arguments(&program, json!({}))).unwrap_err();
    assert_eq!((&removed["code"], runs(&program)), (&json!("importer.not_listed"), 3));
}
