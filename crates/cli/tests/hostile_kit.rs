//! The hostile kit: sources and records of runs that were made to do harm, given to the real program. Whatever lies there, the
//! program ends by itself, in bounded memory, says in words what is wrong, and touches nothing outside.
//!
//! docs/security.md names this kit. Everything is made from fixed numbers, so a failure comes again.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use app::{Served, TestHome, text};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use test_folders::copy;

mod app;

/// The most memory that the program may hold, in MiB.
const MOST_MEMORY: u64 = 500;
/// Address space that it gets, in KiB: a bomb ends the program and not the machine.
const ADDRESS_SPACE: u64 = 6 << 20;
/// The most processor time that the program may take, in seconds. Unoptimized it takes up to 8 s, and half as much again where other
/// tests share its caches. What grows faster than its source takes minutes.
const MOST_WORK: f64 = 30.0;
/// When a program that waits counts as one that hangs. Its work is bounded above; this is wall time, and grows with whatever else runs.
const HANGS: Duration = Duration::from_mins(5);
/// A variable that names another program, which then has these 10 s: `STAMINA_PROGRAM=target/release/stamina cargo test --test
/// hostile_kit`.
const PROGRAM: &str = "STAMINA_PROGRAM";
const HANGS_IN_RELEASE: Duration = Duration::from_secs(10);

/// What a run of the program came to.
struct Ran {
    status: ExitStatus,
    output: String,
    /// MiB.
    peak: u64,
    /// Seconds of processor time.
    work: f64,
}

/// Runs the program with bounded memory and time.
fn run(test_home: &TestHome, args: &[&str]) -> Ran {
    let plain = test_home.command(args);
    let other = std::env::var_os(PROGRAM);
    let hangs = if other.is_some() { HANGS_IN_RELEASE } else { HANGS };
    let program = other.unwrap_or_else(|| plain.get_program().to_owned());
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {ADDRESS_SPACE} && exec \"$0\" \"$@\"")])
        .arg(program)
        .args(plain.get_args())
        .current_dir(test_home.path(""))
        .stdin(Stdio::null())
        .stdout(fs::File::create(test_home.path("out")).expect("a file"))
        .stderr(fs::File::create(test_home.path("err")).expect("a file"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command.spawn().expect("it starts");
    let (begun, mut peak, mut work) = (Instant::now(), 0, 0.0_f64);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            break status;
        }
        peak = peak.max(held(child.id()));
        work = work.max(worked(child.id()));
        if begun.elapsed() > hangs {
            drop(child.kill());
            panic!("{args:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let output =
        [test_home.path("out"), test_home.path("err")].map(|path| text(&fs::read(path).expect("its output")));
    Ran { status, output: output.concat(), peak, work }
}

/// Seconds of processor time that a process and its threads took so far; 0 once it has ended.
fn worked(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // After the name, which may hold anything: user and system time are the 12th and 13th number, in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// The most memory that a process ever held, in MiB; 0 once it has ended.
fn held(process: u32) -> u64 {
    // For a moment a new process has the memory of this one, which holds large records.
    let program = |process: &str| fs::read_link(format!("/proc/{process}/exe")).ok();
    if program(&process.to_string()) == program("self") {
        return 0;
    }
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// A folder outside everything that is given to the program, with what must stay as it is and what must not be opened.
struct Outside {
    folder: PathBuf,
    before: Vec<(PathBuf, Vec<u8>, std::time::SystemTime)>,
    watch: OwnedFd,
}

impl Outside {
    fn new(test_home: &TestHome) -> Self {
        let folder = test_home.path("outside");
        fs::create_dir_all(folder.join("home/.ssh")).expect("a folder");
        for (name, content) in [
            ("home/.ssh/authorized_keys", "ssh-ed25519 AAAA somebody\n"),
            ("home/.profile", "# a profile\n"),
            ("secret.yaml", "token: hunter2-canary\n"),
            ("secret.txt", "hunter2-canary\n"),
            ("trajectory.json", "{\"turns\": [{\"turn\": 1, \"request\": \"hunter2-canary\"}]}"),
        ] {
            fs::write(folder.join(name), content).expect("a file");
        }
        let before = state_of(&folder);
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).expect("a watch");
        for place in ["", "home", "home/.ssh"] {
            inotify::add_watch(&watch, folder.join(place), WatchFlags::ALL_EVENTS).expect("a watch");
        }
        Self { folder, before, watch }
    }

    /// Nothing was opened, read or changed since the last look.
    fn is_untouched(&self, what: &str) {
        assert_eq!(self.touched(), [""; 0], "{what} touched what lies outside");
        assert!(state_of(&self.folder) == self.before, "{what} changed something outside");
        // That was this test itself.
        self.touched();
    }

    /// What happened in it since the last look: event and name.
    fn touched(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.watch, &mut buffer);
        let mut found = Vec::new();
        while let Ok(event) = events.next() {
            // Other programs of the machine may list folders at any time; nobody else opens these files.
            let is_listed = event.events().contains(ReadFlags::ISDIR)
                && event.events().intersects(ReadFlags::OPEN | ReadFlags::ACCESS | ReadFlags::CLOSE_NOWRITE);
            if is_listed {
                continue;
            }
            found.push(format!("{:?} {:?}", event.events(), event.file_name()));
        }
        found
    }
}

/// Every file below a folder: content and time of change.
fn state_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let meta = entry.metadata().expect("an entry");
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                let content = fs::read(entry.path()).expect("a file");
                found.push((entry.path(), content, meta.modified().expect("a time")));
            }
        }
    }
    found.sort();
    found
}

