//! A run is in the library while it plays, for commands in other terminals.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::app::{Gate, TestHome, text};
use crate::run::playing::Playing;
use crate::run::{refs, small, with_args};

/// Attempts of a run that the library shows.
fn attempts_shown(home: &TestHome, run: &str) -> usize {
    let shown = home.json(&["show", run]);
    let episodes = shown["episodes"].as_array().expect("episodes");
    let turns = episodes.iter().filter_map(|episode| episode["turns"].as_array()).flatten();
    turns.filter_map(|turn| turn["attempts"].as_array()).map(Vec::len).sum()
}

/// Asks other processes until one shows the only run with so many attempts. Gives the id of the run.
fn shown_with(home: &TestHome, attempts: usize) -> String {
    let begun = Instant::now();
    loop {
        if let [run] = home.run_ids().as_slice()
            && attempts_shown(home, run) == attempts
        {
            return run.clone();
        }
        assert!(begun.elapsed().as_secs() < 240, "not in four minutes: {attempts} attempts are shown");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn commands_in_another_terminal_see_a_run_while_it_plays() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 2);
    let mut playing = Playing::held(&home, &gate, &small(1, 6));
    playing.until("attempt");
    playing.until("attempt");
    let run = shown_with(&home, 2);
    let survival = home.json(&["survival", &run]);
    let rows = survival.as_array().expect("rows");
    assert_eq!((&rows[0]["turn"], &rows[0]["survival"]), (&Value::from(1), &Value::from(1.0)), "{survival}");
    gate.allow(4);
    playing.until("attempt");
    playing.until("attempt");
    assert_eq!(shown_with(&home, 4), run);
    assert_eq!(home.json(&["status", "results"])["state"]["state"], "running");

    gate.open();
    assert_eq!(playing.until("finished")["how"]["how"], "finished");
    assert_eq!(playing.code(), Some(0));
    assert_eq!((home.run_ids(), attempts_shown(&home, &run)), (vec![run.clone()], 6));
    let runs = home.json(&["runs"]);
    assert_eq!(runs[0]["warnings"], 0, "what was read of it half done leaves no warning");
}

/// It was opened a second time by itself when it was over, and was listed twice.
#[test]
fn a_run_in_an_opened_folder_is_in_the_library_once() {
    let home = TestHome::new();
    std::fs::create_dir(home.path("all")).expect("a folder");
    let play = |folder: &str, library: &str| {
        let args = with_args(small(1, 1), &[&format!("output_dir={folder}")]);
        let output =
            home.command(&refs(&args)).env("STAMINA_DB", home.path(library)).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    play("all/first", "other.sqlite");
    home.ingest(&home.path("all"));
    assert_eq!(home.run_ids().len(), 1);
    play("all/second", "library.sqlite");
    assert_eq!(home.run_ids().len(), 2);
    assert_eq!(home.json(&["sources"]).as_array().map(Vec::len), Some(1));
}
