//! What crashes leave: found, told apart from what is in use, taken away; and an engine that goes away in the middle.

#![allow(clippy::unwrap_used, reason = "a test that fails here says where")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::models::{ContainerCreateBody, NetworkCreateRequest, VolumeCreateRequest};
use bollard::query_parameters::CreateContainerOptions;
use sandbox::{ContainerExit, Containers, Engine, ExtraArgs, LABEL, SandboxError, TaskContainer};
use tokio_util::sync::CancellationToken;

use crate::common::{TestPlace, image, text};

#[tokio::test]
#[ignore = "needs a container engine"]
async fn what_the_dead_left_goes_and_what_the_living_use_stays() {
    let place = TestPlace::new().await;
    place.prepare().await;
    place.run(&place.shell("true")).await;
    let is_own = |left: &sandbox::Leftover| left.run == place.owner.run;
    let found: Vec<_> = place.engine.leftovers().await.unwrap().into_iter().filter(is_own).collect();
    let mut kinds: Vec<&str> = found.iter().map(|left| left.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        ["container", "network", "volume", "volume"],
        "the relay, and the servers' network: {found:?}"
    );
    assert!(found.iter().all(|left| left.in_use));

    // The same, left by a process that is dead: this one's namespace, a number that nobody has.
    let owner = &found[0].labels[&format!("{LABEL}.owner")];
    let dead = format!("4194304:1:{}", owner.rsplit(':').next().unwrap());
    let run = format!("d{}", &place.owner.run[1..]);
    let name = format!("stamina-{run}-left");
    let labels = HashMap::from([(format!("{LABEL}.run"), run.clone()), (format!("{LABEL}.owner"), dead)]);
    let docker = docker();
    let options = CreateContainerOptions { name: Some(name.clone()), ..Default::default() };
    let body = ContainerCreateBody {
        image: Some(image()),
        cmd: Some(vec!["sleep".to_owned(), "1000".to_owned()]),
        labels: Some(labels.clone()),
        ..Default::default()
    };
    docker.create_container(Some(options), body).await.unwrap();
    docker.start_container(&name, None).await.unwrap();
    let network =
        NetworkCreateRequest { name: name.clone(), labels: Some(labels.clone()), ..Default::default() };
    docker.create_network(network).await.unwrap();
    let volume = VolumeCreateRequest { name: Some(name.clone()), labels: Some(labels), ..Default::default() };
    docker.create_volume(volume).await.unwrap();

    let left: Vec<_> = place.engine.leftovers().await.unwrap();
    assert_eq!(left.iter().filter(|left| left.run == run && !left.in_use).count(), 3, "{left:?}");
    let swept = place.engine.sweep().await.unwrap();
    assert_eq!(swept.iter().filter(|left| left.run == run).count(), 3, "{swept:?}");
    let left = place.engine.leftovers().await.unwrap();
    assert!(!left.iter().any(|left| left.run == run), "{left:?}");
    assert_eq!(left.into_iter().filter(is_own).count(), found.len(), "what is in use stays");
    place.clear().await;
}

/// What was found is removed, and nothing that has taken its name since.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn what_is_made_anew_under_the_same_name_is_not_removed() {
    let place = TestPlace::new().await;
    place.prepare().await;
    let docker = docker();
    let own_relays = async || {
        let left = place.engine.leftovers().await.unwrap();
        left.into_iter()
            .filter(|left| left.run == place.owner.run && left.kind == "network")
            .collect::<Vec<_>>()
    };
    let before = own_relays().await;
    assert_eq!(before.len(), 1);
    for network in &before {
        docker.remove_network(&network.name).await.unwrap();
    }
    let other = Engine::connect().await.unwrap();
    place.prepare_by(&Containers::Engine(other)).await;
    place.engine.remove(&before).await.unwrap();
    assert_eq!(own_relays().await.len(), 1, "the one that was made anew");
    place.clear().await;
}

