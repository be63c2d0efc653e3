use std::time::{Duration, SystemTime};

use sandbox::Process;

use super::logs::TAIL;
use super::*;
use crate::control::ControlRequest;
use crate::state::{PlannedEpisode, RunHarness};

fn seconds_ago(seconds: u64) -> String {
    model::timestamp::to_the_millisecond(SystemTime::now() - Duration::from_secs(seconds))
}

fn run_file(folder: &Path) -> RunFile {
    let values = ["agent=MOCK".to_owned(), format!("output_dir={}", folder.display())];
    let settings = crate::settings::resolve(&[], &values).unwrap();
    let word = |word: &str| word.to_owned();
    let harness =
        RunHarness { name: word("mock"), title: word("Mock"), version: word("1"), image: word("i") };
    let planned = |n: u32, turns| PlannedEpisode { name: format!("scenario_{n}"), scenario: n, turns };
    RunFile::new(settings, harness, vec![planned(0, 10), planned(1, 4)], None)
}

fn request(episode: &str, time: String, faults: Vec<u16>) -> String {
    let key = gateway::AttemptKey { episode: episode.to_owned(), turn: 1, attempt: 1 };
    let record = gateway::Record {
        key,
        at: time,
        route: "POST /v1/chat/completions".to_owned(),
        seconds: 1.0,
        status: 200,
        faults,
        number: 1,
        ..gateway::Record::default()
    };
    serde_json::to_string(&record).unwrap() + "\n"
}

#[test]
fn a_run_is_read_from_its_folder_alone() {
    let begun = std::time::Instant::now();
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder().join("episodes")).unwrap();
    let mut run = run_file(room.path());
    run.part_started_at = seconds_ago(1000);
    run.write(&paths).unwrap();
    let episode = EpisodeFile {
        shown: LiveEpisode {
            phase: Phase::Agent,
            turn: 5,
            attempt: 1,
            cells: vec![model::TurnState::Passed; 4],
            seconds: 300.0,
            last_event_at: Some(seconds_ago(900)),
            ..LiveEpisode::queued("scenario_0")
        },
        at: seconds_ago(100),
        retries: 0,
        repeats: crate::dropped_attempt::Repeats::default(),
        log: AgentLog::default(),
    };
    disk::write_json(&paths.episode_file("scenario_0"), &episode, disk::Durability::Buffered).unwrap();
    let mut log: String = (0..9).map(|n| request("scenario_0", seconds_ago(990 - n * 10), vec![])).collect();
    log.push_str(&request("scenario_0", seconds_ago(880), vec![429]));
    log.push_str(&request("scenario_1", seconds_ago(20), vec![429, 0]));
    let timed = r#""tokens":{"input":3100,"cached":100,"output":180},"stream":{"first":20.0,"rest":2.0}"#;
    let untimed = r#""tokens":{"input":null,"cached":null,"output":null}"#;
    let streamed = request("scenario_1", seconds_ago(15), vec![]).replace(untimed, timed);
    assert!(streamed.contains(timed), "{streamed}");
    log.push_str(&streamed);
    std::fs::write(paths.gateway_log(), log + "{broken").unwrap();

    let live = read(room.path()).unwrap();
    // Times are written in whole seconds, and grow while this test runs.
    let slack = 1.0 + begun.elapsed().as_secs_f64();
    assert_eq!(live.state, RunState::Running);
    assert_eq!((live.turns, live.agent.as_str(), live.simulated), (10, "mock", true));
    assert_eq!(live.faults, [(0, 1), (429, 1)], "older ones do not count");
    let [prompt, answer] = [150.0, 90.0].map(|speed| Some(gateway::Speed { median: speed, p10: speed }));
    assert_eq!(live.tokens_per_second, gateway::TokensPerSecond { prompt, answer });
    let gap = live.usual_gap.unwrap();
    assert!((9.0..=11.0).contains(&gap), "{gap}");
    let planned: Vec<u32> = live.episodes.iter().map(|episode| episode.turns).collect();
    assert_eq!(planned, [10, 4], "each has its own");
    let shown = &live.episodes[0];
    assert!((shown.seconds - 400.0).abs() <= slack, "{}", shown.seconds);
    assert!((shown.eta_seconds.unwrap() - 600.0).abs() <= 2.0 * slack);
    assert_eq!(shown.stuck.as_deref(), Some("No sign of life for 15 min; one usually comes every 10 s."));
    assert_eq!(live.episodes[1], LiveEpisode { turns: 4, ..LiveEpisode::queued("scenario_1") });

    crate::control::write(room.path(), &ControlRequest { pause: true, ..ControlRequest::default() }).unwrap();
    assert_eq!(read(room.path()).unwrap().state, RunState::Paused);
    crate::control::write(room.path(), &ControlRequest { stop: true, ..ControlRequest::default() }).unwrap();
    assert_eq!(read(room.path()).unwrap().state, RunState::Stopping);

    // The same id, and another start.
    let owner = serde_json::to_string(&Process::current()).unwrap();
    let mut parts: Vec<&str> = owner.split(':').collect();
    parts[1] = "1";
    run.owner = serde_json::from_str(&parts.join(":")).unwrap();
    run.write(&paths).unwrap();
    let lost = read(room.path()).unwrap();
    assert_eq!((lost.state, lost.episodes[0].phase), (RunState::Lost, Phase::Queued));
    assert_eq!(lost.episodes[0].stuck, None);
    run.finish = Some(crate::Finish::Finished);
    run.write(&paths).unwrap();
    assert_eq!(read(room.path()).unwrap().state, RunState::Ended { finish: crate::Finish::Finished });
}

