//! Agents that mean harm, or are merely out of their mind: each ends in the way that it should, soon, and the host is as
//! it was: no process, no container, no disk, no memory of this program.

#![allow(clippy::unwrap_used, reason = "a test that fails here says where")]

use std::time::{Duration, Instant};

use sandbox::{AgentContainer, ContainerEnd, ContainerExit, GatewayPlace};
use tokio_util::sync::CancellationToken;

use crate::common::{TestPlace, text};

const MIB: u64 = 1 << 20;

/// What a second of an idle machine may take on one that does a dozen other things: these tests are about how containers end,
/// not about how fast.
const BUSY: Duration = Duration::from_secs(8);

/// Ended by itself.
fn exit_with_code(code: i64) -> ContainerExit {
    ContainerExit { code: Some(code), ..ContainerExit::default() }
}

/// Runs a script that leaves processes called `sleep 98765…` behind if it can, and looks whether any is left.
async fn run(place: &TestPlace, agent: &AgentContainer, within: u64) -> ContainerEnd {
    let began = Instant::now();
    let end = place.run(agent).await;
    assert!(began.elapsed() < BUSY * u32::try_from(within).unwrap(), "took {:?}: {end:?}", began.elapsed());
    let containers = place.engine.leftovers().await.unwrap();
    assert!(
        !containers.iter().any(|left| left.run == place.owner.run && left.kind == "container"),
        "{containers:?}"
    );
    let left = processes(&mark(place));
    assert!(left.is_empty(), "still running: {left:?}");
    end
}

/// What processes of a test's containers can be known by on the host.
fn mark(place: &TestPlace) -> String {
    format!("98765{}", u32::from_str_radix(&place.owner.run, 16).unwrap())
}