/// A network that somebody prunes under a run has rules that the next one lacks: the run makes its way anew.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_network_that_is_removed_under_a_run_is_not_replaced_in_silence() {
    let place = TestPlace::new().await;
    place.prepare().await;
    place.run(&place.shell("true")).await;
    let docker = docker();
    for network in place.engine.leftovers().await.unwrap() {
        if network.run == place.owner.run && network.kind == "network" {
            docker.remove_network(&network.id).await.unwrap();
        }
    }
    let container = place.server("exec sleep 1000\n");
    // The first container finds out that it is gone, the next one looks for it.
    let mut errors = Vec::new();
    for _ in 0..3 {
        errors.push(place.containers.serve(&container).await.unwrap_err());
    }
    for error in &errors[1..] {
        assert!(matches!(error, SandboxError::Engine { is_gone: true, .. }), "{error:?}");
    }
    // As the runner does it then.
    let anew = Containers::Engine(Engine::connect().await.unwrap());
    place.prepare_by(&anew).await;
    let server = anew.serve(&container).await.unwrap();
    anew.end(server).await.unwrap();
    place.clear().await;
}

/// An agent whose way to the gateway is cut did not fail by itself; the next container has a way again.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_relay_that_is_ended_under_a_container_is_told_and_made_anew() {
    let place = TestPlace::new().await;
    place.prepare().await;
    place.run(&place.shell("true")).await;
    let relay = async || {
        let left = place.engine.leftovers().await.unwrap();
        let is_own_relay =
            |left: &sandbox::Leftover| left.run == place.owner.run && left.name.contains("-relay-");
        left.into_iter().find(is_own_relay)
    };
    let first = relay().await.expect("it stays for the next attempt");
    let docker = docker();
    let (send, mut live) = tokio::sync::mpsc::channel(16);
    // It ends once its way is cut, and not before.
    let agent = place.shell("echo working; until [ -e cut ]; do sleep 0.1; done");
    let running = place.containers.agent(&agent, CancellationToken::new(), Some(send));
    let cutting = async {
        assert_eq!(text(&live.recv().await.unwrap()), "working\n");
        docker.kill_container(&first.name, None).await.unwrap();
        std::fs::write(place.volumes.workspace.join("cut"), "").unwrap();
    };
    let (ended, ()) = tokio::join!(running, cutting);
    assert!(matches!(ended, Err(SandboxError::Engine { is_gone: false, .. })), "{ended:?}");
    assert_eq!(place.run(&place.shell("true")).await.exit.code, Some(0));
    assert_ne!(relay().await.unwrap().name, first.name);
    place.containers.release(&place.owner).await.unwrap();
    assert_eq!(relay().await, None, "it goes with its episode");
    place.clear().await;
}