/// Sets what a record of a run counts to the ends of the ranges; its settings stay as they are.
fn far_numbers(key: &str, value: &mut serde_json::Value) {
    use serde_json::{Value, json};
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut().filter(|(key, _)| key.as_str() != "settings") {
                far_numbers(key, value);
            }
        }
        Value::Array(items) => {
            for item in items {
                far_numbers(key, item);
            }
        }
        Value::Number(_) => match key {
            "input" | "output" | "cached" | "requests" | "unmetered" | "tokens" => *value = json!(u64::MAX),
            "calls" | "number" | "retries" | "retried" | "lost" => *value = json!(u32::MAX),
            "seconds" | "known_usd" | "cost_usd" | "usd" => *value = json!(-1e300),
            _ => {}
        },
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// What holds of every run of the program.
fn is_harmless(what: &str, ran: &Ran, outside: &Outside) {
    let Ran { status, output, peak, work } = ran;
    assert!(status.code().is_some_and(|code| code < 100), "{what}: {status}\n{output}");
    assert!(*peak <= MOST_MEMORY, "{what} took {peak} MiB");
    assert!(*work <= MOST_WORK, "{what} took {work} s of processor time");
    assert!(!output.contains("panicked") && !output.contains("fault in Stamina Lab"), "{what}: {output}");
    assert!(!output.contains("hunter2"), "{what} shows what lies outside: {output}");
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{202a}'..='\u{202e}');
    assert!(!output.contains(obeyed), "{what} prints what a terminal obeys: {output:?}");
    outside.is_untouched(what);
}

/// Whether a run of the program says that something is not as it should be, whatever weight that has for the results.
fn is_told(ran: &Ran) -> bool {
    ["warning: ", "repair: ", "note: "].iter().any(|severity| ran.output.contains(severity))
}

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    root.join("tests/fixtures").join(name)
}

