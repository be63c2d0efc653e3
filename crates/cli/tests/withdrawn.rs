//! A withdrawn run stays visible with its mark and leaves whatever takes runs together.

use std::fs;

use serde_json::Value;

use crate::app::{TestHome, text};
use crate::folders;

/// A library with the two jobs of one agent and model.
struct Library(TestHome);

impl Library {
    fn with_two_runs() -> Self {
        let home = TestHome::new();
        home.ingest(&folders::fixtures().join("world/set-order"));
        Self(home)
    }

    /// Id and mark of every run, by id.
    fn marks(&self) -> Vec<(String, Option<String>)> {
        let mut marks: Vec<_> = (self.0.json(&["runs"]).as_array().expect("runs").iter())
            .map(|run| {
                let id = run["id"].as_str().expect("an id").to_owned();
                (id, run["invalid"].as_str().map(str::to_owned))
            })
            .collect();
        marks.sort();
        marks
    }

    /// Episodes of the only cell of the matrix.
    fn episodes_of_the_matrix(&self) -> Value {
        let matrix = self.0.json(&["matrix"]);
        let [cell] = matrix["cells"].as_array().expect("cells").as_slice() else { panic!("{matrix}") };
        cell["n"].clone()
    }
}

#[test]
fn a_withdrawn_run_is_marked_and_left_out_of_what_takes_runs_together() {
    let library = Library::with_two_runs();
    let ids: Vec<String> = library.marks().into_iter().map(|(id, _)| id).collect();
    let [first, second] = ids.as_slice() else { panic!("{ids:?}") };
    let survival = library.0.json(&["survival", second]);
    assert_eq!(library.episodes_of_the_matrix(), 4);

    let refused = library.0.stamina(&["withdraw", second, "--reason", " "]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("withdrawn for a reason"));

    library.0.json(&["withdraw", second, "--reason", "wrong image"]);
    assert_eq!(library.marks(), [(first.clone(), None), (second.clone(), Some("wrong image".to_owned()))]);
    assert!(library.0.text(&["runs"]).contains("(withdrawn)"));
    for command in ["show", "survival"] {
        let printed = library.0.text(&[command, second]);
        assert!(printed.starts_with(&format!("{second}: withdrawn (wrong image)\n")), "{printed}");
    }
    // Whatever shows it alone.
    let mark = format!("{second}: withdrawn (wrong image)");
    let turn_kinds = ["episodes", "turns", "by-turn", "tasks", "per-task", "retries"];
    let failure_kinds = ["failures", "cases", "origins", "repairs", "repair-times", "flips"];
    for kind in turn_kinds.into_iter().chain(failure_kinds) {
        let printed = library.0.text(&["table", kind, second]);
        assert_eq!(printed.matches(&mark).count(), 1, "{kind}: {printed}");
    }
    let printed = library.0.text(&["failures", second]);
    assert!(printed.contains(&mark), "{printed}");
    let library_table = library.0.text(&["table", "library"]);
    assert!(library_table.contains(&format!("{second}: withdrawn (wrong image)")), "{library_table}");
    // Its own numbers stay.
    assert_eq!(library.0.json(&["survival", second]), survival);
    assert_eq!(library.episodes_of_the_matrix(), 2);
    let matrix = library.0.json(&["matrix"]).to_string();
    assert!(matrix.contains("is withdrawn (wrong image), and not in this matrix."), "{matrix}");
    let failures = library.0.json(&["failures"]).to_string();
    assert!(failures.contains("is withdrawn (wrong image), and not in these failures."), "{failures}");
    let failures = || library.0.json(&["failures"])["attempts"].clone();
    assert_eq!(failures(), 1, "of the run that counts");
    let group = library.0.json(&["compare", "harness:agent-a", first]).to_string();
    assert!(group.contains("1 withdrawn run is left out of this group"), "{group}");
    let refused = library.0.stamina(&["compare", first, second]);
    assert_eq!(refused.status.code(), Some(1));
    let message = text(&refused.stderr);
    assert!(
        message.contains("is withdrawn and cannot be taken together with other runs: wrong image"),
        "{message}"
    );

    library.0.json(&["withdraw", second, "--undo"]);
    assert_eq!(library.marks(), [(first.clone(), None), (second.clone(), None)]);
    assert_eq!(library.episodes_of_the_matrix(), 4);
    assert_eq!(failures(), 2);
}

