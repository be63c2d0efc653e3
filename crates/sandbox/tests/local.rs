//! Containers without an engine: plain processes for the mock agent.

#![allow(clippy::unwrap_used, reason = "a test that fails here says where")]

use std::time::{Duration, Instant};

use sandbox::{
    AgentContainer, Containers, ExtraArgs, Limits, Local, NetworkAccess, Owner, ServerContainer, Volumes,
};
use tokio_util::sync::CancellationToken;

struct TestPlace {
    containers: Containers,
    dir: tempfile::TempDir,
}

impl TestPlace {
    fn new() -> Self {
        Self::with_program("/opt/stamina")
    }

    fn with_program(program: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("workspace")).unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        Self { containers: Containers::Local(Local::new(program.into())), dir }
    }

    fn volumes(&self) -> Volumes {
        Volumes { workspace: self.dir.path().join("workspace"), home: self.dir.path().join("home") }
    }

    fn owner() -> Owner {
        Owner { run: "00000000".to_owned(), episode: "scenario_0".to_owned() }
    }

    fn shell(&self, script: &str, seconds: u64) -> AgentContainer {
        AgentContainer {
            owner: Self::owner(),
            image: String::new(),
            argv: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
            env: vec![("GIVEN".to_owned(), "yes".to_owned())],
            volumes: self.volumes(),
            limits: Limits { seconds, ..Limits::default() },
            reach: NetworkAccess::Gateway,
            extra: ExtraArgs::default(),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn a_command_sees_its_folders_and_little_else() {
    let place = TestPlace::new();
    let agent =
        place.shell("pwd -P; echo $HOME; echo $GIVEN; echo $STAMINA; env | wc -l; echo oops >&2; exit 3", 30);
    let end = place.containers.agent(&agent, CancellationToken::new(), None).await.unwrap();
    assert_eq!(end.exit.code, Some(3));
    assert!(!end.exit.timed_out && !end.exit.stopped);
    let stdout = text(&end.stdout);
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].ends_with("/workspace") && lines[1].ends_with("/home"), "{stdout}");
    assert_eq!(lines[2..4], ["yes", "/opt/stamina"]);
    // PATH, HOME, STAMINA, GIVEN, and what a shell sets itself: PWD, perhaps OLDPWD, _ and SHLVL.
    assert!(lines[4].trim().parse::<u32>().unwrap() <= 8, "{stdout}");
    assert_eq!(text(&end.stderr), "oops\n");
}

#[tokio::test]
async fn the_wall_limit_and_the_caller_end_it_with_all_that_it_started() {
    let place = TestPlace::new();
    let mark = format!("3600.{}", std::process::id());
    // Time enough to begin on a busy machine.
    let agent = place.shell(&format!("sleep {mark} & echo started; sleep {mark}"), 4);
    let end = place.containers.agent(&agent, CancellationToken::new(), None).await.unwrap();
    assert!(end.exit.timed_out && !end.exit.stopped, "{end:?}");
    assert!(end.seconds < 60.0 && text(&end.stdout) == "started\n", "{end:?}");

    let stop = CancellationToken::new();
    let (send, mut live) = tokio::sync::mpsc::channel(4);
    let agent = place.shell(&format!("echo ready; sleep {mark}"), 3600);
    let running = place.containers.agent(&agent, stop.clone(), Some(send));
    let (end, ()) = tokio::join!(running, async {
        live.recv().await.unwrap();
        stop.cancel();
    });
    let end = end.unwrap();
    assert!(end.exit.stopped && !end.exit.timed_out, "{end:?}");

    // Dropping the future does too.
    let (send, mut live) = tokio::sync::mpsc::channel(4);
    tokio::select! {
        end = place.containers.agent(&agent, CancellationToken::new(), Some(send)) => panic!("it ended: {end:?}"),
        piece = live.recv() => assert!(piece.is_some(), "it says that it has begun"),
    }
    let began = Instant::now();
    while sleeping(&mark) {
        assert!(began.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether a process with this argument lives.
fn sleeping(mark: &str) -> bool {
    let out = std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap();
    text(&out.stdout).lines().any(|line| line.contains("sleep") && line.contains(mark))
}

#[tokio::test]
async fn a_server_gets_a_port_of_its_own_and_ends_when_told() {
    // A shell stands in for the program: it takes `serve-reference` for a script.
    let place = TestPlace::with_program("/bin/sh");
    let script = "echo \"$0 $*\"; touch ready-$$; exec sleep 3600\n";
    std::fs::write(place.dir.path().join("workspace/serve-reference"), script).unwrap();
    // What lies in the workspace is never run: it may have come from somebody else.
    std::fs::write(place.dir.path().join("workspace/run.sh"), "touch ran\n").unwrap();
    let server = ServerContainer {
        owner: TestPlace::owner(),
        image: String::new(),
        volumes: place.volumes(),
        limits: Limits::default(),
    };
    let first = place.containers.serve(&server).await.unwrap();
    let two = place.containers.serve(&server).await.unwrap();
    assert_ne!(first.address, two.address);
    assert!(place.containers.runs(&first).await.unwrap());
    // It does not listen, and nobody else can listen there in its place.
    for server in [&first, &two] {
        let address = server.address.unwrap();
        let refused = std::net::TcpStream::connect(address).unwrap_err().kind();
        assert_eq!(refused, std::io::ErrorKind::ConnectionRefused);
        let taken = std::net::TcpListener::bind(address).unwrap_err().kind();
        assert_eq!(taken, std::io::ErrorKind::AddrInUse);
    }
    let ready = || {
        let entries = std::fs::read_dir(place.dir.path().join("workspace")).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("ready-")).count()
    };
    let began = Instant::now();
    while ready() < 2 {
        assert!(began.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let end = place.containers.end(first).await.unwrap();
    assert_eq!(end.exited, None);
    assert_eq!(text(&end.log), "serve-reference --schema schema.yaml --on-stdin\n");
    assert!(!place.dir.path().join("workspace/ran").exists());

    std::fs::write(place.dir.path().join("workspace/serve-reference"), "exit 4\n").unwrap();
    let three = place.containers.serve(&server).await.unwrap();
    let began = Instant::now();
    while place.containers.runs(&three).await.unwrap() {
        assert!(began.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(place.containers.end(three).await.unwrap().exited.unwrap().code, Some(4));
    place.containers.clear("00000000").await.unwrap();
    assert!(!place.containers.runs(&two).await.unwrap());

    std::os::unix::fs::symlink("/etc/passwd", place.dir.path().join("workspace/schema.yaml")).unwrap();
    let refused = place.containers.serve(&server).await.unwrap_err().to_string();
    assert!(refused.contains("not a regular file"), "{refused}");
}