/// A server that somebody ends did not fail by itself; one that ends itself did.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_server_that_is_ended_from_outside_is_told_from_one_that_ends_itself() {
    let place = TestPlace::new().await;
    let docker = docker();
    let wait_for_end = async |server: &sandbox::ServerAddress| {
        let began = std::time::Instant::now();
        while place.containers.runs(server).await.unwrap() {
            assert!(began.elapsed() < Duration::from_mins(2));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let lives = place.server("exec sleep 60\n");
    let killed = place.containers.serve(&lives).await.unwrap();
    docker.kill_container(&killed.id, None).await.unwrap();
    wait_for_end(&killed).await;
    assert_eq!(place.containers.end(killed).await.unwrap().exited.unwrap().code, None);

    // One that exits when it is asked to.
    let ready = place.volumes.workspace.join("ready");
    let polite = "trap 'exit 0' TERM; touch ready; sleep 60 & wait\n";
    let stopped = place.containers.serve(&place.server(polite)).await.unwrap();
    let began = std::time::Instant::now();
    while !ready.exists() {
        assert!(began.elapsed() < Duration::from_mins(2));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    docker.stop_container(&stopped.id, None).await.unwrap();
    wait_for_end(&stopped).await;
    assert_eq!(place.containers.end(stopped).await.unwrap().exited.unwrap().code, None);

    let lives = place.server("exec sleep 60\n");
    let removed = place.containers.serve(&lives).await.unwrap();
    let force = bollard::query_parameters::RemoveContainerOptions { force: true, ..Default::default() };
    docker.remove_container(&removed.id, Some(force)).await.unwrap();
    assert_eq!(place.containers.end(removed).await.unwrap().exited.unwrap().code, None);

    let itself = place.containers.serve(&place.server("kill -9 $$\n")).await.unwrap();
    wait_for_end(&itself).await;
    assert_eq!(place.containers.end(itself).await.unwrap().exited.unwrap().code, Some(137));
    let runs = place.containers.serve(&place.server("exec sleep 60\n")).await.unwrap();
    assert_eq!(place.containers.end(runs).await.unwrap().exited, None);
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn an_engine_that_goes_away_is_told_and_its_container_is_found_again() {
    let place = TestPlace::new().await;
    let through = place.dir.path().join("engine.sock");
    let real = PathBuf::from(place.engine.info().socket.trim_start_matches("unix://"));
    let cut = relay(&real, &through);
    let engine = Engine::connect_to(&format!("unix://{}", through.display())).await.unwrap();
    let containers = Containers::Engine(engine);
    let (send, mut live) = tokio::sync::mpsc::channel(16);
    let agent = place.shell("echo working; sleep 1000");
    let running = containers.agent(&agent, CancellationToken::new(), Some(send));
    let cutting = async {
        assert_eq!(text(&live.recv().await.unwrap()), "working\n");
        cut.cancel();
    };
    let began = Instant::now();
    let (end, ()) = tokio::join!(running, cutting);
    let error = end.unwrap_err();
    assert!(matches!(error, SandboxError::Engine { is_gone: true, .. }), "{error:?}");
    assert!(error.hint().is_some());
    assert!(began.elapsed() < Duration::from_mins(2), "and not when its container ends");
    let error = containers.agent(&agent, CancellationToken::new(), None).await.unwrap_err();
    assert!(matches!(error, SandboxError::Engine { is_gone: true, .. }), "{error:?}");

    // The container is still there, as after the death of an engine's daemon; the episode's next container takes its place.
    let containers_left = |left: Vec<sandbox::Leftover>| {
        left.into_iter().filter(|left| left.run == place.owner.run && left.kind == "container").count()
    };
    assert_eq!(containers_left(place.engine.leftovers().await.unwrap()), 1);
    let end = place.run(&place.shell("echo again")).await;
    assert_eq!(text(&end.stdout), "again\n");
    assert_eq!(containers_left(place.engine.leftovers().await.unwrap()), 0);
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_container_that_somebody_else_ends_is_lost_and_not_the_agents_fault() {
    let place = TestPlace::new().await;
    let docker = docker();
    // As a person does it, and as an engine does that shuts down in good order.
    for force in [true, false] {
        let (send, mut live) = tokio::sync::mpsc::channel(16);
        let agent = place.shell("echo working; sleep 1000");
        let running = place.containers.agent(&agent, CancellationToken::new(), Some(send));
        let ending = async {
            live.recv().await.unwrap();
            let left = place.engine.leftovers().await.unwrap();
            let found = left.iter().find(|left| left.run == place.owner.run && left.kind == "container");
            let name = &found.unwrap().name;
            if force {
                place.engine.remove(std::slice::from_ref(found.unwrap())).await.unwrap();
            } else {
                docker.stop_container(name, None).await.unwrap();
            }
        };
        let (end, ()) = tokio::join!(running, ending);
        assert_eq!(end.unwrap().exit, ContainerExit::default(), "force: {force}");
    }
    place.clear().await;
}

/// Passes connections on until it is cut; then those that are open end, and no more are taken.
fn relay(real: &Path, through: &Path) -> CancellationToken {
    let cut = CancellationToken::new();
    let (listener, real) = (tokio::net::UnixListener::bind(through).unwrap(), real.to_owned());
    let stop = cut.clone();
    tokio::spawn(async move {
        loop {
            let mut client = tokio::select! {
                taken = listener.accept() => match taken {
                    Ok((client, _)) => client,
                    // Who has left before it was taken.
                    Err(_) => continue,
                },
                () = stop.cancelled() => return,
            };
            let (real, stop) = (real.clone(), stop.clone());
            tokio::spawn(async move {
                // Without an engine the client's connection is closed, as the engine itself would.
                let Ok(mut engine) = tokio::net::UnixStream::connect(real).await else { return };
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut client, &mut engine) => {}
                    () = stop.cancelled() => {}
                }
            });
        }
    });
    cut
}

/// The engine itself, as whoever meddles with it has it.
fn docker() -> Docker {
    Docker::connect_with_defaults().unwrap()
}

/// A copy of a results folder has the run and the episodes of the original, and both may be played by one process.
#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: The records of a run (`.stamina/`)
async fn a_copy_of_a_folder_ends_no_container_of_the_original() {
    let (mut original, mut copy) = (TestPlace::new().await, TestPlace::new().await);
    let id = original.owner.run.clone();
    for place in [&mut original, &mut copy] {
        place.owner.run = sandbox::run_of_folder(&id, place.dir.path());
    }
    let stop = CancellationToken::new();
    let (send, mut live) = tokio::sync::mpsc::channel(16);
    let agent = original.shell("echo ready; sleep 200");
    original.prepare().await;
    let (containers, stopped) = (Containers::Engine(original.engine.clone()), stop.clone());
    let playing = tokio::spawn(async move { containers.agent(&agent, stopped, Some(send)).await });
    assert_eq!(text(&live.recv().await.unwrap()), "ready\n");

    // All that a resume of the copy takes away: before its containers, between them, and at its end.
    copy.prepare().await;
    let end = copy.run(&copy.shell("echo played")).await;
    assert_eq!(text(&end.stdout), "played\n");
    copy.containers.release(&copy.owner).await.unwrap();
    copy.containers.clear(&copy.owner.run).await.unwrap();
    let left: Vec<_> = original.engine.leftovers().await.unwrap();
    let run_leftovers: Vec<_> = left.into_iter().filter(|left| left.run == id).collect();
    let folder = |left: &sandbox::Leftover| left.labels[&format!("{LABEL}.folder")].clone();
    assert!(
        run_leftovers.iter().all(|left| original.owner.run.ends_with(&folder(left))),
        "{run_leftovers:?}"
    );
    let containers = run_leftovers.iter().filter(|left| left.kind == "container").count();
    assert_eq!(containers, 2, "the agent of the original and its relay: {run_leftovers:?}");
    assert!(!playing.is_finished(), "it works on");

    // What is left of the original itself is stale to it.
    original
        .containers
        .ready(&original.owner, sandbox::NetworkAccess::Gateway, &ExtraArgs::default())
        .await
        .unwrap();
    let ended = playing.await.unwrap();
    assert!(ended.is_err() || ended.is_ok_and(|end| end.exit.code != Some(0)), "its container was removed");
    original.containers.clear(&original.owner.run).await.unwrap();
    let left = original.engine.leftovers().await.unwrap();
    assert!(left.iter().all(|left| left.run != id), "{left:?}");
}

/// Earlier versions named a snapshot after run, episode and step only.
#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Tasks of Harbor
async fn a_snapshot_of_an_earlier_version_is_found_listed_and_removed() {
    let mut place = TestPlace::new().await;
    let id = place.owner.run.clone();
    let kept_by = place.dir.path().join("snapshot.json");
    std::fs::write(&kept_by, "{}").unwrap();
    let task = TaskContainer {
        owner: place.owner.clone(),
        image: image(),
        env: Vec::new(),
        limits: TestPlace::limits(),
        reach: sandbox::NetworkAccess::Gateway,
        kept_by: Some(kept_by.clone()),
    };
    let container = place.engine.open_task(&task).await.unwrap();
    let name = format!("stamina-snapshot:{id}-scenario_0-2");
    let image_id = container.snapshot(&name).await.unwrap();
    container.close().await.unwrap();

    // The version of now, in the same folder.
    place.owner.run = sandbox::run_of_folder(&id, place.dir.path());
    let found = async |step: u32, id: &str, file: &Path| {
        place.engine.kept_snapshot(&place.owner, file, step, id).await.unwrap()
    };
    assert_eq!(found(2, &image_id, &kept_by).await, Some(name.clone()));
    assert_eq!(found(3, &image_id, &kept_by).await, None, "of another step");
    assert_eq!(found(2, "sha256:0", &kept_by).await, None, "of another image");
    let elsewhere = place.dir.path().join("copy.json");
    assert_eq!(found(2, &image_id, &elsewhere).await, None, "a copy has no part in it");
    let run_leftovers = async || {
        let left = place.engine.leftovers().await.unwrap().into_iter();
        left.filter(|left| left.run == id && left.kind == "image").collect::<Vec<_>>()
    };
    let listed = run_leftovers().await;
    assert!(listed.len() == 1 && listed[0].is_kept, "{listed:?}");
    place.engine.remove_snapshots(&place.owner, &elsewhere).await.unwrap();
    assert_eq!(run_leftovers().await.len(), 1);
    std::fs::remove_file(&kept_by).unwrap();
    assert!(!run_leftovers().await[0].is_kept, "a sweep takes it once its file is gone");
    place.engine.remove_snapshots(&place.owner, &kept_by).await.unwrap();
    assert_eq!(run_leftovers().await, []);
}