fn fifo(path: &Path) {
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

fn link(to: impl AsRef<Path>, at: &Path) {
    drop(fs::remove_file(at));
    drop(fs::remove_dir_all(at));
    symlink(to, at).expect("a link");
}

fn sparse(path: &Path, bytes: u64) {
    drop(fs::remove_file(path));
    fs::File::create(path).expect("a file").set_len(bytes).expect("a size");
}

/// A zip of empty, stored entries; `begin` says where an entry claims to lie, by where it lies.
fn zip_of_names(names: impl Iterator<Item = String>, begin: impl Fn(usize) -> usize) -> Vec<u8> {
    let (mut out, mut list, mut count) = (Vec::new(), Vec::new(), 0_u64);
    for name in names {
        let length = u16::try_from(name.len()).expect("a short name").to_le_bytes();
        let fields = [&[20, 0, 0, 8, 0, 0, 0, 0, 0, 0][..], &[0; 12], &length, &[0; 2]].concat();
        let at = u32::try_from(begin(out.len())).expect("a small zip").to_le_bytes();
        out.extend([b"PK\x03\x04", &fields[..], name.as_bytes()].concat());
        list.extend([b"PK\x01\x02\x14\x03", &fields[..], &[0; 10], &at, name.as_bytes()].concat());
        count += 1;
    }
    let (begins, length) = (out.len() as u64, list.len() as u64);
    out.extend(list);
    let end = out.len() as u64;
    out.extend(b"PK\x06\x06");
    for (number, bytes) in
        [(44, 8), (45, 2), (45, 2), (0, 4), (0, 4), (count, 8), (count, 8), (length, 8), (begins, 8)]
    {
        out.extend(&u64::to_le_bytes(number)[..bytes]);
    }
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(end.to_le_bytes());
    out.extend([1, 0, 0, 0]);
    out.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    out
}

/// What is wrong with a source, in words, and what makes it so.
type SourceHarm = (&'static str, Box<dyn Fn(&Path)>);
/// The same of a record of a run.
type RecordHarm<'a> = (&'a str, &'a dyn Fn(&Path));

/// One thing that is wrong with a source, by name. Each is done to a copy of a small real run.
fn harms(outside: &Path) -> Vec<SourceHarm> {
    let outside = outside.to_owned();
    let at = move |name: &str| outside.join(name);
    let (keys, profile, secret, trajectory) =
        (at("home/.ssh/authorized_keys"), at("home/.profile"), at("secret.yaml"), at("trajectory.json"));
    let home = at("home");
    let whole = at("");
    vec![
        (
            "long texts that aliases repeat",
            Box::new(|run| {
                let long = "x".repeat(1 << 20);
                let config =
                    format!("agent: MINI_SWE\na: &a {long}\nb: [{}]\n", vec!["*a"; 40_000].join(","));
                fs::write(run.join("config.yaml"), config).expect("a file");
            }),
        ),
        (
            "aliases of aliases",
            Box::new(|run| {
                let mut config = "agent: MINI_SWE\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
                for n in 1..40 {
                    let many = vec![format!("*a{}", n - 1); 9].join(",");
                    writeln!(config, "a{n}: &a{n} [{many}]").expect("a text");
                }
                fs::write(run.join("config.yaml"), config).expect("a file");
            }),
        ),
        (
            "names of names",
            Box::new(|run| {
                fs::write(run.join("config.yaml"), format!("{}a: b\n", "? ".repeat(60_000))).expect("a file");
            }),
        ),
        (
            "a long name above many",
            Box::new(|run| {
                let many: Vec<String> = (0..100_000).map(|n| format!("k{n}: 1")).collect();
                let config = format!("{}: {{{}}}\n", "x".repeat(1000), many.join(", "));
                fs::write(run.join("config.yaml"), config).expect("a file");
            }),
        ),
        (
            "deep brackets",
            Box::new(|run| {
                fs::write(run.join("config.yaml"), "[".repeat(1 << 20)).expect("a file");
                fs::write(run.join("report.json"), "[".repeat(1 << 20)).expect("a file");
                fs::write(run.join("scenario_0/trajectory.json"), "{\"a\":".repeat(1 << 20)).expect("a file");
            }),
        ),
        (
            "a long name above many transcripts",
            Box::new(|run| {
                let many: Vec<String> = (0..200_000)
                    .map(|n| format!("\"a{n}\":{{\"messages\":[{{\"role\":\"assistant\"}}]}}"))
                    .collect();
                let text = format!("{{\"{}\":{{{}}}}}", "k".repeat(1 << 20), many.join(","));
                fs::write(run.join("scenario_1/trajectory.json"), text).expect("a file");
            }),
        ),
        (
            "very many small attempts",
            Box::new(|run| {
                let many = vec!["{}"; 500_000].join(",");
                let text = format!("{{\"turns\":[{{\"turn\":1,\"attempts\":[{many}]}}]}}");
                fs::write(run.join("scenario_1/trajectory.json"), text).expect("a file");
            }),
        ),
        (
            "a task of very many steps that says much",
            Box::new(|run| {
                let config = "agent: MINI_SWE\nbenchmark: HARBOR\nharbor:\n  protocol: sr\n";
                fs::write(run.join("config.yaml"), config).expect("a file");
                let list = vec!["1234567"; 250].join(",");
                let fields: Vec<String> = (0..60).map(|n| format!("\"field{n}\":[{list}],")).collect();
                let fields = fields.concat();
                for task in 0..4 {
                    let text = format!(
                        "{{\"schema_version\":\"stamina-lab/1\",\"planned_turns\":4000000000,\"task\":\"t{task}\",\
                         \"protocol\":\"sr\",{fields}\"turns\":[]}}"
                    );
                    let folder = run.join(format!("scenario_{task}"));
                    fs::create_dir_all(&folder).expect("a folder");
                    fs::write(folder.join("trajectory.json"), text).expect("a file");
                }
            }),
        ),
        (
            "pipes in the place of files",
            Box::new(|run| {
                for name in ["config.yaml", "report.json", "scenario_0/trajectory.json"] {
                    fifo(&run.join(name));
                }
            }),
        ),
        (
            "links to devices",
            Box::new(|run| {
                for name in ["config.yaml", "report.json", "scenario_0/trajectory.json"] {
                    link("/dev/zero", &run.join(name));
                }
            }),
        ),
        (
            "links to files outside",
            Box::new(move |run| {
                link(&secret, &run.join("config.yaml"));
                link(&keys, &run.join("report.json"));
                link(&trajectory, &run.join("scenario_0/trajectory.json"));
                link(&profile, &run.join("scenario_1/test_results/turn_1_attempt_1.txt"));
            }),
        ),
        (
            "links to folders outside",
            Box::new(move |run| {
                link(&whole, &run.join("scenario_0"));
                link(&home, &run.join("scenario_1/test_results"));
                link("/", &run.join("scenario_2"));
                link("..", &run.join("scenario_1/agent_logs"));
            }),
        ),
        (
            "sparse giants",
            Box::new(|run| {
                for name in ["config.yaml", "report.json", "scenario_0/trajectory.json", "scenario_1/x.json"]
                {
                    sparse(&run.join(name), 64 << 30);
                }
            }),
        ),
        (
            "names that a terminal obeys",
            Box::new(|run| {
                fs::write(
                    run.join("config.yaml"),
                    "agent: \"\\e]0;owned\\a\\e[2J\"\nbenchmark: \"a\\u202eb\"\n",
                )
                .expect("a file");
                copy(&run.join("scenario_1"), &run.join("scenario_3\u{1b}[2J\u{9b}31m"));
                fs::write(run.join("scenario_1/\u{1b}]0;x\u{7}.json"), "{").expect("a file");
                link("/etc/passwd", &run.join("scenario_1/\u{202e}gnp.exe"));
            }),
        ),
        (
            "a file of line breaks",
            Box::new(|run| {
                fs::write(run.join("scenario_1/test_results/turn_1_attempt_1.txt"), "\n".repeat(32 << 20))
                    .expect("a file");
            }),
        ),
        (
            "a million tests",
            Box::new(|run| {
                let mut log = "= test session starts =\ncollected 1000000 items\n\n".to_owned();
                for n in 0..1_000_000 {
                    writeln!(log, "test_turn.py::test_{n} FAILED").expect("a text");
                }
                fs::write(run.join("scenario_1/test_results/turn_1_attempt_1.txt"), log).expect("a file");
            }),
        ),
        (
            "numbers at the ends of their ranges",
            Box::new(|run| {
                let path = run.join("scenario_1/trajectory.json");
                let text = fs::read_to_string(&path).expect("a trajectory");
                for (from, to) in [
                    ("\"total\":", "1e308"),
                    ("\"attempt\":", "-9223372036854775808"),
                    ("\"turn\":", "4294967296"),
                ] {
                    let parts: Vec<&str> = text.splitn(2, from).collect();
                    let rest =
                        parts[1].trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
                    fs::write(&path, format!("{}{from} {to}{rest}", parts[0])).expect("a file");
                }
            }),
        ),
    ]
}

#[test]
// docs/security.md: The hostile kit
fn hostile_folders_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let whole = test_home.path("whole");
    copy(&fixture("staminabench/own"), &whole);
    let ran = run(&test_home, &["ingest", "whole"]);
    assert!(ran.status.success() && !is_told(&ran), "nothing is wrong with it: {}", ran.output);
    for (number, (what, harm)) in harms(&outside.folder).into_iter().enumerate() {
        let folder = test_home.path(&format!("run-{number}"));
        copy(&fixture("staminabench/own"), &folder);
        harm(&folder);
        let ran = run(&test_home, &["ingest", &folder.display().to_string()]);
        is_harmless(what, &ran, &outside);
        // Odd names are no fault of the results.
        let is_fault = what != "names that a terminal obeys";
        let is_told = is_told(&ran) || !ran.status.success();
        assert!(is_told || !is_fault, "{what} is not told: {}", ran.output);
        // Reads the texts of what was just opened.
        let ran = run(&test_home, &["search", "hunter2"]);
        is_harmless(&format!("{what}, searched"), &ran, &outside);
        let ran = run(&test_home, &["import-report", &format!("run-{number}")]);
        is_harmless(what, &ran, &outside);
    }
    let ran = run(&test_home, &["runs"]);
    is_harmless("the library of all of them", &ran, &outside);
    assert!(ran.status.success());
}

/// So many bytes of different words that begin with `a`.
fn different_words(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 8);
    let mut number = 0_usize;
    while text.len() < bytes {
        text.push(b'a');
        let mut rest = number;
        for _ in 0..4 {
            text.push(b'a' + (rest % 26) as u8);
            rest /= 26;
        }
        text.push(if number % 10 == 9 { b'\n' } else { b' ' });
        number += 1;
    }
    text
}