#[test]
fn a_run_that_its_living_process_has_let_go_of_is_lost() {
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder()).unwrap();
    let settings = crate::settings::resolve(&[], &["agent=MOCK", "output_dir=x"].map(str::to_owned)).unwrap();
    let named = RunHarness {
        name: "mock".to_owned(),
        title: "Mock".to_owned(),
        version: "1".to_owned(),
        image: "stamina/base:1".to_owned(),
    };
    let mut run = RunFile::new(settings, named, Vec::new(), None);
    run.part_started_at = seconds_ago(1000);
    run.write(&paths).unwrap();
    let begun = std::time::Instant::now();
    let held = crate::state::Lock::take(&paths).unwrap();
    assert_eq!(read(room.path()).unwrap().state, RunState::Running);
    drop(held);
    let lost = read(room.path()).unwrap();
    assert_eq!(lost.state, RunState::Lost, "it could not be written down how it ended");
    assert!(lost.seconds <= 1.0 + begun.elapsed().as_secs_f64(), "nobody plays it: {}", lost.seconds);
    // Whoever continues it holds it again, and counts nothing of the time in between.
    let _held = crate::state::Lock::take(&paths).unwrap();
    assert_eq!(read(room.path()).unwrap().state, RunState::Running);
    assert!(live_run(&paths, run, false).seconds <= 1.0 + begun.elapsed().as_secs_f64());
}

#[test]
fn a_request_of_a_quiet_episode_is_found_behind_those_of_busy_ones() {
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder()).unwrap();
    let begun = |episode: &str, number: u64, time: String| {
        let key = gateway::AttemptKey { episode: episode.to_owned(), turn: 1, attempt: 1 };
        serde_json::to_string(&gateway::RequestStart {
            number,
            key,
            at: time,
            guess: gateway::Guess::default(),
        })
        .unwrap()
            + "\n"
    };
    let mut log = begun("scenario_9", 1, seconds_ago(700)) + &begun("scenario_0", 1, seconds_ago(500));
    let busy = request("scenario_1", seconds_ago(100), vec![]);
    while log.len() < 3 << 20 {
        log.push_str(&busy);
    }
    std::fs::write(paths.gateway_log(), &log).unwrap();
    let (ended, open, _) = requests(&paths, &seconds_ago(800), &mut Problems::default());
    assert!(open.contains_key("scenario_0"), "{open:?}");
    assert!(ended.len() * busy.len() > 2 << 20);
    // What is older than what is looked for need not be read.
    let old = request("scenario_1", seconds_ago(700), vec![]);
    let log: String = begun("scenario_0", 1, seconds_ago(790)) + &old.repeat((1 << 20) / old.len() + 1);
    std::fs::write(paths.gateway_log(), &log).unwrap();
    assert!(
        requests(&paths, &seconds_ago(800), &mut Problems::default()).0.len() * old.len() <= TAIL.0 as usize
    );
}

#[test]
fn a_folder_without_a_run_says_so() {
    let room = tempfile::tempdir().unwrap();
    let error = read(room.path()).unwrap_err();
    assert_eq!(error.reason(), "there is no .stamina/run.json");
    // The folder stands in the error once, whatever is wrong with the record.
    std::fs::create_dir_all(room.path().join(".stamina")).unwrap();
    std::fs::write(room.path().join(".stamina/run.json"), "{").unwrap();
    let error = read(room.path()).unwrap_err();
    let folder = room.path().display().to_string();
    assert!(
        error.reason().starts_with(".stamina/run.json: ") && !error.reason().contains(&folder),
        "{error}"
    );
    assert_eq!(error.to_string().matches(&folder).count(), 1, "{error}");
}

