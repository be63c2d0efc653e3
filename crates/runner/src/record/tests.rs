//! What is written is read back by the importer, without a warning.

use std::path::Path;

use ingest::format_trait::{Format as _, Report, Sniff};
use ingest::formats::staminabench::StaminaBench;
use model::{
    Attempt, EndReason, Episode, Run, Step, StepKind, TestOutcome, Tokens, ToolCall, TurnState, Verdict,
};
use validation::client::{CaseResult, CaseStatus};

use super::*;
use crate::scenarios::Scenarios;
use crate::settings::RunSettings;
use crate::state::{RunFile, RunHarness};

#[path = "../../tests/kept/mod.rs"]
mod kept;

use kept::KeptIfFailed;

fn ingested(folder: &Path) -> (Run, Vec<Episode>, Vec<model::Warning>) {
    let tree = files::Tree::open(folder).unwrap();
    assert_eq!(StaminaBench.sniff(&tree, ""), Sniff::Recognized);
    let mut report = Report::default();
    let survey = StaminaBench.survey(&tree, "", &mut report);
    let mut episodes = Vec::new();
    for part in &survey.parts {
        episodes.extend(StaminaBench.read(&tree, "", part, &mut report).into_iter().map(|read| read.episode));
    }
    report.warnings.extend(tree.warnings());
    (survey.runs.into_iter().next().unwrap(), episodes, report.warnings)
}

fn settings(folder: &Path) -> RunSettings {
    let values = [
        "agent=MOCK".to_owned(),
        "mock.model_id=some/model".to_owned(),
        format!("output_dir={}", folder.display()),
        "restful_server_gen_iterative.n_scenarios=1".to_owned(),
        "restful_server_gen_iterative.n_turns=3".to_owned(),
    ];
    crate::settings::resolve(&[], &values).unwrap()
}

/// Verdicts of cases: the failing ones are every third, those without an answer every seventh.
fn cases(turn: &TurnData, failing: bool) -> Vec<CaseResult> {
    let result = |(n, case): (usize, &scenario::suite::Case)| {
        let status = match n {
            _ if !failing => CaseStatus::Passed,
            n if n % 7 == 0 => CaseStatus::Error,
            n if n % 3 == 0 => CaseStatus::Failed,
            _ => CaseStatus::Passed,
        };
        let message = (status != CaseStatus::Passed).then(|| {
            format!(
                "Step 1: GET /api/things/{n} \u{2026}: expected status 200, got 500 == FAILED [ 10%] — {}",
                case.id
            )
        });
        CaseResult { id: case.id.clone(), status, message }
    };
    turn.suite.cases.iter().enumerate().map(result).collect()
}

fn step(kind: StepKind, text: &str) -> Step {
    let call = ToolCall {
        name: "bash".to_owned(),
        summary: "ls".to_owned(),
        arguments: "{\"command\": \"ls\"}".to_owned(),
        result: Some("a\nb".to_owned()),
        result_cut: 0,
        is_error: Some(false),
        seconds: Some(0.5),
    };
    Step {
        index: 1,
        kind,
        text: text.to_owned(),
        text_cut: 0,
        reasoning: None,
        tool_calls: if kind == StepKind::Agent { vec![call] } else { Vec::new() },
        tokens: Some(Tokens { input: Some(10), cached: None, output: Some(2) }),
        cost_usd: None,
        at: None,
    }
}

fn record(attempt: u32, cases: Option<&[CaseResult]>, files: AttemptFiles) -> AttemptRecord {
    let passed = cases.map(|cases| cases.iter().filter(|c| c.status == CaseStatus::Passed).count() as u32);
    let total = cases.map(|cases| cases.len() as u32);
    let verdict = match (passed, total) {
        (Some(passed), Some(total)) if passed == total => Verdict::Passed,
        (Some(_), _) => Verdict::Failed,
        _ => Verdict::Error,
    };
    AttemptRecord {
        attempt,
        verdict,
        success: verdict == Verdict::Passed,
        passed,
        total,
        outcomes: cases.map(|cases| cases.iter().map(|case| pytest::letter(case.status)).collect()),
        end_reason: match verdict {
            Verdict::Passed => None,
            Verdict::Failed => Some(EndReason::TestsFailed),
            _ => Some(EndReason::BuildFailed),
        },
        tokens: Tokens { input: Some(100), cached: Some(40), output: Some(7) },
        cost_usd: Some(0.25),
        tool_calls: Some(1),
        started_at: crate::clock::now(),
        finished_at: crate::clock::now(),
        agent_seconds: Some(1.5),
        test_seconds: cases.map(|_| 0.5),
        files,
        own_seconds: Some(0.1),
        model_requests: Some(3),
        ..AttemptRecord::default()
    }
}