/// Gives a file two hundred names in its folder.
fn many_names(file: &Path, begin: &str, end: &str) {
    let folder = file.parent().expect("a folder");
    for number in 0..200 {
        fs::hard_link(file, folder.join(format!("{begin}{number}{end}"))).expect("a name");
    }
}

#[test]
// docs/security.md: The hostile kit
fn hostile_transcripts_and_logs_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let job = test_home.path("job");
    copy(&fixture("harbor/jobs/terminus2-mock-priced"), &job);
    let trial = job.join("theme_t1_w1_notes_cli__xVc8kuG/steps");
    let agent = |round: u32| trial.join(format!("round-{round}/agent"));
    // Logs of words that are all different, …
    let mut words = different_words(2 << 20);
    for letter in b'a'..=b'z' {
        words.iter_mut().step_by(6).for_each(|first| *first = letter);
        fs::write(agent(1).join(format!("{}.log", char::from(letter))), &words).expect("a log");
    }
    // … more transcripts than fit into memory, …
    let steps = vec!["{\"source\":\"agent\",\"message\":\"x\"}"; 5000].join(",");
    let transcript = agent(2).join("trajectory.json");
    fs::write(&transcript, format!("{{\"schema_version\":\"ATIF-v1.6\",\"steps\":[{steps}]}}"))
        .expect("a file");
    many_names(&transcript, "trajectory-", ".json");
    // … a line without end, all of which is escaped, …
    sparse(&agent(3).join("nul.log"), 200_000);
    // … and many logs.
    let log = agent(4).join("log.txt");
    fs::write(&log, "one line\n".repeat(500)).expect("a log");
    many_names(&log, "log-", ".txt");

    let ran = run(&test_home, &["ingest", "job"]);
    is_harmless("texts", &ran, &outside);
    assert!(ran.status.success(), "{}", ran.output);
    // The app makes the index by itself, …
    let mut served = Served::new(&test_home);
    let begun = Instant::now();
    let found = loop {
        let request = serde_json::json!({ "text": "escaped zwiebelkuchen", "limit": 5 });
        let found = served.get("search_texts", &request);
        if found["complete"] == true {
            break found;
        }
        assert!(begun.elapsed() < HANGS, "never searchable");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!((&found["hits"], &found["in_part"]), (&serde_json::json!([]), &serde_json::json!(1)));
    let (peak, work) = (held(served.id()), worked(served.id()));
    assert!(peak <= MOST_MEMORY && work <= MOST_WORK, "the app took {peak} MiB and {work} s");
    served.signal("TERM");
    assert!(served.wait().success());
    // … and what it names is read.
    for words in [["one", "line"], ["x00", "x00"]] {
        let ran = run(&test_home, &["search", words[0], words[1]]);
        is_harmless(&format!("a search for {words:?}"), &ran, &outside);
        assert!(!ran.output.contains("Nothing found"), "{words:?}: {}", ran.output);
    }
}

