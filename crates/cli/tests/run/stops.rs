//! A run is stopped by a signal, by its reader, by its terminal or from another one.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::app::{Gate, TestHome, text};
use crate::run::playing::Playing;
use crate::run::{attempts_of, events, refs, small};

/// Looks until it is so; panics where that takes minutes.
fn eventually(goal: &str, is_reached: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_reached() {
        assert!(begun.elapsed().as_secs() < 240, "not in four minutes: {goal}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_stops_a_run_and_a_resume_continues_it() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &small(1, 6));
    playing.until("attempt");
    playing.signal("INT");
    assert_eq!(playing.until("finished")["how"]["how"], "stopped");
    assert_eq!(playing.code(), Some(130));
    let state = home.json(&["status", "results"]);
    assert_eq!(
        (&state["state"]["state"], &state["state"]["finish"]["how"]),
        (&Value::from("ended"), &Value::from("stopped"))
    );
    // Nobody plays it, so there is nothing to stop.
    let stop = home.stamina(&["stop", "results"]);
    assert_eq!(stop.status.code(), Some(1));
    assert!(text(&stop.stderr).contains("Resume it"), "{}", text(&stop.stderr));

    let output = home.stamina(&["resume", "results", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answer = events(&output.stdout);
    assert_eq!((&answer[0]["event"], &answer[0]["resumed"]), (&Value::from("started"), &Value::from(true)));
    let expected: Vec<(u64, u64)> = (1..=6).map(|turn| (turn, 1)).collect();
    assert_eq!(attempts_of(&home.path("results")), expected);
}

#[test]
fn a_reader_that_exits_stops_the_run_and_a_resume_continues_it() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &small(1, 12));
    playing.until("attempt");
    playing.leave();
    // The end of the next attempt finds nobody who reads.
    gate.allow(2);
    assert_eq!(playing.code(), Some(130), "and not 0: it has not finished");
    let state = home.json(&["status", "results"]);
    assert_eq!(state["state"]["finish"]["how"], "stopped");
    let output = home.stamina(&["resume", "results", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(attempts_of(&home.path("results")).len(), 12);
}

#[test]
fn a_reader_that_reads_nothing_does_not_hold_up_the_stop() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 20);
    let mut command = home.command(&refs(&small(1, 30)));
    command.env("PATH", gate.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("stamina runs");
    let stdout = child.stdout.take().expect("its output");
    // It holds the events of about eight turns, and nobody takes one.
    rustix::pipe::fcntl_setpipe_size(&stdout, 4096).expect("a small pipe");
    let unread: Box<dyn std::io::BufRead> = Box::new(BufReader::new(stdout));
    let playing = Playing { child, lines: unread.lines() };
    let status = || home.json(&["status", "results"]);
    eventually("it has begun", || home.path("results/.stamina/run.json").exists());
    let decided = |run: &Value| -> usize {
        let episodes = run["episodes"].as_array().expect("episodes");
        episodes.iter().filter_map(|episode| episode["cells"].as_array()).map(Vec::len).sum()
    };
    eventually("fifteen turns", || decided(&status()) >= 15);
    playing.signal("INT");
    eventually("it is stopped", || status()["state"]["state"] == "ended");
    assert_eq!(playing.code(), Some(130), "what was told is still there to be read");
}

/// A run that another program starts, and whose agents wait at a gate.
fn begun_by(home: &TestHome, gate: &Gate, arguments_before: &[&str], args: &[String]) -> Playing {
    let mut stamina = home.command(&refs(args));
    stamina.env("PATH", gate.path());
    let mut command = Command::new(arguments_before[0]);
    command
        .args(&arguments_before[1..])
        .arg(stamina.get_program())
        .args(stamina.get_args())
        .stdin(Stdio::null());
    command.envs(stamina.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(stamina.get_current_dir().expect("a folder of its own"));
    Playing::spawn(&mut command)
}

#[test]
fn a_terminal_that_is_closed_stops_the_run_unless_it_was_told_to_live_on() {
    let home = TestHome::new();
    // These tests may themselves have been told to live on.
    let gate = Gate::new(&home, 1);
    let mut playing = begun_by(&home, &gate, &["env", "--default-signal=HUP"], &small(1, 40));
    playing.until("attempt");
    playing.signal("HUP");
    assert_eq!(playing.code(), Some(130));

    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = begun_by(&home, &gate, &["nohup"], &small(1, 3));
    playing.until("attempt");
    playing.signal("HUP");
    gate.open();
    assert_eq!(playing.until("finished")["how"]["how"], "finished");
    assert_eq!(playing.code(), Some(0));
}

#[test]
fn another_terminal_pauses_continues_and_stops() {
    let home = TestHome::new();
    let gate = Gate::new(&home, 1);
    let mut playing = Playing::held(&home, &gate, &small(1, 40));
    playing.until("attempt");
    let message = home.json(&["pause", "results"]);
    assert!(message["wish"].as_str().is_some_and(|wish| wish.starts_with("pausing")));
    home.json(&["pause", "results", "--continue"]);
    gate.allow(2);
    playing.until("attempt");
    let running = home.json(&["status", "results"]);
    assert_eq!(running["state"]["state"], "running");
    let answer = home.stamina(&["status", "results"]);
    let answer = text(&answer.stdout);
    assert!(answer.contains("simulated: running") && answer.contains("no cost (simulated)"), "{answer}");
    assert!(
        answer.contains(" of 40 turns decided, 0 of 1 episode over") && answer.contains("last event 20"),
        "{answer}"
    );
    assert!(!answer.contains("cost unknown"), "{answer}");
    home.json(&["stop", "results"]);
    assert_eq!(playing.code(), Some(130));
}
