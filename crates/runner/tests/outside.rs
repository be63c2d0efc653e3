//! What lies outside the agents: scenarios that are damaged, harnesses that cannot be called; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use model::EndReason;
use runner::{Event, Finish, OnEvent, RunError};
use scenario::pack::{Options, Pack, Part, Target, generate};

/// Ends of episodes as they come.
fn ends() -> (OnEvent, Arc<Mutex<BTreeMap<String, EndReason>>>) {
    let ends = Arc::new(Mutex::new(BTreeMap::new()));
    let kept_ends = ends.clone();
    let on_event: OnEvent = Arc::new(move |event| {
        if let Event::Episode { episode, end_reason, .. } = event {
            kept_ends.lock().unwrap().insert(episode.clone(), *end_reason);
        }
    });
    (on_event, ends)
}

fn trajectory(folder: &Path, episode: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join(episode).join("trajectory.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_cannot_be_read_ends_its_own_episode_and_no_other() {
    let room = tempfile::tempdir().unwrap();
    let (folder, pack) = (room.path().join("run"), room.path().join("pack"));
    let values = [
        "agent=MOCK".to_owned(),
        "use_docker=false".to_owned(),
        // Its model stops before it has written a file, so no server is needed.
        "oracle.mischief.give_up=1".to_owned(),
        "restful_server_gen_iterative.n_scenarios=2".to_owned(),
        "restful_server_gen_iterative.n_turns=1".to_owned(),
        "restful_server_gen_iterative.attempt_limit=1".to_owned(),
        format!("output_dir={}", folder.display()),
    ];
    let settings = runner::settings::resolve(&[], &values).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (target, sampler) = (Target::Folder(pack.clone()), scenario::sample::ProgrammaticSampler);
    generate(&settings.generation, &sampler, &target, &Options::default(), &|_| {}, &stop).unwrap();
    let suite = pack.join(Pack::open_path(&pack).unwrap().path(0, 1, Part::Suite).unwrap());
    let whole = std::fs::read(&suite).unwrap();
    std::fs::write(&suite, &whole[..whole.len() / 2]).unwrap();

    let mut values = values.to_vec();
    values.push(format!("scenarios_dir={}", pack.display()));
    let settings = runner::settings::resolve(&[], &values).unwrap();
    assert_eq!(runner::planned(&settings).unwrap(), [(0, 1), (1, 1)]);
    let (on_event, found) = ends();
    assert_eq!(runner::run(settings, on_event).await.unwrap(), Finish::Finished);
    let found = found.lock().unwrap().clone();
    assert_eq!(found["scenario_0"], EndReason::Environment);
    assert!(matches!(found["scenario_1"], EndReason::GaveUp | EndReason::NoChange), "{found:?}");
    let recorded = trajectory(&folder, "scenario_0");
    let message = recorded["exception"]["message"].as_str().unwrap();
    assert!(message.contains("Turn 1 cannot be read") && message.contains("suite"), "{message}");
    assert_eq!(recorded["turns"].as_array().unwrap().len(), 0);

    // What was mended is played.
    std::fs::write(&suite, &whole).unwrap();
    let (on_event, found) = ends();
    assert_eq!(
        runner::resume(folder.clone(), Vec::new(), runner::origin::identity(&folder).unwrap(), on_event)
            .await
            .unwrap(),
        Finish::Finished
    );
    let found = found.lock().unwrap().clone();
    assert!(matches!(found["scenario_0"], EndReason::GaveUp | EndReason::NoChange), "{found:?}");
    assert!(trajectory(&folder, "scenario_0")["exception"].is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenarios_that_another_program_would_make_anew_are_not_gone_on_with() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let values = [
        "agent=MOCK".to_owned(),
        "oracle.mischief.give_up=1".to_owned(),
        "restful_server_gen_iterative.n_scenarios=1".to_owned(),
        "restful_server_gen_iterative.n_turns=1".to_owned(),
        "restful_server_gen_iterative.attempt_limit=1".to_owned(),
        format!("output_dir={}", folder.display()),
    ];
    let settings = runner::settings::resolve(&[], &values).unwrap();
    assert_eq!(runner::run(settings, Arc::new(|_| {})).await.unwrap(), Finish::Finished);
    let known = || runner::origin::identity(&folder).unwrap();
    let resume = || runner::resume(folder.clone(), Vec::new(), known(), Arc::new(|_| {}));
    assert_eq!(resume().await.unwrap(), Finish::Finished);
    let file = folder.join(".stamina/run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(run["made_by"]["name"], "stamina");
    run["made_by"]["version"] = "0.0.1".into();
    std::fs::write(&file, run.to_string()).unwrap();
    let refused = resume().await.unwrap_err();
    assert!(matches!(refused, RunError::NotResumable { .. }), "{refused}");
    assert!(refused.to_string().contains("stamina 0.0.1"), "{refused}");
    // The first versions did not say what made them, and their texts were others.
    run.as_object_mut().unwrap().remove("made_by");
    std::fs::write(&file, run.to_string()).unwrap();
    let refused = resume().await.unwrap_err();
    assert!(matches!(refused, RunError::NotResumable { .. }), "{refused}");
    assert!(refused.to_string().contains("by an earlier version; this program is stamina"), "{refused}");
}

#[tokio::test]
async fn a_harness_without_a_direct_mode_does_not_begin() {
    let room = tempfile::tempdir().unwrap();
    let (folder, file) = (room.path().join("run"), room.path().join("my.toml"));
    let (_, described) = include_str!("../../../docs/harnesses.md").split_once("```toml\n").unwrap();
    let (described, _) = described.split_once("```").unwrap();
    assert!(described.contains("{base_url}"), "it names its endpoint");
    std::fs::write(&file, described).unwrap();
    let values = [
        "agent=CUSTOM".to_owned(),
        format!("harness_file={}", file.display()),
        "endpoint.mode=direct".to_owned(),
        format!("output_dir={}", folder.display()),
    ];
    let settings = runner::settings::resolve(&[], &values).unwrap();
    let error = runner::run(settings, Arc::new(|_| {})).await.unwrap_err();
    assert!(matches!(&error, RunError::Harness(_)), "{error}");
    assert!(error.to_string().contains("direct mode"), "{error}");
    assert!(!folder.exists(), "nothing was begun");
}