#[test]
// docs/security.md: The hostile kit
fn hostile_zips_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let zips = [
        (
            "names of many folders",
            zip_of_names((0..60_000).map(|n| format!("{n:x}/{}f", "a/".repeat(28))), |at| at),
        ),
        (
            "long names of folders",
            zip_of_names(
                (0..2_500).map(|n| format!("{n}/{}f", "long-name-of-a-folder-/".repeat(28))),
                |at| at,
            ),
        ),
        ("very many entries", zip_of_names((0..200_000).map(|n| format!("{n:x}")), |at| at)),
        (
            "entries that lie nowhere",
            zip_of_names((0..100_000).map(|n| format!("{n:x}/a")), |at| at + (1 << 30)),
        ),
        ("entries in one place", zip_of_names((0..100_000).map(|n| format!("{n:x}/a")), |_| 0)),
        ("names that lead out", zip_of_names((0..1000).map(|n| format!("../{n}/home/.profile")), |at| at)),
    ];
    for (what, bytes) in zips {
        let path = test_home.path("hostile.zip");
        fs::File::create(&path).and_then(|mut file| file.write_all(&bytes)).expect("a zip");
        let ran = run(&test_home, &["ingest", "hostile.zip"]);
        is_harmless(what, &ran, &outside);
        assert!(!ran.status.success(), "{what}: there are no results in it");
    }
}

