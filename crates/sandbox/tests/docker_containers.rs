//! Containers in a real container engine: what a command finds, how it ends, what is left behind.

#![allow(clippy::unwrap_used, reason = "a test that fails here says where")]

use std::time::{Duration, Instant};

use sandbox::{GatewayPlace, SandboxError};
use tokio_util::sync::CancellationToken;

use crate::common::{TestPlace, text};

#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_command_finds_its_folders_and_leaves_its_files_and_its_code() {
    let place = TestPlace::new().await;
    place.prepare().await;
    let end = place
        .run(&place.shell(
            "pwd; echo $HOME; echo $STAMINA_TEST; id -u; cat /proc/1/comm; ulimit -n; echo oops >&2; \
             echo kept > file; echo too > $HOME/note; head -c 1 | wc -c; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; exit 7",
        ))
        .await;
    assert_eq!(end.exit.code, Some(7), "{end:?}");
    assert!(!end.exit.timed_out && !end.exit.out_of_memory && !end.exit.disk_full && !end.exit.stopped);
    let stdout = text(&end.stdout);
    let lines: Vec<&str> = stdout.lines().collect();
    let (uid, _) = sandbox::container_user();
    assert_eq!(lines[..4], ["/workspace", "/agent", "yes", &uid.to_string()], "{stdout}");
    assert!(lines[4].contains("init"), "the first process reaps the others: {stdout}");
    assert_eq!(lines[5..7], ["256", "0"], "{stdout}");
    assert!(stdout.contains("CapEff:\t0000000000000000") && stdout.contains("NoNewPrivs:\t1"), "{stdout}");
    assert_eq!(text(&end.stderr), "oops\n");
    assert_eq!(end.output_bytes, (end.stdout.len() + end.stderr.len()) as u64);

    // The next container of the episode finds the files, and no temporary ones.
    let end = place.run(&place.shell("cat file $HOME/note; ls /tmp | wc -l; touch /tmp/x")).await;
    assert_eq!(text(&end.stdout), "kept\ntoo\n0\n", "{end:?}");
    assert_eq!(end.exit.code, Some(0));
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_missing_image_and_a_missing_program_are_told_apart() {
    let place = TestPlace::new().await;
    let mut agent = place.shell("true");
    agent.image = "stamina/there-is-none:1".to_owned();
    let error = place.containers.agent(&agent, CancellationToken::new(), None).await.unwrap_err();
    assert!(matches!(&error, SandboxError::NoImage { image } if image == &agent.image), "{error}");
    assert!(error.hint().unwrap().contains("stamina images build there-is-none"));

    let mut agent = place.shell("true");
    agent.argv = vec!["/no/such/program".to_owned()];
    let end = place.run(&agent).await;
    assert_eq!(end.exit.code, Some(127), "{end:?}");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn the_caller_stops_a_container_and_output_is_seen_as_it_comes() {
    let place = TestPlace::new().await;
    let stop = CancellationToken::new();
    let (send, mut live) = tokio::sync::mpsc::channel(16);
    let agent = place.shell("trap 'echo bye; exit 3' TERM; echo ready; sleep 1000 & wait");
    let running = place.containers.agent(&agent, stop.clone(), Some(send));
    let watching = async {
        let first = live.recv().await.unwrap();
        stop.cancel();
        first
    };
    let (end, first) = tokio::join!(running, watching);
    let end = end.unwrap();
    assert_eq!(&first[..], b"ready\n");
    assert!(end.exit.stopped && !end.exit.timed_out, "{end:?}");
    // `timeout` passes SIGTERM on twice: to its child and to the group.
    let stdout = text(&end.stdout);
    assert!(stdout.starts_with("ready\nbye\n"), "{stdout}");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn dropping_the_future_removes_the_container() {
    let place = TestPlace::new().await;
    let agent = place.shell("echo ready; sleep 1000");
    let (send, mut live) = tokio::sync::mpsc::channel(16);
    // Dropped once it says that it runs.
    tokio::select! {
        end = place.containers.agent(&agent, CancellationToken::new(), Some(send)) => panic!("it ended: {end:?}"),
        piece = live.recv() => assert!(piece.is_some(), "it says that it has begun"),
    }
    let began = Instant::now();
    loop {
        let left = place.engine.leftovers().await.unwrap();
        if !left.iter().any(|left| left.run == place.owner.run && left.kind == "container") {
            break;
        }
        assert!(began.elapsed() < Duration::from_mins(2), "{left:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_server_answers_from_outside_and_tells_how_it_ended() {
    let place = TestPlace::new().await;
    // Perl is in every Debian: a server of one line, so that this needs no image of the project.
    let server = place.server(
        "echo listening on $PORT\nexec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => \"0.0.0.0\", \
         LocalPort => $ENV{PORT}, Listen => 5, ReuseAddr => 1) or die $!; while ($c = $s->accept) { print $c \"hello\"; close $c }'\n",
    );
    let server_address = place.containers.serve(&server).await.unwrap();
    let address = server_address.address.unwrap();
    let answer = ask(address).await;
    assert_eq!(answer, "hello");
    assert!(place.containers.runs(&server_address).await.unwrap());
    let end = place.containers.end(server_address).await.unwrap();
    assert_eq!(end.exited, None);
    assert_eq!(text(&end.log), format!("listening on {}\n", address.port()));

    let server_address = place.containers.serve(&place.server("echo no; exit 3\n")).await.unwrap();
    assert_ne!(
        server_address.address,
        Some(address),
        "what is still asked of the one before does not come here"
    );
    let began = Instant::now();
    while place.containers.runs(&server_address).await.unwrap() {
        assert!(began.elapsed() < Duration::from_mins(2));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let end = place.containers.end(server_address).await.unwrap();
    assert_eq!(end.exited.unwrap().code, Some(3));
    assert_eq!(text(&end.log), "no\n");
    place.clear().await;
}

async fn ask(address: std::net::SocketAddr) -> String {
    use tokio::io::AsyncReadExt;
    let began = Instant::now();
    loop {
        if let Ok(mut stream) = tokio::net::TcpStream::connect(address).await {
            let mut answer = String::new();
            // Something in between may take a connection for a server that is not there yet, and drop it.
            if stream.read_to_string(&mut answer).await.is_ok() {
                return answer;
            }
        }
        assert!(began.elapsed() < Duration::from_mins(2), "nobody listens at {address}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A service of this machine that listens on all addresses is not for a server that an agent wrote; tests reach the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine"]
async fn a_guarded_server_reaches_nothing_of_the_host() {
    let place = TestPlace::new().await;
    // Whether it works is found out by trying it; a trial leaves nothing.
    let guarded = place.engine.is_guarded().await;
    let trials = std::process::Command::new("iptables").args(["-w", "5", "-S", "INPUT"]).output();
    assert!(trials.is_ok_and(|listed| !text(&listed.stdout).contains("stamina-trial")) || !guarded);
    if !guarded {
        assert!(std::env::var_os("CI").is_none(), "CI is root and has iptables");
        place.clear().await;
        return;
    }
    let run = place.owner.run.clone();
    place.prepare().await;
    let service = std::net::TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = service.local_addr().unwrap().port();
    let reached = async || {
        let script = format!(
            "host=$(hostname -I | sed 's/[.][0-9]* *$/.1/'); \
             timeout 3 bash -c \"exec 3<>/dev/tcp/$host/{port}\" && echo reached || echo not\n"
        );
        let server = place.containers.serve(&place.server(&script)).await.unwrap();
        let began = Instant::now();
        while place.containers.runs(&server).await.unwrap() {
            assert!(began.elapsed() < Duration::from_mins(2));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        text(&place.containers.end(server).await.unwrap().log).lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(reached().await, "reached", "before it is guarded");
    assert!(place.containers.guard(&run).await.unwrap());
    // Again, as where an engine has been away: no rule comes twice.
    assert!(place.containers.guard(&run).await.unwrap());
    assert_eq!(reached().await, "not");
    let rules = || {
        let listed =
            std::process::Command::new("iptables").args(["-w", "5", "-S", "INPUT"]).output().unwrap();
        text(&listed.stdout).lines().filter(|line| line.contains(&format!("stamina-lab_{run}_"))).count()
    };
    assert_eq!(rules(), 2);
    place.clear().await;
    assert_eq!(rules(), 0);
}

/// Attempts follow each other beside one relay: what one has listened on is free for the next, also for a server that does not
/// ask to use an address again.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_port_of_one_attempt_is_free_in_the_next() {
    let place = TestPlace::new().await;
    place.prepare().await;
    // The side that closes first is the one whose address would be kept waiting: the server.
    let script = "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => q(127.0.0.1), LocalPort => 8000, \
                  Listen => 5) or die qq(taken: $!\n); if (!fork) { $c = IO::Socket::INET->new(q(127.0.0.1:8000)); \
                  print <$c>; exit } $c = $s->accept; print $c qq(served\n); close $c; wait'";
    for _ in 0..2 {
        let end = place.run(&place.shell(script)).await;
        assert_eq!(text(&end.stdout), "served\n", "{end:?}");
    }
    place.clear().await;
}

/// A gateway that takes another's place has a socket of its own; and a folder that containers cannot enter is no agent's fault.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn every_gateway_has_a_socket_that_relays_can_reach() {
    use std::os::unix::fs::PermissionsExt;
    let place = TestPlace::new().await;
    let (first, second) = (place.prepare().await, place.prepare().await);
    assert_ne!(first, second);
    let folder = place.dir.path().join("gateway");
    assert_eq!(
        std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o755,
        "whatever the umask is"
    );
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o600)).unwrap();
    let error =
        place.containers.agent(&place.shell("true"), CancellationToken::new(), None).await.unwrap_err();
    assert!(error.to_string().contains("Permission"), "{error}");
    // One that nobody listens at, as in a folder that another machine shares.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let GatewayPlace::Socket { path, .. } = &second else { panic!("{second:?}") };
    drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let error =
        place.containers.agent(&place.shell("true"), CancellationToken::new(), None).await.unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
    place.clear().await;
}