#[test]
fn what_comes_several_times_a_second_does_not_come_every_0_seconds() {
    let silent = LiveEpisode {
        phase: Phase::Agent,
        last_event_at: Some(seconds_ago(4000)),
        ..LiveEpisode::queued("scenario_0")
    };
    for (gap, interval) in [(0.0, "every 1 s"), (0.004, "every 1 s"), (0.49, "every 1 s"), (2.4, "every 2 s")]
    {
        let sentence = stuck(&silent, Some(gap), None).unwrap();
        assert!(sentence.contains(interval) && !sentence.contains("every 0 s"), "{gap}: {sentence}");
    }
    assert_eq!(stuck(&silent, None, None).unwrap(), "No sign of life for 67 min.");
}

#[test]
fn an_endpoint_that_keeps_an_episode_waiting_is_named() {
    let waiting = LiveEpisode {
        phase: Phase::Waiting,
        now: Some("429 from the endpoint, try 3 of 6".to_owned()),
        last_event_at: Some(seconds_ago(660)),
        ..LiveEpisode::queued("scenario_0")
    };
    assert_eq!(
        stuck(&waiting, Some(10.0), Some(&seconds_ago(900))).unwrap(),
        "It has waited for 15 min: 429 from the endpoint, try 3 of 6."
    );
    let silent = LiveEpisode { phase: Phase::Agent, now: Some("npm test".to_owned()), ..waiting };
    assert_eq!(
        stuck(&silent, Some(10.0), Some(&seconds_ago(600))).unwrap(),
        "The model's endpoint has not answered a request for 10 min."
    );
}

#[test]
fn faults_of_a_request_that_is_still_tried_are_counted() {
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder()).unwrap();
    run_file(room.path()).write(&paths).unwrap();
    let key = gateway::AttemptKey { episode: "scenario_0".to_owned(), turn: 1, attempt: 1 };
    let line = |value: serde_json::Value| value.to_string() + "\n";
    let fault = |fault: u16, number: u64, time: String| {
        let faulted = gateway::RequestFault { fault, key: key.clone(), at: time, number };
        line(serde_json::to_value(faulted).unwrap())
    };
    let begun = gateway::RequestStart {
        number: 2,
        key: key.clone(),
        at: seconds_ago(900),
        guess: gateway::Guess::default(),
    };
    let log = [
        // The first has ended: its fault stands in both lines.
        fault(503, 1, seconds_ago(950)),
        request("scenario_0", seconds_ago(960), vec![503]),
        line(serde_json::to_value(begun).unwrap()),
        fault(429, 2, seconds_ago(700)),
        fault(429, 2, seconds_ago(500)),
        fault(0, 2, seconds_ago(20)),
    ];
    std::fs::write(paths.gateway_log(), log.concat()).unwrap();
    assert_eq!(read(room.path()).unwrap().faults, [(0, 1), (429, 1)]);
}