#[test]
// docs/security.md: The hostile kit
fn hostile_tables_do_no_harm() {
    const HEADER: &str = "run,harness,model,scenario,turn,attempt,passed\n";
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let row = "a,h,m,s,1,1,1\n";
    let kinds = ["csv", "jsonl", "parquet"];
    let backwards: String = std::iter::once(HEADER.to_owned())
        .chain((0..4).flat_map(|n| (1..=10_000).rev().map(move |turn| format!("a,h,m,s{n},{turn},1,1\n"))))
        .collect();
    let apart: String = std::iter::once(HEADER.to_owned())
        .chain((1..=12).flat_map(|turn| (0..5000).map(move |n| format!("a,h,m,s{n},{turn},1,1\n"))))
        .collect();
    let never_ends = format!("{HEADER}{row}a,h,\"m,s,2,1,1\n{}", "x".repeat(64 << 20));
    let many_cells = format!("{HEADER}{row}a,h,m,s,2,1,1{}\n", ",1".repeat(1 << 20));
    let many_columns = format!("run,harness,model,scenario,turn,attempt,passed{}\n", ",x".repeat(30_000));
    let obeyed = format!("{HEADER}\u{1b}]0;x\u{7},\u{9b}31m,\u{202e}m,s\u{1b}[2J,1,1,\u{1b}c\n");
    let deep = format!("{{\"run\":\"a\"}}\n{{\"run\":{}\n", "[".repeat(3 << 20));
    let harms: Vec<SourceHarm> = vec![
        ("turns from the last to the first", writes("t.csv", backwards)),
        ("episodes that lie apart", writes("t.csv", apart)),
        ("a cell that never ends", writes("t.csv", never_ends)),
        ("a million cells in a row", writes("t.csv", many_cells)),
        ("thousands of columns", writes("t.csv", many_columns)),
        ("cells that a terminal obeys", writes("t.csv", obeyed)),
        ("deep brackets in a line", writes("t.jsonl", deep)),
        ("a line that never ends", writes("t.jsonl", "{\"run\":\"".to_owned() + &"x".repeat(64 << 20))),
        ("a Parquet that is none", writes("t.parquet", "PAR1\0\0\0\u{7f}PAR1".to_owned())),
        (
            "pipes in the place of tables",
            Box::new(move |folder| {
                for kind in kinds {
                    fifo(&folder.join(format!("t.{kind}")));
                }
            }),
        ),
        (
            "links to devices",
            Box::new(move |folder| {
                for kind in kinds {
                    link("/dev/zero", &folder.join(format!("t.{kind}")));
                }
            }),
        ),
        (
            "giants",
            Box::new(move |folder| {
                for kind in kinds {
                    sparse(&folder.join(format!("t.{kind}")), 64 << 30);
                }
            }),
        ),
        ("a link to a file outside", {
            let secret = outside.folder.join("secret.txt");
            Box::new(move |folder| link(&secret, &folder.join("t.csv")))
        }),
    ];
    for (number, (what, harm)) in harms.into_iter().enumerate() {
        let folder = test_home.path(&format!("tables-{number}"));
        fs::create_dir(&folder).expect("a folder");
        // Beside it lies one that is as it should be.
        fs::write(folder.join("good.csv"), format!("{HEADER}good,h,m,s,1,1,1\n")).expect("a file");
        harm(&folder);
        for source in [folder.clone(), folder.join("t.csv"), folder.join("t.jsonl"), folder.join("t.parquet")]
        {
            // Whoever names a link chose where it leads.
            if source.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()) {
                let ran = run(&test_home, &["ingest", &source.display().to_string()]);
                is_harmless(what, &ran, &outside);
                assert!(source != folder || ran.status.success(), "{what}: {}", ran.output);
            }
        }
    }
    let ran = run(&test_home, &["runs"]);
    is_harmless("the library of all tables", &ran, &outside);
}