/// Plays an episode by hand: turn 1 passes, turn 2 fails twice (once without a server) and passes, turn 3 fails.
fn played(results: &Path) -> (RunFile, Vec<TurnRecord>) {
    let mut settings = settings(results);
    let (scenarios, planned) = Scenarios::plan(&mut settings).unwrap();
    let word = |word: &str| word.to_owned();
    let harness =
        RunHarness { name: word("mock"), title: word("Mock"), version: word("1"), image: word("i") };
    let run = RunFile::new(settings, harness, planned, None);
    std::fs::write(results.join("config.yaml"), run.settings.to_yaml()).unwrap();
    let folder = EpisodeFolder::new(results.join("scenario_0"), Arc::default()).unwrap();
    let workspace = results.join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(workspace.join("run.sh"), "exec true\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", workspace.join("link")).unwrap();

    let mut trajectory = Trajectory::new(folder.path(), "scenario_0", 3, 10);
    let mut turns = scenarios.turns(0);
    let (mut call, mut written) = (0, Vec::new());
    for (turn, attempts) in
        [(1, [Some(false)].as_slice()), (2, &[Some(true), None, Some(false)]), (3, &[Some(true)])]
    {
        let data = turns.read(turn).unwrap();
        trajectory.head.title = Some(data.about.clone());
        let files = folder.turn(&data).unwrap();
        let title = Some(data.title.clone());
        trajectory.begin(TurnRecord::new(turn, title, &data.request, data.tests.clone(), files));
        for (index, failing) in attempts.iter().enumerate() {
            call += 1;
            let attempt = index as u32 + 1;
            let cases = failing.map(|failing| cases(&data, failing));
            let log = cases.as_deref().map(|cases| pytest::write(turn, cases, 0.5));
            let left = AttemptOutput {
                turn,
                attempt,
                call,
                stdout: b"out",
                stderr: b"err \xff",
                prompt: "do it",
                steps: &[step(StepKind::Agent, "I do"), step(StepKind::Tool, "x")],
                server_log: Some(b"listening"),
                test_output: log.as_deref(),
            };
            let mut files = folder.attempt(&left).unwrap();
            let kept = folder.code(turn, attempt, &workspace, None).unwrap().unwrap();
            files.code = Some(kept.folder);
            let left_out = Some(kept.left_out.names);
            let record = AttemptRecord { left_out, ..record(attempt, cases.as_deref(), files) };
            trajectory.current.as_mut().unwrap().attempts.push(record);
            trajectory.write().unwrap();
        }
        written.push(trajectory.current.clone().unwrap());
    }
    trajectory.end.finished_at = Some(crate::clock::now());
    trajectory.end.end_reason = Some(EndReason::TestsFailed);
    trajectory.write().unwrap();
    copy::remove(&workspace).unwrap();
    (run, written)
}

fn assert_same(read: &Attempt, written: &AttemptRecord, tests: &[String]) {
    assert_eq!(
        (read.number, read.verdict, read.end_reason),
        (written.attempt, written.verdict, written.end_reason)
    );
    assert_eq!((read.passed, read.total), (written.passed, written.total));
    assert_eq!(read.extra.get("left_out"), Some(&serde_json::json!(["link"])));
    assert_eq!(
        (read.tokens, read.cost_usd, read.tool_calls),
        (written.tokens, written.cost_usd, written.tool_calls)
    );
    assert_eq!(read.timing.started_at.as_ref(), Some(&written.started_at));
    assert_eq!(
        (read.timing.agent_seconds, read.timing.test_seconds),
        (written.agent_seconds, written.test_seconds)
    );
    let Some(outcomes) = &written.outcomes else { return };
    assert_eq!(read.tests.len(), tests.len());
    for ((test, letter), id) in read.tests.iter().zip(outcomes.chars()).zip(tests) {
        assert_eq!(&test.id, id);
        let outcome = match letter {
            '.' => TestOutcome::Passed,
            'F' => TestOutcome::Failed,
            _ => TestOutcome::Error,
        };
        assert_eq!(test.outcome, outcome, "{id}");
        if test.is_failing() {
            let message = test.message.as_deref().unwrap_or_default();
            assert!(message.contains("expected status 200, got 500"), "{id}: {message}");
        }
    }
}