/// What a killed part has left without an end is with nobody any more, whatever the part that goes on asks.
#[test]
fn requests_of_a_part_that_was_killed_are_not_open() {
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder()).unwrap();
    let key = gateway::AttemptKey { episode: "scenario_0".to_owned(), turn: 1, attempt: 1 };
    let begun = |number: u64, time: String| {
        let begun =
            gateway::RequestStart { number, key: key.clone(), at: time, guess: gateway::Guess::default() };
        serde_json::to_string(&begun).unwrap() + "\n"
    };
    let (part, now) = (seconds_ago(100), seconds_ago(50));
    std::fs::write(paths.gateway_log(), begun(7, seconds_ago(2000)) + &begun(1, now.clone())).unwrap();
    assert_eq!(requests(&paths, &part, &mut Problems::default()).1, [("scenario_0".to_owned(), now)].into());
    std::fs::write(paths.gateway_log(), begun(7, seconds_ago(2000))).unwrap();
    assert_eq!(requests(&paths, &part, &mut Problems::default()).1.len(), 0);
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn what_is_kept_of_an_episodes_file_is_bounded() {
    let room = tempfile::tempdir().unwrap();
    let path = files::confined_path::resolved(room.path()).join("scenario_0.json");
    let file = |characters: usize, cells: usize| EpisodeFile {
        shown: LiveEpisode {
            title: Some("x".repeat(characters)),
            cells: vec![model::TurnState::Passed; cells],
            ..LiveEpisode::queued("scenario_0")
        },
        at: seconds_ago(1),
        log: AgentLog::default(),
        retries: 3,
        repeats: crate::dropped_attempt::Repeats::default(),
    };
    std::fs::write(&path, serde_json::to_vec(&file(100_000, 5000)).unwrap()).unwrap();
    let read = EpisodeFile::read(&path).unwrap().unwrap();
    let title = read.shown.title.unwrap();
    assert_eq!((title.len(), read.shown.cells.len(), read.retries), (LONGEST_TEXT, MOST_TURNS as usize, 3));
    std::fs::write(&path, serde_json::to_vec(&file(300_000, 0)).unwrap()).unwrap();
    EpisodeFile::read(&path).unwrap_err();
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn a_record_that_cannot_be_read_is_named_and_nothing_of_it_is_counted() {
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder().join("episodes")).unwrap();
    let mut run = run_file(room.path());
    run.write(&paths).unwrap();
    std::fs::write(paths.gateway_log(), request("scenario_0", seconds_ago(20), vec![]) + "{\"begun").unwrap();
    let killed = "{\"event\": \"turn\", \"episode\": \"scen\n";
    std::fs::write(paths.events(), format!("{killed}{{\"of\": \"a later version\"}}\n\n")).unwrap();
    let whole = "what is not there yet, is just being written, or was when its process was killed";
    assert_eq!(read(room.path()).unwrap().problems, [""; 0], "{whole}");
    run.finish = Some(crate::Finish::Finished);
    run.write(&paths).unwrap();

    std::fs::write(paths.episode_file("scenario_0"), vec![0; 400_000]).unwrap();
    let pipe = paths.episode_file("scenario_1");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(paths.stamina_folder().join("control.json"), "{").unwrap();
    std::fs::write(paths.events(), vec![0; 100]).unwrap();
    std::fs::write(paths.gateway_log(), "\u{1b}]0;x\n{broken\n").unwrap();
    let live = read(room.path()).unwrap();
    assert_eq!(live.state, RunState::Ended { finish: crate::Finish::Finished });
    let phases: Vec<Phase> = live.episodes.iter().map(|episode| episode.phase).collect();
    assert_eq!(phases, [Phase::Unknown, Phase::Unknown], "neither waits for its turn");
    let about: Vec<&str> = live.problems.iter().filter_map(|problem| problem.split(": ").next()).collect();
    assert_eq!(
        about,
        [
            ".stamina/control.json cannot be read",
            ".stamina/gateway.jsonl cannot be read in full",
            ".stamina/events.jsonl cannot be read in full",
            ".stamina/episodes/scenario_0.json cannot be read",
            ".stamina/episodes/scenario_1.json cannot be read",
        ],
        "{:?}",
        live.problems
    );
    assert!(live.problems[1].ends_with("2 lines at its end hold no JSON"), "{:?}", live.problems);
    assert!(live.problems[2].ends_with("1 line at its end holds no JSON"), "{:?}", live.problems);
    // A giant without lines, and a record of texts that steer a terminal.
    std::fs::File::create(paths.events()).unwrap().set_len(64 << 30).unwrap();
    std::fs::write(paths.stamina_folder().join("control.json"), "{\"pause\": \"\u{202e}\u{1b}[2J\"}")
        .unwrap();
    let live = read(room.path()).unwrap();
    assert!(live.problems.iter().any(|problem| problem.contains("events.jsonl")), "{:?}", live.problems);
    assert!(!live.problems.concat().contains(model::is_display_control), "{:?}", live.problems);
}

#[test]
fn an_episode_without_a_record_is_unknown_once_its_run_has_finished() {
    let room = tempfile::tempdir().unwrap();
    let paths = RunPaths::new(room.path());
    std::fs::create_dir_all(paths.stamina_folder()).unwrap();
    let mut run = run_file(room.path());
    let mut read_with = |finish: Option<crate::Finish>| {
        run.finish = finish;
        run.write(&paths).unwrap();
        let live = read(room.path()).unwrap();
        let phases: Vec<Phase> = live.episodes.iter().map(|episode| episode.phase).collect();
        (phases, live.problems)
    };
    for unfinished in [None, Some(crate::Finish::Stopped)] {
        assert_eq!(read_with(unfinished), (vec![Phase::Queued; 2], vec![]));
    }
    let (phases, problems) = read_with(Some(crate::Finish::Finished));
    assert_eq!(phases, [Phase::Unknown, Phase::Unknown]);
    assert_eq!(
        problems,
        [".stamina/episodes/scenario_0.json is missing", ".stamina/episodes/scenario_1.json is missing"]
    );
}

#[test]
fn one_test_is_in_the_singular() {
    assert_eq!(tests_passed(0, 1), "0 of 1 test passed");
    assert_eq!(tests_passed(3, 4), "3 of 4 tests passed");
}