/// Writes a file of a folder.
fn writes(name: &'static str, text: String) -> Box<dyn Fn(&Path)> {
    Box::new(move |folder| fs::write(folder.join(name), &text).expect("a file"))
}

#[test]
// docs/security.md: The hostile kit
fn large_sources_take_time_that_grows_with_their_size() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    // Thousands of scenarios, and a run behind thousands of folders.
    let folder = test_home.path("results");
    let one = fs::read(fixture("staminabench/own/scenario_1/trajectory.json")).expect("a trajectory");
    for number in 0..3000 {
        let scenario = folder.join(format!("many/scenario_{number}"));
        fs::create_dir_all(&scenario).expect("a folder");
        fs::write(scenario.join("trajectory.json"), &one).expect("a file");
    }
    for name in ["config.yaml", "report.json"] {
        fs::copy(fixture("staminabench/own").join(name), folder.join("many").join(name)).expect("a copy");
    }
    for number in 0..6000 {
        fs::create_dir_all(folder.join(format!("junk-{number}"))).expect("a folder");
    }
    copy(&fixture("staminabench/own"), &folder.join("zzz"));
    let ran = run(&test_home, &["ingest", "results"]);
    is_harmless("thousands of folders", &ran, &outside);
    assert!(ran.output.contains("2 runs, 3002 episodes"), "{}", ran.output);
    // Thousands of copies of one trial.
    let (from, job) = (fixture("harbor/jobs/failures-k1"), test_home.path("copies"));
    let trial = from.join("theme_v5_w1_notes_min_reward__PAxApKs");
    for number in 0..3000 {
        let copy = job.join(format!("copy-{number}__PAxApKs"));
        fs::create_dir_all(&copy).expect("a folder");
        for name in ["result.json", "config.json"] {
            // One file under many names would be as good, but for the number of names that a file system gives one.
            fs::copy(trial.join(name), copy.join(name)).expect("a copy");
        }
    }
    for name in ["config.json", "result.json"] {
        fs::copy(from.join(name), job.join(name)).expect("a copy");
    }
    let ran = run(&test_home, &["ingest", "copies"]);
    is_harmless("copies of one trial", &ran, &outside);
    assert!(ran.output.contains("1 run, 1 episode"), "{}", ran.output);
}