/// Nothing is left to show, and that is no library without runs.
#[test]
fn a_library_of_withdrawn_runs_alone_says_that_they_are_withdrawn() {
    let library = Library::with_two_runs();
    let benchmark = library.0.json(&["matrix"])["benchmark"]["key"].as_str().expect("a key").to_owned();
    for (id, _) in library.marks() {
        library.0.json(&["withdraw", &id, "--reason", "wrong image"]);
    }
    let refusal = |args: &[&str]| {
        let refused = library.0.stamina(args);
        assert_eq!(refused.status.code(), Some(1), "{args:?}");
        text(&refused.stderr)
    };
    let message = refusal(&["matrix"]);
    assert!(message.contains("All runs that are asked for are withdrawn"), "{message}");
    assert!(message.contains("stamina withdraw RUN --undo"), "{message}");
    for page in ["matrix", "failures"] {
        let message = refusal(&[page, "--benchmark", &benchmark]);
        let expected = format!("The benchmark \"{benchmark}\" has no runs that are not withdrawn");
        assert!(message.contains(&expected), "{page}: {message}");
        let message = refusal(&[page, "--benchmark", "none"]);
        assert!(message.contains("The benchmark \"none\" has no runs"), "{page}: {message}");
        assert!(!message.contains("withdrawn"), "{page}: {message}");
    }
    let failures = library.0.json(&["failures"]);
    let cautions = failures["cautions"].as_array().expect("sentences").iter().filter_map(Value::as_str);
    let cautions =
        cautions.filter(|text| text.ends_with("is withdrawn (wrong image), and not in these failures."));
    assert_eq!(cautions.count(), 2, "{failures}");
}

