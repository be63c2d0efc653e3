//! Writes real files as the first inputs of every target.

use std::fs;
use std::path::Path;

use fuzz::{Sample, files, fixture};

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let write = |target: &str, name: String, bytes: &[u8]| {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(name), bytes).expect("a seed can be written");
    };
    for (target, sample) in [
        ("harbor", "harbor/jobs/terminus2-mock-priced"),
        ("terminal_bench", "terminal_bench/run-a"),
        ("evocode", "evocode"),
        ("locobench", "locobench/recorded"),
        ("staminabench", "staminabench/own"),
        ("table", "table"),
    ] {
        for (number, (_, bytes)) in files(&fixture(sample)).iter().enumerate() {
            let number = u16::try_from(number).expect("a sample is small");
            write(target, format!("seed-{number}"), &[&number.to_le_bytes()[..], bytes].concat());
        }
    }
    for (target, sample) in
        [("pack", Sample::pack()), ("run_state", Sample::run()), ("tasks", Sample::task())]
    {
        for (number, (_, bytes)) in sample.files().iter().enumerate() {
            let number = u16::try_from(number).expect("a sample is small");
            write(target, format!("seed-{number}"), &[&number.to_le_bytes()[..], bytes].concat());
        }
    }
    // The `task.toml` is the last file of its sample. A trajectory of another program is the only file of its sample.
    let last = u16::try_from(Sample::task().files().len() - 1).expect("a sample is small");
    write("tasks", "seed-all-keys".to_owned(), &[&last.to_le_bytes()[..], TASK].concat());
    for (number, (path, bytes)) in files(&fixture("staminabench")).iter().enumerate() {
        if path.ends_with("trajectory.json") {
            write("foreign", format!("seed-{number}"), &[&[0_u8, 0][..], bytes].concat());
        }
    }
    for (number, (_, bytes)) in files(&fixture("harbor/tasks")).iter().enumerate() {
        if bytes.starts_with(b"FROM ") {
            write("recipe", format!("seed-{number}"), bytes);
        }
    }
    write("recipe", "seed-forms".to_owned(), RECIPE);
    for (number, (_, bytes)) in files(&fixture("pytest/logs")).iter().enumerate() {
        write("words", format!("seed-{number}"), &[&b"failed 404\n"[..], &bytes[..]].concat());
    }
    write("words", "seed-letters".to_owned(), WORDS.as_bytes());
    write("unread", "seed-results".to_owned(), b"{\"results\": [{\"task_id\": \"a\", \"resolved\": true}]}");
    let config = fs::read(fixture("staminabench/own/config.yaml")).expect("a fixture can be read");
    write("settings", "seed-file".to_owned(), &config);
    write("settings", "seed-values".to_owned(), VALUES);
    for (number, (_, bytes)) in files(&fixture("pytest/logs")).iter().enumerate() {
        write("pytest_log", format!("seed-{number}"), bytes);
    }
    let all = files(&fixture("harbor/jobs"));
    for (number, (_, bytes)) in all.iter().filter(|(path, _)| path.ends_with("trajectory.json")).enumerate() {
        write("atif", format!("seed-{number}"), bytes);
    }
    let empty_zip = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    write("zip_tree", "seed-empty".to_owned(), empty_zip);
    write("zip_tree", "seed-two".to_owned(), TWO_ENTRIES);
}

/// Settings in the form of the command line.
const VALUES: &[u8] =
    b"agent=CODEX\ncodex.model_id=acme/new\nendpoint.base_url=https://a.example\nendpoint.key_env=KEY\n\
    docker.env_vars=[A, B=c]\nlimits.run.usd=3\nrestful_server_gen_iterative.n_turns=5\noutput_dir=/x\n";

/// Every known key of a task.
const TASK: &[u8] = br#"schema_version = "1.4"
multi_step_reward_strategy = "final"
artifacts = ["/logs/artifacts", { source = "/app/out", destination = "out", exclude = ["*.o"], service = "main" }]
[metadata]
name = "all keys"
[agent]
timeout_sec = 600.0
user = "agent"
[verifier]
timeout_sec = 300
user = 0
env = { A = "${B:-c}", D = "e" }
collect = ["ls"]
environment_mode = "separate"
[environment]
docker_image = "debian:13"
build_timeout_sec = 600.0
os = "linux"
cpus = 1.5
memory = "4G"
storage_mb = 2048
gpus = 0
gpu_types = []
mcp_servers = []
env = { HOME = "/root" }
skills_dir = ""
workdir = "/app"
allow_internet = false
network_mode = "allowlist"
allowed_hosts = ["example.org"]
healthcheck = { command = "true", interval_sec = 1, timeout_sec = 2, start_period_sec = 3, start_interval_sec = 4, retries = 5 }
[solution.env]
KEY = "${SOME_KEY}"
[[steps]]
name = "round-1"
min_reward = { reward = 0.5, style = 1 }
inherit_prior_session = true
artifacts = ["/app/log"]
[steps.agent]
timeout_sec = 1
[steps.verifier.env]
F = "g"
[[steps]]
name = "round-2"
min_reward = 1.0
"#;

/// Forms of a recipe that engines and readers have interpreted differently.
const RECIPE: &[u8] = b"# syntax=docker/dockerfile:1\n# escape=`\nARG A=b\nFROM --platform=x debian:13 AS base\nENV A \"b c\"\n\
    LABEL a=b \\\n\n  # c\n  d\nRUN <<-'END' <<B\n\tcurl x\n\tEND\nB\nCOPY --from=base --chown=0 [\"/x\", \"/y\"]\n\
    COPY <<E /x\nE\nADD https://example.org/x.tar /\nONBUILD RUN true\nSHELL [\"sh\"]\nHEALTHCHECK CMD true\nFROM base\n";

/// A query, and a log in several scripts.
const WORDS: &str = "\u{130}stanbul 404\nGET /items?limit=10 \u{1b}[31m404\u{1b}[0m gr\u{fc}\u{df}e \u{130}STANBUL \u{3a3}\u{3a3} 9f86d081884c7d65 \u{4f60}\u{597d}\n";

/// A stored and a deflated entry.
const TWO_ENTRIES: &[u8] = include_bytes!("two_entries.zip");