#[test]
// docs/security.md: The hostile kit
fn hostile_records_of_runs_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    test_home.run_until_budget(1, 1);
    let good = test_home.path("good");
    fs::rename(test_home.path("results"), &good).expect("renamed");
    let names = [
        "run.json",
        "lock",
        "events.jsonl",
        "gateway.jsonl",
        "control.json",
        "episodes/scenario_0.json",
        "state/scenario_0/journal.json",
    ];
    let to_outside = |path: &Path| link(outside.folder.join("home/.profile"), path);
    let harms: [RecordHarm<'_>; 10] = [
        ("a pipe", &fifo),
        ("a link to a device", &|path| link("/dev/zero", path)),
        ("a link outside", &to_outside),
        ("a giant", &|path| sparse(path, 64 << 30)),
        ("deep brackets", &|path| fs::write(path, "[".repeat(1 << 20)).expect("a file")),
        ("many values", &|path| fs::write(path, format!("[{}0]", "0,".repeat(8 << 20))).expect("a file")),
        ("many values in a valid record", &|path| {
            let read = fs::read(path).unwrap_or_default();
            let Ok(mut record) = serde_json::from_slice::<serde_json::Value>(&read) else { return };
            if record.is_object() {
                record["settings"]["kept"] = serde_json::json!({ "docker.x": vec![0; 8 << 20] });
                fs::write(path, record.to_string()).expect("a file");
            }
        }),
        ("a folder", &|path| {
            drop(fs::remove_file(path));
            fs::create_dir_all(path).expect("a folder");
        }),
        ("numbers at the ends of their ranges", &|path| {
            let read = fs::read_to_string(path).unwrap_or_default();
            let whole = serde_json::from_str::<serde_json::Value>(&read).map(|record| vec![record]);
            let lines = || -> Vec<serde_json::Value> {
                read.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
            };
            let mut records = whole.unwrap_or_else(|_| lines());
            for record in &mut records {
                far_numbers("", record);
            }
            let text: Vec<String> = records.iter().map(serde_json::Value::to_string).collect();
            fs::write(path, text.join("\n") + "\n").expect("a file");
        }),
        ("no JSON", &|path| fs::write(path, b"\xff\xfe\0\x1b]0;x\x07").expect("a file")),
    ];
    for name in names {
        for (what, harm) in &harms {
            let folder = test_home.path("results");
            drop(fs::remove_dir_all(&folder));
            copy(&good, &folder);
            let path = folder.join(".stamina").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            harm(&path);
            let what = format!("{what} as {name}");
            for args in [
                &["status", "results"][..],
                &["resume", "results"],
                &["resume", "results", "--trust", "--values", "limits.run.tokens=1000000"],
                &["stop", "results"],
                &["ingest", "results"],
            ] {
                let ran = run(&test_home, args);
                is_harmless(&format!("{what}, {}", args[0]), &ran, &outside);
                // What the reader of results takes from a record is still there in one of many values.
                if args[0] == "ingest"
                    && name == "run.json"
                    && !what.starts_with("many values in")
                    && !what.starts_with("numbers at the ends")
                {
                    assert!(is_told(&ran), "{what} is not told: {}", ran.output);
                }
            }
        }
    }
}
