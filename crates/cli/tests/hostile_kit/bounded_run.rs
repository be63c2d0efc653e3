//! A run of the program with bounded memory and time.

use std::fs;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::app::{TestHome, text};

/// The most memory that the program may hold, in MiB.
pub(crate) const MOST_MEMORY: u64 = 500;
/// Address space that it gets, in KiB: a bomb ends the program and not the machine.
const ADDRESS_SPACE: u64 = 6 << 20;
/// The most processor time that the program may take, in seconds. Unoptimized it takes up to 8 s, and half as much again where other
/// tests share its caches. What grows faster than its source takes minutes.
pub(crate) const MOST_WORK: f64 = 30.0;
/// When a program that waits counts as one that hangs. Its work is bounded above; this is wall time, and grows with whatever else runs.
pub(crate) const HANGS: Duration = Duration::from_mins(5);
/// A variable that names another program, which then has these 10 s: `STAMINA_PROGRAM=target/release/stamina cargo nextest run
/// --workspace -E 'test(/^hostile_kit::/)'`.
const PROGRAM: &str = "STAMINA_PROGRAM";
const HANGS_IN_RELEASE: Duration = Duration::from_secs(10);

/// What a run of the program came to.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    /// MiB.
    pub(crate) peak: u64,
    /// Seconds of processor time.
    pub(crate) work: f64,
}

/// Runs the program with bounded memory and time.
pub(crate) fn run(test_home: &TestHome, args: &[&str]) -> Ran {
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
pub(crate) fn worked(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // After the name, which may hold anything: user and system time are the 12th and 13th number, in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// The most memory that a process ever held, in MiB; 0 once it has ended.
pub(crate) fn held(process: u32) -> u64 {
    // For a moment a new process has the memory of this one, which holds large records.
    let program = |process: &str| fs::read_link(format!("/proc/{process}/exe")).ok();
    if program(&process.to_string()) == program("self") {
        return 0;
    }
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1024
}
