//! A withdrawn run stays visible with its mark and leaves whatever takes runs together.

mod app;
mod folders;

use std::fs;

use app::{Room, text};
use serde_json::Value;

/// A library with the two jobs of one agent and model.
struct Library(Room);

impl Library {
    fn with_two_runs() -> Self {
        let room = Room::new();
        room.ingest(&folders::fixtures().join("world/set-order"));
        Self(room)
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
    let own = library.0.json(&["survival", second]);
    assert_eq!(library.episodes_of_the_matrix(), 4);

    let refused = library.0.stamina(&["withdraw", second, "--reason", " "]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("withdrawn for a reason"));

    library.0.json(&["withdraw", second, "--reason", "wrong image"]);
    assert_eq!(library.marks(), [(first.clone(), None), (second.clone(), Some("wrong image".to_owned()))]);
    // Its own numbers stay.
    assert_eq!(library.0.json(&["survival", second]), own);
    assert_eq!(library.episodes_of_the_matrix(), 2);
    let matrix = library.0.json(&["matrix"]).to_string();
    assert!(matrix.contains("is withdrawn (wrong image), and not in this matrix."), "{matrix}");
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
    fs::write(&strange, "a,b\n1,2\n").expect("a file");
    let output = other.0.stamina(&["withdraw", "--from", strange.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("it has no column run_id"));
}