#[test]
fn what_is_written_is_read_back_without_a_warning() {
    let room = KeptIfFailed::new();
    let (run, written) = played(room.path());
    let trajectory = Trajectory::read(&room.path().join("scenario_0")).unwrap().unwrap();
    let scored = report::EpisodeScore {
        name: "scenario_0".to_owned(),
        planned_turns: 3,
        turns: trajectory.summaries(),
        end_reason: trajectory.end.end_reason,
    };
    report::write(room.path(), &run, &[&scored]).unwrap();

    let (read_run, episodes, warnings) = ingested(room.path());
    assert_eq!(warnings, []);
    assert_eq!((read_run.harness.as_deref(), read_run.model.as_deref()), (Some("mock"), Some("some/model")));
    assert!(read_run.simulated);
    let [episode] = episodes.as_slice() else { panic!("{} episodes", episodes.len()) };
    assert_eq!((episode.planned_turns, episode.stamina()), (Some(3), 2));
    assert_eq!(episode.end(), (Some(3), EndReason::TestsFailed));
    let states: Vec<TurnState> = episode.turns.iter().map(model::Turn::state).collect();
    assert_eq!(states, [TurnState::Passed, TurnState::PassedAfterRetries, TurnState::Failed]);
    for (read, written) in episode.turns.iter().zip(&written) {
        // A title is read without the marks of Markdown.
        assert_eq!(read.title, written.title.as_ref().map(|title| title.replace('`', "")));
        assert_eq!(read.attempts.len(), written.attempts.len());
        for (attempt, record) in read.attempts.iter().zip(&written.attempts) {
            assert_same(attempt, record, &written.tests);
            let transcript =
                attempt.artifacts.iter().find(|a| a.kind == model::ArtifactKind::Transcript).unwrap();
            let tree = files::Tree::open(room.path()).unwrap();
            let steps = StaminaBench.transcript(&tree, transcript).unwrap().steps;
            assert_eq!((steps.len(), steps[0].kind, steps[0].text.as_str()), (3, StepKind::User, "do it"));
            assert_eq!(steps[1].tool_calls[0].result.as_deref(), Some("a\nb"));
        }
    }
    let code = room.path().join("scenario_0/agent_code/turn_2_attempt_3");
    assert!(code.join("run.sh").exists() && !code.join("link").exists());
}

