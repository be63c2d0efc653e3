//! A withdrawn run stays visible with its mark and leaves whatever takes runs together.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A library with the two jobs of one agent and model.
struct Library {
    folder: tempfile::TempDir,
}

impl Library {
    fn with_two_runs() -> Self {
        let library = Self { folder: tempfile::tempdir().expect("a folder") };
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
        let jobs = repository.join("tests/fixtures/world/set-order");
        library.json(&["ingest", jobs.to_str().expect("UTF-8")]);
        library
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn stamina(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stamina"))
            .arg("--db")
            .arg(self.path("library.sqlite"))
            .args(args)
            .output()
            .expect("stamina runs")
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.stamina(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON on standard output")
    }

    /// Id and mark of every run, by id.
    fn marks(&self) -> Vec<(String, Option<String>)> {
        let mut marks: Vec<_> = (self.json(&["runs"]).as_array().expect("runs").iter())
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
        let matrix = self.json(&["matrix"]);
        let [cell] = matrix["cells"].as_array().expect("cells").as_slice() else { panic!("{matrix}") };
        cell["n"].clone()
    }
}

#[test]
fn a_withdrawn_run_is_marked_and_left_out_of_what_takes_runs_together() {
    let library = Library::with_two_runs();
    let ids: Vec<String> = library.marks().into_iter().map(|(id, _)| id).collect();
    let [first, second] = ids.as_slice() else { panic!("{ids:?}") };
    let own = library.json(&["survival", second]);
    assert_eq!(library.episodes_of_the_matrix(), 4);

    let refused = library.stamina(&["withdraw", second, "--reason", " "]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("withdrawn for a reason"));

    library.json(&["withdraw", second, "--reason", "wrong image"]);
    assert_eq!(library.marks(), [(first.clone(), None), (second.clone(), Some("wrong image".to_owned()))]);
    // Its own numbers stay.
    assert_eq!(library.json(&["survival", second]), own);
    assert_eq!(library.episodes_of_the_matrix(), 2);
    let matrix = library.json(&["matrix"]).to_string();
    assert!(matrix.contains("is withdrawn (wrong image), and not in this matrix."), "{matrix}");
    let group = library.json(&["compare", "harness:agent-a", first]).to_string();
    assert!(group.contains("1 withdrawn run is left out of this group"), "{group}");
    let refused = library.stamina(&["compare", first, second]);
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        message.contains("is withdrawn and cannot be taken together with other runs: wrong image"),
        "{message}"
    );

    library.json(&["withdraw", second, "--undo"]);
    assert_eq!(library.marks(), [(first.clone(), None), (second.clone(), None)]);
    assert_eq!(library.episodes_of_the_matrix(), 4);
}

#[test]
fn the_mark_travels_with_an_exported_table() {
    let library = Library::with_two_runs();
    let run = library.marks().remove(1).0;
    library.json(&["withdraw", &run, "--reason", "a \"quoted\", long reason"]);
    let table = library.path("runs.csv");
    let table = table.to_str().expect("UTF-8");
    assert!(library.stamina(&["table", "library", "--out", table]).status.success());

    let other = Library::with_two_runs();
    other.json(&["withdraw", "--from", table]);
    assert_eq!(other.marks(), library.marks());
    // Runs that are not there are named and cost nothing else.
    let strange = library.path("strange.csv");
    fs::write(&strange, "run_id,invalid\nnot-here,gone\n").expect("a file");
    let output = other.stamina(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not-here is not in this library"));
    fs::write(&strange, "a,b\n1,2\n").expect("a file");
    let output = other.stamina(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it has no column run_id"));
}