#[test]
fn the_mark_travels_with_an_exported_table() {
    let library = Library::with_two_runs();
    let run = library.marks().remove(1).0;
    library.0.json(&["withdraw", &run, "--reason", "a \"quoted\", long reason"]);
    let table = library.0.path("runs.csv");
    let table = table.to_str().expect("UTF-8");
    assert!(library.0.stamina(&["table", "library", "--out", table]).status.success());

    let other = Library::with_two_runs();
    other.0.json(&["withdraw", "--from", table]);
    assert_eq!(other.marks(), library.marks());
    // Runs that are not there are named and cost nothing else.
    let strange = library.0.path("strange.csv");
    fs::write(&strange, "run_id,invalid\nnot-here,gone\n").expect("a file");
    let output = other.0.stamina(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("not-here is not in this library"));
    // What only looks like its id is another run.
    library.0.json(&["withdraw", &run, "--undo"]);
    fs::write(&strange, format!("run_id,invalid\n{},gone\n", &run[..run.len() - 1])).expect("a file");
    library.0.json(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert!(library.marks().iter().all(|(_, mark)| mark.is_none()));
    // R writes NA where there is no reason.
    fs::write(&strange, format!("run_id,invalid\n{run},NA\n")).expect("a file");
    library.0.json(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert!(library.marks().iter().all(|(_, mark)| mark.is_none()));
    fs::write(&strange, "a,b\n1,2\n").expect("a file");
    let output = other.0.stamina(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("it has no column run_id"));
    let output = other.0.stamina(&["withdraw", "--from", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("not a regular file"), "{}", text(&output.stderr));
}

/// What a spreadsheet would calculate has an apostrophe in the file.
#[test]
fn a_reason_that_looks_like_a_formula_comes_back_as_it_was() {
    let library = Library::with_two_runs();
    let run = library.marks().remove(1).0;
    let table = library.0.path("runs.csv");
    let table = table.to_str().expect("UTF-8");
    for reason in ["-O2 build", "=wrong image", "@home, not here", "'-x' was set", "'quoted'"] {
        let reason_of = format!("--reason={reason}");
        library.0.json(&["withdraw", &run, &reason_of]);
        assert!(library.0.stamina(&["table", "library", "--out", table]).status.success());
        library.0.json(&["withdraw", &run, "--undo"]);
        library.0.json(&["withdraw", "--from", table]);
        assert_eq!(library.marks()[1].1.as_deref(), Some(reason));
    }
}

/// The episodes of a run, each by id with its mark.
fn episodes(home: &TestHome, run: &str) -> Vec<(String, Option<String>)> {
    (home.json(&["show", run])["episodes"].as_array().expect("episodes").iter())
        .map(|episode| {
            let id = episode["episode"].as_str().expect("an id").to_owned();
            (id, episode["invalid"].as_str().map(str::to_owned))
        })
        .collect()
}

#[test]
fn a_withdrawn_trial_leaves_every_number_and_stays_where_it_is_shown() {
    let library = Library::with_two_runs();
    let home = &library.0;
    let run = library.marks().remove(1).0;
    let before = home.json(&["runs"]);
    let shown = home.json(&["show", &run]);
    let failed = (shown["episodes"].as_array().expect("episodes").iter())
        .find(|episode| episode["end_reason"] == "tests_failed")
        .expect("a trial that failed");
    let trial = failed["episode"].as_str().expect("an id");
    let failures = || home.json(&["failures"])["attempts"].clone();
    assert_eq!((library.episodes_of_the_matrix(), failures()), (4.into(), 2.into()));

    // By the name of its task, which the run has once.
    let scenario = failed["scenario"].as_str().expect("a task");
    let marked = home.json(&["withdraw", &run, "--trial", scenario, "--reason", "network down"]);
    assert_eq!(marked, serde_json::json!([{ "id": run, "episode": trial, "invalid": "network down" }]));
    let run_row = |runs: &Value| {
        (runs.as_array().expect("runs").iter())
            .find(|row| row["id"] == run.as_str())
            .expect("the run")
            .clone()
    };
    let left = run_row(&home.json(&["runs"]));
    assert_eq!(
        [&left["episodes"], &left["withdrawn_episodes"], &left["coverage"]["present"], &left["invalid"]],
        [&Value::from(1), &Value::from(1), &Value::from(1), &Value::Null]
    );
    assert_eq!((&left["stamina"]["n"], &left["stamina"]["events"]), (&1.into(), &0.into()));
    assert!(left["end_reasons"].get("tests_failed").is_none(), "{left}");
    assert_eq!((library.episodes_of_the_matrix(), failures()), (3.into(), 1.into()));
    for command in ["matrix", "failures"] {
        assert!(home.json(&[command]).to_string().contains("1 withdrawn trial left out"), "{command}");
    }
    assert_eq!(home.json(&["compare", &run])["runs"][0]["n"], 1);
    // It is shown, with its mark.
    let marks = episodes(home, &run);
    assert_eq!(marks.len(), 2);
    assert!(marks.contains(&(trial.to_owned(), Some("network down".to_owned()))), "{marks:?}");
    assert!(text(&home.stamina(&["show", &run]).stdout).contains("withdrawn: network down"));

    // The mark travels with the table of episodes, and outlives another reading.
    let table = home.path("episodes.csv");
    let table = table.to_str().expect("UTF-8");
    assert!(home.stamina(&["table", "episodes", &run, "--out", table]).status.success());
    let other = Library::with_two_runs();
    other.0.json(&["withdraw", "--from", table]);
    assert_eq!(episodes(&other.0, &run), marks);
    other.0.ingest(&folders::fixtures().join("world/set-order"));
    assert_eq!(episodes(&other.0, &run), marks);
    assert_eq!(run_row(&other.0.json(&["runs"]))["withdrawn_episodes"], 1);

    let twice = home.stamina(&["withdraw", &run, "--trial", "not-there", "--reason", "gone"]);
    assert_eq!(twice.status.code(), Some(1));
    assert!(text(&twice.stderr).contains("There is no episode \"not-there\""), "{}", text(&twice.stderr));
    let two = library.marks();
    let several =
        home.stamina(&["withdraw", &two[0].0, &two[1].0, "--trial", trial, "--reason", "network down"]);
    assert!(text(&several.stderr).contains("of one run at a time"), "{}", text(&several.stderr));

    home.json(&["withdraw", &run, "--trial", trial, "--undo"]);
    assert_eq!(home.json(&["runs"]), before);
    assert_eq!((library.episodes_of_the_matrix(), failures()), (4.into(), 2.into()));
}

/// The tidy table has the trial with its mark: read alone or beside its job, the trial does not count.
#[test]
fn the_mark_of_a_trial_travels_with_the_tidy_table() {
    let library = Library::with_two_runs();
    let run = library.marks().remove(1).0;
    let trial = episodes(&library.0, &run)[0].0.clone();
    library.0.json(&["withdraw", &run, "--trial", &trial, "--reason", "network down"]);
    let folder = library.0.path("tidy");
    fs::create_dir(&folder).expect("a folder");
    let table = folder.join("tidy.csv");
    let ids: Vec<String> = library.marks().into_iter().map(|(id, _)| id).collect();
    library.0.text(&["table", "tidy", &ids[0], &ids[1], "--out", table.to_str().expect("UTF-8")]);

    let other = Library(TestHome::new());
    other.0.ingest(&folder);
    assert_eq!(other.episodes_of_the_matrix(), 3);
    let marks: Vec<_> = other.0.run_ids().iter().flat_map(|run| episodes(&other.0, run)).collect();
    assert_eq!(marks.len(), 4);
    let marked = |marks: &[(String, Option<String>)]| {
        marks.iter().filter(|(_, mark)| mark.as_deref() == Some("network down")).count()
    };
    assert_eq!(marked(&marks), 1, "{marks:?}");
    other.0.ingest(&folders::fixtures().join("world/set-order"));
    assert_eq!(other.episodes_of_the_matrix(), 3, "nor does its copy");

    // A user may take the mark away for good.
    let (run, trial) = (other.0.run_ids())
        .into_iter()
        .find_map(|run| {
            let run_episodes = episodes(&other.0, &run);
            run_episodes.into_iter().find(|(_, mark)| mark.is_some()).map(|(trial, _)| (run, trial))
        })
        .expect("a mark");
    other.0.json(&["withdraw", &run, "--trial", &trial, "--undo"]);
    other.0.ingest(&folder);
    assert_eq!(other.episodes_of_the_matrix(), 4);
}

/// A folder's name says nothing of a run: who renames it takes no mark away.
#[test]
fn a_mark_stays_with_a_run_and_a_trial_whose_folder_is_renamed() {
    let home = TestHome::new();
    let source = home.path("results");
    folders::copy(&folders::fixtures().join("world/docker-words"), &source);
    home.ingest(&source);
    let run = || home.json(&["runs"])[0].clone();
    let id = || run()["id"].as_str().expect("an id").to_owned();
    let before = id();
    home.json(&["withdraw", &before, "--reason", "wrong image"]);
    fs::rename(source.join("job-a"), source.join("renamed")).expect("to rename it");
    home.ingest(&source);
    assert_ne!(id(), before);
    assert_eq!(run()["invalid"], "wrong image");
    home.json(&["withdraw", &id(), "--undo"]);
    home.json(&["withdraw", &id(), "--trial", "good", "--reason", "network down"]);
    fs::rename(source.join("renamed"), source.join("again")).expect("to rename it");
    home.ingest(&source);
    assert_eq!((&run()["invalid"], run()["withdrawn_episodes"].as_u64()), (&Value::Null, Some(1)));
}

#[test]
fn a_withdrawn_session_is_in_no_figure_of_its_run() {
    let home = TestHome::new();
    home.ingest(&folders::fixtures().join("locobench"));
    let run = home.run_ids().into_iter().find(|id| id.contains("anthropic")).expect("a run of one session");
    let figures = |run: &str| home.json(&["locobench", run]);
    let before = figures(&run);
    let [session] = before["sessions"].as_array().expect("sessions").as_slice() else { panic!("{before}") };
    assert_eq!((&session["counts"], &session["invalid"]), (&true.into(), &Value::Null));
    let name = session["scenario"].as_str().expect("a name").to_owned();
    let refused = home.stamina(&["withdraw", &run, "--trial", "", "--reason", "wrong image"]);
    assert_eq!(refused.status.code(), Some(1), "no name is no trial");
    home.json(&["withdraw", &run, "--trial", &name, "--reason", "wrong image"]);
    let after = figures(&run);
    let session = &after["sessions"][0];
    assert_eq!((&session["counts"], &session["invalid"]), (&false.into(), &"wrong image".into()));
    assert!(after["cautions"].to_string().contains("1 withdrawn session left out of all means"), "{after}");
    let shown = home.text(&["locobench", &run]);
    // Its own line stays, with the mark.
    let others = || shown.lines().filter(|line| !line.contains("(withdrawn)"));
    assert_eq!(others().count(), shown.lines().count() - 1, "{shown}");
    assert!(others().all(|line| !line.contains("0.775") && !line.contains("0.855")), "{shown}");
    assert!(home.text(&["runs"]).contains("1 withdrawn session left out"));
}

/// The first repeat of a task has the name of the task for an id: an id names one trial. It was refused as the name of two.
#[test]
fn each_repeat_of_a_task_can_be_named() {
    let home = TestHome::new();
    home.ingest(&folders::fixtures().join("harbor/jobs/oracle-k2"));
    let run = home.run_ids().remove(0);
    let withdraw =
        |trial: &str| home.stamina(&["withdraw", &run, "--trial", trial, "--reason", "wrong image"]);
    let task = "theme_t2_w2_ledger_report";
    // The beginning of both.
    let refused = text(&withdraw("theme_t2_w2_ledger_repor").stderr);
    let names = refused.split("Name one of: ").nth(1).unwrap_or_else(|| panic!("{refused}")).trim();
    let names: Vec<&str> = names.split(", ").collect();
    assert!(names.len() == 2 && names.contains(&task), "{refused}");
    let ids: Vec<String> = episodes(&home, &run).into_iter().map(|(id, _)| id).collect();
    let withdrawn = || home.json(&["runs"])[0]["withdrawn_episodes"].as_u64();
    for (name, count) in names.into_iter().zip(1..) {
        assert!(ids.iter().any(|id| id == name), "{name} is no id of {ids:?}");
        let done = withdraw(name);
        assert!(done.status.success(), "{name}: {}", text(&done.stderr));
        assert_eq!(withdrawn(), Some(count), "one trial each");
        let marked = episodes(&home, &run).into_iter().find(|(id, _)| id == name);
        assert_eq!(marked.and_then(|(_, mark)| mark).as_deref(), Some("wrong image"), "{name}");
    }
    // In an exported table each has its id.
    let table = home.path("episodes.csv");
    let table = table.to_str().expect("UTF-8");
    home.text(&["table", "episodes", &run, "--out", table]);
    for (trial, _) in episodes(&home, &run) {
        home.json(&[
            "rpc",
            "withdraw",
            &format!("{{\"runs\": [\"{run}\"], \"episodes\": [\"{trial}\"], \"reason\": null}}"),
        ]);
    }
    assert_eq!(withdrawn(), Some(0));
    home.text(&["withdraw", "--from", table]);
    assert_eq!(withdrawn(), Some(2));
}

/// Of two trials with one name, in two tasks, the first was withdrawn without a word.
#[test]
fn a_name_that_trials_of_two_tasks_have_names_neither() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let trial = |id: &str, name: &str, task: &str| serde_json::json!({ "id": id, "trial_name": name, "task_id": task, "is_resolved": true });
    let trials = [trial("1", "one", "task-a"), trial("2", "one", "task-b"), trial("3", "two", "task-b")];
    let results = serde_json::json!({ "results": trials }).to_string();
    fs::write(folder.path().join("results.json"), results).expect("a file");
    home.ingest(folder.path());
    let run = home.run_ids().remove(0);
    let withdraw =
        |trial: &str| home.stamina(&["withdraw", &run, "--trial", trial, "--reason", "wrong image"]);
    let withdrawn = || home.json(&["runs"])[0]["withdrawn_episodes"].as_u64();
    let refused = text(&withdraw("one").stderr);
    assert!(refused.contains("\"one\" names 2 episodes"), "{refused}");
    assert_eq!(withdrawn(), Some(0));
    assert!(withdraw("two").status.success());
    assert_eq!(withdrawn(), Some(1));
}

#[test]
fn what_is_withdrawn_is_not_missing_in_json_either() {
    let home = TestHome::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("attempts.csv");
    let rows = "run,harness,model,scenario,turn,attempt,passed,planned_turns,planned_episodes,episode_invalid\n\
                r,h,m,a,1,1,false,2,3,wrong image\nr,h,m,b,1,1,true,2,3,\n";
    fs::write(&path, rows).expect("a table");
    home.ingest(&path);
    let run = home.json(&["runs"])[0].clone();
    assert_eq!(run["coverage"], serde_json::json!({ "planned": 2, "present": 1, "scored": 1 }));
    assert_eq!((&run["planned_episodes"], &run["withdrawn_episodes"]), (&3.into(), &1.into()));
    assert!(home.text(&["runs"]).contains("1 of 2"), "{}", home.text(&["runs"]));
}

/// What is withdrawn is not missing, also where the source only counts some tasks.
#[test]
fn a_withdrawn_task_beside_one_of_known_totals_is_not_missing() {
    let library = TestHome::new();
    library.ingest(&folders::fixtures().join("evocode"));
    let row = || {
        let runs = library.json(&["runs"]);
        let found = runs.as_array().and_then(|runs| runs.iter().find(|run| run["model"] == "Tiny-1"));
        found.expect("the run").clone()
    };
    let run = row()["id"].as_str().expect("an id").to_owned();
    assert_eq!(row()["partial"], "2 of 3 tasks");
    library.json(&["withdraw", &run, "--trial", "task_one", "--reason", "wrong image"]);
    assert_eq!(row()["partial"], "1 of 2 tasks", "{}", row());
    assert_eq!((&row()["coverage"]["present"], &row()["coverage"]["planned"]), (&1.into(), &2.into()));
}