#[test]
fn the_speed_of_the_endpoint_is_reported_when_a_run_is_over() {
    let room = KeptIfFailed::new();
    let (mut run, _) = played(room.path());
    let log = crate::state::RunPaths::new(room.path()).gateway_log();
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let request = |input: u64, output: u64| {
        serde_json::json!({
            "episode": "scenario_0", "turn": 1, "attempt": 1, "at": "2026-11-27T08:00:00Z",
            "route": "POST /v1/chat/completions", "model": "m",
            "tokens": { "input": input, "cached": 100, "output": output },
            "cost_usd": null, "seconds": 30.0, "status": 200, "retries": 0, "number": 1,
            "stream": { "first": 20.0, "rest": 2.0 },
        })
    };
    std::fs::write(&log, format!("{}\nnonsense\n{}\n", request(3100, 180), request(5100, 380))).unwrap();
    let reported = |run: &RunFile| {
        report::write(room.path(), run, &[]).unwrap();
        let text = std::fs::read(room.path().join("report.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()["run"]["tokens_per_second"].clone()
    };
    assert!(reported(&run).is_null(), "the log still grows");
    run.finish = Some(crate::Finish::Finished);
    let speed = reported(&run);
    let rate = |part: &str, figure: &str| (speed[part][figure].as_f64().unwrap() * 1000.0).round() as u64;
    assert_eq!([rate("prompt", "median"), rate("prompt", "p10")], [200_000, 160_000]);
    assert_eq!([rate("answer", "median"), rate("answer", "p10")], [140_000, 100_000]);
    let (read_run, ..) = ingested(room.path());
    let figures: Vec<&str> = read_run.reported.figures.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["prompt.median", "prompt.p10", "answer.median", "answer.p10"] {
        assert!(figures.contains(&&*format!("stamina_lab.tokens_per_second.{name}")), "{figures:?}");
    }
    std::fs::write(&log, "").unwrap();
    assert!(reported(&run).is_null(), "unknown, not 0");
}

#[test]
fn a_trajectory_is_gone_on_with_where_it_was_left() {
    let room = KeptIfFailed::new();
    let (_, written) = played(room.path());
    let folder = room.path().join("scenario_0");
    let whole = std::fs::read(folder.join("trajectory.json")).unwrap();
    let mut again = Trajectory::read(&folder).unwrap().unwrap();
    assert_eq!((again.last(), again.stamina()), (Some((3, 1)), 2));
    assert_eq!(again.current.as_ref(), written.last());
    again.write().unwrap();
    assert_eq!(
        std::fs::read(folder.join("trajectory.json")).unwrap(),
        whole,
        "writing it again changes nothing"
    );
    again.current.as_mut().unwrap().attempts.pop();
    again.end = trajectory::End::default();
    again.write().unwrap();
    assert_eq!(Trajectory::read(&folder).unwrap().unwrap().summaries().len(), 2);

    // Left with a reason that a resume takes back, and resumed in a further turn.
    let mut again = Trajectory::read(&folder).unwrap().unwrap();
    again.end.end_reason = Some(EndReason::Cancelled);
    again.write().unwrap();
    let mut again = Trajectory::read(&folder).unwrap().unwrap();
    again.end = trajectory::End::default();
    again.begin(written[2].clone());
    again.write().unwrap();
    let read = Trajectory::read(&folder).unwrap().unwrap();
    assert_eq!((read.summaries().len(), read.current.as_ref()), (3, written.last()));

    for cut in [10, whole.len() / 2, whole.len() - 2] {
        std::fs::write(folder.join("trajectory.json"), &whole[..cut]).unwrap();
        let error = Trajectory::read(&folder).unwrap_err().to_string();
        assert!(error.contains("cannot be resumed"), "{error}");
    }
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn a_trajectory_of_more_turns_than_a_run_can_have_is_not_resumed() {
    let room = KeptIfFailed::new();
    let (_, written) = played(room.path());
    let folder = room.path().join("scenario_0");
    let path = folder.join("trajectory.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let mut turn = serde_json::to_value(&written[0]).unwrap();
    let mut line = |number: u32| {
        turn["turn"] = number.into();
        turn.to_string()
    };
    // The lines of the file are a head, turns and an end.
    let (head, rest) = whole.split_once('\n').unwrap();
    let (_, end) = rest.rsplit_once("\n],\n").unwrap();
    let mut read = |turns: &mut dyn Iterator<Item = u32>| {
        let turns = turns.map(&mut line).collect::<Vec<_>>().join(",\n");
        std::fs::write(&path, format!("{head}\n{turns}\n],\n{end}")).unwrap();
        Trajectory::read(&folder)
    };
    assert_eq!(read(&mut (1..=crate::state::MOST_TURNS)).unwrap().unwrap().summaries().len(), 1000);
    let error = read(&mut (1..=crate::state::MOST_TURNS + 1)).unwrap_err().to_string();
    assert!(error.contains("more than 1000 turns"), "{error}");
    // A resume counts on from the last one.
    for turns in [vec![u32::MAX], vec![0], vec![1, 3], vec![1, 1], vec![2, 1]] {
        let error = read(&mut turns.iter().copied()).unwrap_err().to_string();
        assert!(error.contains("stands where turn"), "{turns:?}: {error}");
    }
}

#[test]
// docs/security.md: The records of a run (`.stamina/`)
fn a_turn_of_more_values_than_a_run_can_have_is_not_resumed() {
    let room = KeptIfFailed::new();
    let (_, written) = played(room.path());
    let folder = room.path().join("scenario_0");
    let path = folder.join("trajectory.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = whole.split_once('\n').unwrap();
    let (_, end) = rest.rsplit_once("\n],\n").unwrap();
    let turn = serde_json::to_value(&written[0]).unwrap();
    let read = |tests: usize, attempts: usize| {
        let mut turn = turn.clone();
        turn["tests"] = vec![""; tests].into();
        turn["attempts"] = vec![turn["attempts"][0].clone(); attempts].into();
        std::fs::write(&path, format!("{head}\n{turn}\n],\n{end}")).unwrap();
        Trajectory::read(&folder).map(|read| read.is_some()).map_err(|error| error.to_string())
    };
    assert_eq!(read(200_000, 1000), Ok(true));
    let error = read(1, 1001).unwrap_err();
    assert!(error.contains("more than 1000 attempts"), "{error}");
    // Of a few bytes each; what they become would be ten times as large.
    for (tests, attempts) in [(400_000, 1), (1, 20_000)] {
        let error = read(tests, attempts).unwrap_err();
        assert!(error.contains("at most 400000 are read") || error.contains("breaks off"), "{error}");
    }
}

#[test]
fn the_latest_snapshots_are_kept() {
    let room = KeptIfFailed::new();
    let folder = EpisodeFolder::new(room.path().join("scenario_0"), Arc::default()).unwrap();
    let workspace = room.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    for (turn, attempt) in [(1, 1), (2, 1), (2, 2), (10, 1)] {
        assert!(folder.code(turn, attempt, &workspace, Some(2)).unwrap().is_some());
    }
    let mut left: Vec<_> = std::fs::read_dir(folder.path().join("agent_code"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["turn_10_attempt_1", "turn_2_attempt_2"]);
    assert_eq!(folder.code(11, 1, &workspace, Some(0)).unwrap(), None);
}

/// 100 turns × 1,500 tests: at the end a rewrite makes no more text than at the begin. What was written before is copied from
/// the file, which shows in what was changed there meanwhile. (How long an attempt takes is measured by `npm run bench`.)
#[test]
fn rewriting_stays_cheap() {
    let room = KeptIfFailed::new();
    let path = room.path().join("trajectory.json");
    let mut trajectory = Trajectory::new(room.path(), "scenario_0", 100, 10);
    for turn in 1..=100 {
        let tests = (0..1500)
            .map(|n| pytest::test_id(turn, &format!("repair_orders.update.with_long_name.n{n}")))
            .collect();
        let name = |folder: &str| format!("{folder}/turn_{turn}.x");
        let files =
            TurnFiles { request: name("r"), reference: name("g"), suite: name("s"), schema: name("y") };
        trajectory.begin(TurnRecord::new(turn, None, &format!("request {turn:03}"), tests, files));
        let mut attempt = record(1, None, AttemptFiles::default());
        attempt.outcomes = Some(".".repeat(1500));
        trajectory.current.as_mut().unwrap().attempts.push(attempt);
        trajectory.write().unwrap();
        // As long as before, so that all that stands behind it stays where it was.
        if turn % 25 == 0 {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace(&format!("request {turn:03}"), "another one")).unwrap();
        }
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.len() > 8_000_000, "{}", text.len());
    assert_eq!(text.matches("\"request ").count(), 96);
    assert_eq!(text.matches("\"another one\"").count(), 4, "turns that are decided are not made anew");
    assert_eq!(Trajectory::read(room.path()).unwrap().unwrap().summaries().len(), 100);
}

/// An agent may make paths that no call of the system takes.
#[test]
fn values_are_taken_out_of_code_whose_paths_are_too_long() {
    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
    let temp = KeptIfFailed::new();
    let folder = temp.path().join("code");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("app.py"), "KEY = 'x9x9x9x9x9x9x9x9'").unwrap();
    let name = "d".repeat(250);
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    let mut open_folder = open(&folder, flags, Mode::empty()).unwrap();
    for _ in 0..20 {
        mkdirat(&open_folder, &name, Mode::RWXU).unwrap();
        open_folder = openat(&open_folder, &name, flags, Mode::empty()).unwrap();
    }
    let forwarded = ("MY_KEY".to_owned(), "x9x9x9x9x9x9x9x9".to_owned());
    let settings = crate::settings::resolve(&[], &["agent=MOCK", "output_dir=x"].map(str::to_owned)).unwrap();
    let scrub = SecretFilter::new(&[forwarded], &settings);
    let mut copied = CopyReport::default();
    scrubbed(&folder, &scrub, &mut copied).unwrap();
    assert_eq!((copied.left_out, copied.named.len()), (1, 1));
    assert_eq!(std::fs::read_to_string(folder.join("app.py")).unwrap(), "KEY = '[secret]'");
    copy::remove(&folder).unwrap();
    assert!(!folder.exists());
}

/// Names of files are an agent's words, too.
#[test]
fn values_are_taken_out_of_names_of_files() {
    let temp = KeptIfFailed::new();
    let value = "x9x9x9x9x9x9x9x9";
    let folder = temp.path().join("code");
    std::fs::create_dir_all(folder.join(format!("a-{value}/{value}"))).unwrap();
    std::fs::write(folder.join(format!("a-{value}/{value}/{value}.py")), value).unwrap();
    std::fs::write(folder.join(format!("{value}.py")), "one").unwrap();
    std::fs::write(folder.join("[secret].py"), "other").unwrap();
    let settings = crate::settings::resolve(&[], &["agent=MOCK", "output_dir=x"].map(str::to_owned)).unwrap();
    let scrub = SecretFilter::new(&[("MY_KEY".to_owned(), value.to_owned())], &settings);
    scrubbed(&folder, &scrub, &mut CopyReport::default()).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("a-[secret]/[secret]/[secret].py"), "[secret]");
    assert_eq!((read("[secret].py").as_str(), read("[secret].py-2").as_str()), ("other", "one"));
}