/// Command lines on the host that hold a mark.
fn processes(mark: &str) -> Vec<String> {
    let Ok(all) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    all.filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| text(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

/// Bytes of memory of this process.
fn memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// What both folders take, and takes them away: some are deeper than the standard library removes.
fn used_bytes(place: &TestPlace) -> u64 {
    let size = |folder| sandbox::snapshot::size_of(folder).unwrap().bytes;
    size(&place.volumes.workspace) + size(&place.volumes.home)
}

#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn a_fork_bomb() {
    let place = TestPlace::new().await;
    let mut agent = place.shell(&format!(
        "bomb() {{ sleep {} & bomb | bomb & }}; bomb; while :; do sleep 1; done",
        mark(&place)
    ));
    agent.limits.seconds = 3;
    let end = run(&place, &agent, 40).await;
    assert!(end.exit.timed_out || end.exit.code == Some(2), "{end:?}");
    assert!(!end.exit.out_of_memory && !end.exit.disk_full && !end.exit.stopped);
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn one_that_fills_the_disk() {
    let place = TestPlace::new().await;
    for script in [
        "i=0; while :; do head -c 8000000 /dev/zero > f$i; i=$((i+1)); done",
        "i=0; while :; do head -c 8000000 /dev/zero > $HOME/f$i; i=$((i+1)); done",
        // Outside its folders.
        "i=0; while :; do head -c 8000000 /dev/zero > /var/tmp/f$i; i=$((i+1)); done",
        // Many entries that take no blocks.
        "perl -e 'for (;;) { open F, q(>), q(e).$n++ or die; close F }'",
        // Deeper than anybody looks.
        "perl -e 'for (;;) { mkdir q(d); chdir q(d) or die }'",
        // Files without a name.
        "perl -e 'for (1..200) { open $f[$_], q(>), q(u) or die; unlink q(u); syswrite $f[$_], q(x) x 8_000_000 } sleep 60'",
    ] {
        let agent = place.shell(script);
        let end = run(&place, &agent, 30).await;
        assert!(end.exit.disk_full, "{script}: {end:?}");
        assert!(!end.exit.timed_out && !end.exit.stopped, "{script}: {end:?}");
        assert!(used_bytes(&place) < 4096 * MIB, "{script} was stopped late: {}", used_bytes(&place));
        let folders = [&place.volumes.workspace, &place.volumes.home];
        let removed = std::process::Command::new("sh")
            .args(["-c", "for f; do find \"$f\" -mindepth 1 -maxdepth 1 -exec rm -rf {} +; done", "sh"])
            .args(folders)
            .status()
            .unwrap();
        assert!(removed.success());
    }
    // One file is never larger than the limit, whoever is quicker.
    let end = run(&place, &place.shell("head -c 4000000000 /dev/zero > big; echo $?"), 30).await;
    assert!(std::fs::metadata(place.volumes.workspace.join("big")).unwrap().len() <= 64 * MIB, "{end:?}");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn a_server_that_fills_the_disk_or_its_log() {
    let place = TestPlace::new().await;
    let script = "i=0; while :; do head -c 8000000 /dev/zero > f$i; i=$((i+1)); done\n";
    let server = place.containers.serve(&place.server(script)).await.unwrap();
    let began = Instant::now();
    while place.containers.runs(&server).await.unwrap() {
        assert!(began.elapsed() < BUSY * 20);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let exit = place.containers.end(server).await.unwrap().exited.unwrap();
    assert!(exit.disk_full && !exit.timed_out, "{exit:?}");

    let place = {
        place.clear().await;
        TestPlace::new().await
    };
    let server = place.containers.serve(&place.server("yes 0123456789 | head -c 300000000\n")).await.unwrap();
    while place.containers.runs(&server).await.unwrap() {
        assert!(began.elapsed() < BUSY * 40);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let end = place.containers.end(server).await.unwrap();
    assert_eq!(end.exited.unwrap(), exit_with_code(0));
    assert!(end.log.len() < 66 << 10 && text(&end.log).contains("bytes dropped here"), "{}", end.log.len());
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn one_that_wants_all_memory() {
    let place = TestPlace::new().await;
    let mut agent = place.shell("perl -e '$x = q(a) x (1 << 30); print length $x'");
    agent.limits.memory = 64 * MIB;
    let end = run(&place, &agent, 30).await;
    assert_eq!(end.exit, ContainerExit { out_of_memory: true, ..exit_with_code(137) }, "{end:?}");

    // Only a child is killed; the agent goes on.
    agent.argv[2].push_str("; echo alive");
    let end = run(&place, &agent, 30).await;
    assert_eq!(end.exit, ContainerExit { out_of_memory: true, ..exit_with_code(0) }, "{end:?}");
    assert!(text(&end.stdout).contains("alive"));

    // Temporary files are memory, but a full /tmp is only full.
    agent.argv[2] = "head -c 1000000000 /dev/zero > /tmp/x || echo full".to_owned();
    let end = run(&place, &agent, 30).await;
    assert_eq!(end.exit, exit_with_code(0), "{end:?}");
    assert_eq!(text(&end.stdout), "full\n");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn one_that_writes_links_to_everywhere() {
    use std::os::unix::fs::MetadataExt;
    let place = TestPlace::new().await;
    let script = "ln -s / root; ln -s /etc etc; ln -s /etc/passwd passwd; ln -s ../../../../.. up; \
                  ln -s /proc/self/root proc; mkdir a; ln -s ../a a/loop; ln -s / $HOME/root; mkfifo pipe; \
                  ln /etc/passwd hard 2>/dev/null || echo no hard link";
    let end = run(&place, &place.shell(script), 30).await;
    assert_eq!(end.exit, exit_with_code(0), "{end:?}");
    assert_eq!(text(&end.stdout), "no hard link\n");
    let before = std::fs::metadata("/etc/passwd").unwrap();
    // The next container measures the folders and gives them to its user.
    let end = run(&place, &place.shell("ls -l"), 30).await;
    assert_eq!(end.exit, exit_with_code(0), "{end:?}");
    assert!(used_bytes(&place) < MIB, "links are not followed: {}", used_bytes(&place));
    let after = std::fs::metadata("/etc/passwd").unwrap();
    assert_eq!((before.uid(), before.gid(), before.mode()), (after.uid(), after.gid(), after.mode()));
    assert_eq!(std::fs::metadata("/").unwrap().uid(), 0);
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn one_that_kills_all_it_can() {
    let place = TestPlace::new().await;
    let script = format!("sleep {} & sleep 1; kill -9 -1; sleep 1; echo survived; sleep 1000", mark(&place));
    let end = run(&place, &place.shell(&script), 20).await;
    assert_eq!(end.exit, exit_with_code(137), "{end:?}");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn one_that_opens_ten_thousand_files() {
    let place = TestPlace::new().await;
    let script = "perl -e 'for (1..10_000) { open $f[$_], q(/dev/null) or last; $n++ } print $n'";
    let end = run(&place, &place.shell(script), 20).await;
    assert_eq!(end.exit, exit_with_code(0), "{end:?}");
    let opened: u64 = text(&end.stdout).parse().unwrap();
    assert!((200..256).contains(&opened), "{opened}");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn one_that_prints_a_gigabyte() {
    let place = TestPlace::new().await;
    let (send, _live) = tokio::sync::mpsc::channel(4);
    let before = memory();
    let agent = place.shell("yes 0123456789 | head -c 1000000000");
    let end = place.containers.agent(&agent, CancellationToken::new(), Some(send)).await.unwrap();
    let grown = memory().saturating_sub(before);
    assert_eq!(end.exit, exit_with_code(0), "{:?}", end.exit);
    assert_eq!(end.output_bytes, 1_000_000_000);
    assert!(end.stdout.len() < 66 << 10, "{}", end.stdout.len());
    assert!(text(&end.stdout).contains("999934464 bytes dropped here"));
    assert!(grown < 48 * MIB, "our memory grew by {} MiB", grown / MIB);
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn one_that_never_returns() {
    let place = TestPlace::new().await;
    let mut agent = place.shell("trap 'echo no' TERM; while :; do sleep 0.2; done");
    agent.limits.seconds = 2;
    let end = run(&place, &agent, 30).await;
    assert_eq!(end.exit, ContainerExit { timed_out: true, ..exit_with_code(137) }, "{end:?}");
    assert!(text(&end.stdout).starts_with("no\n"), "it was asked first: {end:?}");

    // Most end when they are asked to.
    let mut agent = place.shell("sleep 1000");
    agent.limits.seconds = 1;
    let end = run(&place, &agent, 12).await;
    assert_eq!(end.exit, ContainerExit { timed_out: true, ..exit_with_code(124) }, "{end:?}");

    // One that stops its own watchman is ended from outside.
    let mut agent = place.shell("kill -STOP $PPID; sleep 1000");
    agent.limits.seconds = 1;
    let end = run(&place, &agent, 40).await;
    assert!(end.exit.timed_out, "{end:?}");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn one_that_leaves_a_process_behind_that_holds_its_output() {
    let place = TestPlace::new().await;
    let script = format!("setsid sh -c 'sleep {} & sleep {}' & echo done", mark(&place), mark(&place));
    let end = run(&place, &place.shell(&script), 15).await;
    assert_eq!(end.exit, exit_with_code(0), "{end:?}");
    assert_eq!(text(&end.stdout), "done\n");
    place.clear().await;
}

#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn the_gateway_is_reached_and_nothing_else() {
    use tokio::io::AsyncWriteExt;
    let place = TestPlace::new().await;
    let GatewayPlace::Socket { path, container_address: gateway } = place.prepare().await else {
        panic!("a gateway for containers without a network has a socket");
    };
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // A relay looks whether somebody listens, and leaves at once: what cannot be written there is nobody's failure.
            let _ = stream.write_all(b"gateway\n").await;
        }
    });
    // A server of the same run, and an agent of another episode that listens.
    let listen = "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => q(0.0.0.0), LocalPort => 8000, \
                  Listen => 5, ReuseAddr => 1) or die; print STDERR q(ready); while ($c = $s->accept) { print $c qq(open\\n) }'";
    let server = place.containers.serve(&place.server(listen)).await.unwrap();
    let other = TestPlace::new().await;
    let mut neighbor = other.shell(listen);
    neighbor.owner.run.clone_from(&place.owner.run);
    neighbor.owner.episode = "scenario_1".to_owned();
    // A service of this machine, on all of its addresses.
    let service = std::net::TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let service = service.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let (send, mut live) = tokio::sync::mpsc::channel(16);
    let (containers, stopped) = (place.engine.clone(), stop.clone());
    let listening = tokio::spawn(async move {
        sandbox::Containers::Engine(containers).agent(&neighbor, stopped, Some(send)).await
    });
    let mut printed = String::new();
    while !printed.contains("ready") {
        printed.push_str(&text(&live.recv().await.unwrap()));
    }
    let address = server.address.unwrap();
    let std::net::IpAddr::V4(server_at) = address.ip() else { panic!("{server:?}") };
    // Its bridge's address on the host.
    let host = std::net::Ipv4Addr::from_bits(server_at.to_bits() & !0xff | 1);

    let try_one = "try() { perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1], \
                   Timeout => 3) or exit 1; print scalar <$s>' $1 $2 && echo \"$3 reached\" || echo \"$3 closed\"; }; ";
    let script = format!(
        "{try_one} try {} {} gateway; try 127.0.0.1 8000 neighbor; try {server_at} {} server; try {host} {service} host; \
         try 172.17.0.1 {service} host; try 127.0.0.1 {service} host; try 1.1.1.1 80 internet; try 9.9.9.9 53 internet; \
         ls /gateway 2>/dev/null; ls /sys/class/net; getent hosts example.org || echo no names",
        gateway.ip(),
        gateway.port(),
        address.port(),
    );
    let end = place.run(&place.shell(&script)).await;
    assert_eq!(
        text(&end.stdout),
        "gateway\ngateway reached\nneighbor closed\nserver closed\nhost closed\nhost closed\nhost closed\ninternet closed\n\
         internet closed\nlo\nno names\n",
        "{end:?}"
    );
    stop.cancel();
    listening.await.unwrap().unwrap();
    place.containers.end(server).await.unwrap();

    // Nor does a server reach the internet.
    let script = format!("{try_one} try 1.1.1.1 80 internet; getent hosts example.org || echo no names");
    let server = place.containers.serve(&place.server(&script)).await.unwrap();
    let began = Instant::now();
    while place.containers.runs(&server).await.unwrap() {
        assert!(began.elapsed() < Duration::from_mins(2));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let log = place.containers.end(server).await.unwrap().log;
    assert_eq!(text(&log), "internet closed\nno names\n");
    place.clear().await;
}

/// What an agent sends to a gateway that does not read is held back in its own container: in the relay it would be the relay's memory,
/// and whoever fills that would end the way to the gateway, which is nobody's failure.
#[tokio::test]
#[ignore = "needs a container engine"]
// docs/security.md: Agents
async fn a_flood_of_requests_does_not_fill_the_relay() {
    let place = TestPlace::new().await;
    let GatewayPlace::Socket { path, container_address } = place.prepare().await else {
        panic!("it has a socket")
    };
    // It takes connections and reads nothing.
    let gateway = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let script = format!(
        "perl -MIO::Socket::INET -e 'my @all; my $piece = q(x) x 65536; for (1..100) {{ my $s = IO::Socket::INET->new(PeerAddr => \
         q({ip}), PeerPort => {port}) or die $!; $s->blocking(0); push @all, $s }} my $went = 1; while ($went) {{ $went = 0; \
         for (1..10) {{ for my $s (@all) {{ $went = 1 while syswrite $s, $piece }} select undef, undef, undef, 0.1 }} }} \
         open my $f, q(<), q(/proc/net/tcp); my ($n, $sum) = (0, 0); while (<$f>) {{ my @w = split; next unless \
         $w[1] =~ /:{port:04X}$/ and $w[3] eq q(01); $n++; $sum += hex((split /:/, $w[4])[1]) }} print qq($n ), \
         ($sum < (16 << 20) ? qq(held back\n) : qq($sum bytes wait\n))'",
        ip = container_address.ip(),
        port = container_address.port(),
    );
    let end = place.run(&place.shell(&script)).await;
    assert_eq!(text(&end.stdout), "100 held back\n", "{end:?}");
    drop(gateway);
    place.clear().await;
}
