//! The commands of the scenario engine: the real program, in processes of its own.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use scenario::pack::{Manifest, Pack};
use serde_json::Value;
use test_folders::contents;

const SMALL: [&str; 3] = [
    "restful_server_gen_iterative.n_scenarios=2",
    "restful_server_gen_iterative.n_turns=3",
    "restful_server_gen_iterative.base_seed=0",
];

fn stamina(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamina")).args(args).output().expect("stamina runs")
}

fn json(args: &[&str]) -> Value {
    let output = stamina(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

fn generate(out: &Path) -> Value {
    let out = out.to_str().expect("UTF-8");
    json(&[&["generate", "--out", out, "--values"], SMALL.as_slice()].concat())
}

/// A reference server in a process of its own.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn new(pack: &Path, turn: &str) -> Self {
        Self::start(&[pack.to_str().expect("UTF-8"), "--scenario", "0", "--turn", turn])
    }

    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stamina"))
            .arg("serve-reference")
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("stamina runs");
        let mut url = String::new();
        let out = child.stdout.take().expect("its standard output");
        BufReader::new(out).read_line(&mut url).expect("a line");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn two_processes_generate_the_same_bytes() {
    let temp = tempfile::tempdir().expect("a folder");
    let temp_path = |name: &str| temp.path().join(name);
    let first_pack = generate(&temp_path("one"));
    assert_eq!((first_pack["scenarios"].as_u64(), first_pack["turns"].as_u64()), (Some(2), Some(3)));
    assert!(
        first_pack["seconds"].is_number()
            && first_pack["bytes"].as_u64().is_some_and(|bytes| bytes > 100_000),
        "{first_pack}"
    );
    let hashes: Vec<Value> =
        ["two", "a.zip", "b.zip"].iter().map(|name| generate(&temp_path(name))["sha256"].clone()).collect();
    assert!(hashes.iter().all(|hash| *hash == first_pack["sha256"]), "{hashes:?}");
    assert_eq!(contents(&temp_path("one")), contents(&temp_path("two")));
    assert_eq!(
        std::fs::read(temp_path("a.zip")).expect("a zip"),
        std::fs::read(temp_path("b.zip")).expect("a zip")
    );
}

/// Whoever ends the program with SIGTERM (a container, a queue) finds nothing half done.
#[test]
fn a_generation_that_is_ended_takes_away_what_it_has_begun() {
    for name in ["pack", "pack.zip"] {
        let temp = tempfile::tempdir().expect("a folder");
        let begun = || std::fs::read_dir(temp.path()).expect("the folder").count() > 0;
        let child = Command::new(env!("CARGO_BIN_EXE_stamina"))
            .args(["generate", "--out", temp.path().join(name).to_str().expect("UTF-8")])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("stamina runs");
        let started = std::time::Instant::now();
        while !begun() && started.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(begun(), "it has begun to write");
        let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(ended.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(!begun(), "{name}: something is left");
    }
}

/// The golden hashes of each version of the format: the sample pack's and the full pack's. Any change of what is generated
/// is a new version with a line of its own here; `npm run packs` makes the packs anew.
const GOLDEN: [(&str, &str, &str); 6] = [
    (
        "stamina-pack/2",
        "834698a45f2afeb75bdc23db42acf55b1df0b848ac6d4db19fd843772c27efe2",
        "301baf7deb0d093c6695550de5dd14861553dc7a3fb0e56e74f4333c76783adb",
    ),
    (
        "stamina-pack/3",
        "b4913ff657f4c41ee14fe0ea809b15143e9899a78b31b5aa1908af34b223245d",
        "50431f993e81bea7c0b5422f79dd8b0c818ea2f6d7a35b321304de40bb39149e",
    ),
    (
        "stamina-pack/4",
        "f521f3031437ea80b6f08102292b8bd9335c2355973bb74dfff5434d19ea2266",
        "2d60058961704628a2ac229189b03e76f076d278a24449f7fc32eea40f3bfec3",
    ),
    (
        "stamina-pack/5",
        "74967c438c2431b71a81588693226847d70f829e5465e86b49d1e6513ff82e78",
        "eb8af65d6a4076e9f0b8e8d460f56b5f9a59de6d58ec9141d64ff4a5a9cf7c16",
    ),
    (
        "stamina-pack/6",
        "a52f55cd134c1d8f9f541c8874a1d8628a7def09c6d62b6c60d34fab0bd4d9f9",
        "3f4b72b84c677581dd12b0c87a096b478f11e46750c2522655c2a7e157b82480",
    ),
    (
        "stamina-pack/7",
        "c953b67c3d86b8b5415956fbda7bb5454fb2ff85cf5c73f0f71c74d27d6edb50",
        "7f41fc8de41c727906b7581c00fbf228c66cc15f8077f98a0345feaaa8e5105f",
    ),
];

#[test]
fn the_packs_in_data_are_what_is_generated() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").join("data");
    let sample = Pack::open_path(&data.join("sample-pack.zip")).expect("it is a pack");
    for scenario in 0..sample.manifest().config.n_scenarios {
        assert_eq!(sample.verify_scenario(scenario, &|| false), []);
    }
    let temp = tempfile::tempdir().expect("a folder");
    let manifest = temp.path().join("manifest.json");
    std::fs::write(&manifest, sample.manifest().to_json()).expect("it is written");
    let same = json(&["generate", "--check", manifest.to_str().expect("UTF-8")]);
    assert_eq!(same["sha256"], sample.manifest().sha256);

    // A turn does not depend on how many follow: the first ones stand for the hundred.
    let full = std::fs::read(data.join("programmatic-manifest.json")).expect("the manifest of the full pack");
    let full = Manifest::from_json(&full, "programmatic-manifest.json").expect("it is a manifest");
    assert_eq!((full.config.n_scenarios, full.config.n_turns, full.config.base_seed), (20, 100, 0));
    let golden = GOLDEN.last().expect("one at least");
    let now = (full.format.as_str(), sample.manifest().sha256.as_str(), full.sha256.as_str());
    assert_eq!(now, *golden, "a change of what is generated is a new version of the format");
    let out = temp.path().join("pack");
    json(&[&["generate", "--out", out.to_str().expect("UTF-8"), "--values"], SMALL.as_slice()].concat());
    let begin = Pack::open_path(&out).expect("it is a pack");
    for (small, whole) in begin.scenarios().iter().zip(&full.scenarios) {
        assert_eq!(small.turn_sha256, whole.turn_sha256[..3]);
    }
}

#[test]
fn a_manifest_is_enough_to_check_a_generation() {
    let temp = tempfile::tempdir().expect("a folder");
    let pack = temp.path().join("pack");
    let generated = generate(&pack);
    let manifest = pack.join("manifest.json");
    let same = json(&["generate", "--check", manifest.to_str().expect("UTF-8")]);
    assert_eq!((&same["same"], &same["sha256"]), (&Value::from(true), &generated["sha256"]));
    // A manifest of another seed states the hashes of other content.
    let text = std::fs::read_to_string(&manifest).expect("a text");
    std::fs::write(&manifest, text.replace("\"base_seed\": 0", "\"base_seed\": 1")).expect("it is written");
    let output = stamina(&["generate", "--check", manifest.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let different: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(different["same"], false);
    assert!(different["differences"][0].as_str().is_some_and(|printed| printed.contains("3 of 3 turns")));
}

#[test]
fn what_cannot_be_generated_is_said_with_what_to_do() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("pack");
    let out = out.to_str().expect("UTF-8");
    let config = temp.path().join("bad.yaml");
    std::fs::write(&config, "restful_server_gen_iterative: {n_turns: lots}\n").expect("it is written");
    for (args, code, part) in [
        (vec!["generate"], 2, "--out"),
        (vec!["generate", "--out", out, "--values", "n_turn=3"], 2, "restful_server_gen_iterative.n_turns"),
        (vec!["generate", "--out", out, "--configs", config.to_str().expect("UTF-8")], 2, "from 1 to 1000"),
        (vec!["generate", "--out", out, "--configs", "/no/such/file"], 2, "YAML"),
        (vec!["generate", "--out", "/proc/pack", "--values", "quick_debug=true"], 1, "cannot be written"),
        (vec!["validate", out], 2, "no such folder"),
        (vec!["validate", temp.path().to_str().expect("UTF-8")], 2, "no scenario pack"),
    ] {
        let output = stamina(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(part), "{args:?}: {printed}");
    }
    assert!(!Path::new(out).exists());
}

#[test]
fn a_schema_in_a_file_of_its_own_is_served() {
    let temp = tempfile::tempdir().expect("a folder");
    let pack = temp.path().join("pack");
    generate(&pack);
    let mut schema = Pack::open_path(&pack).expect("it is a pack").schema(0, 2).expect("a schema");
    let path = temp.path().join("schema.yaml");
    let file = path.to_str().expect("UTF-8");
    let passes = |schema: &scenario::ir::Schema| {
        std::fs::write(&path, schema.to_yaml().expect("it can be written")).expect("it is written");
        let serving = Serving::start(&["--schema", file]);
        let pack = pack.to_str().expect("UTF-8");
        let output = stamina(&["test-server", pack, "--scenario", "0", "--turn", "2", "--url", &serving.url]);
        output.status.success()
    };
    assert!(passes(&schema));
    // One that no pack may have is served all the same.
    schema.entities.clear();
    assert!(!passes(&schema));

    std::fs::write(&path, "version: stamina-schema/9").expect("it is written");
    for (args, part) in [
        (vec!["serve-reference", "--schema", file], "no schema"),
        (vec!["serve-reference", "--schema", "/no/such/file"], "cannot be read"),
        (vec!["serve-reference"], "PACK"),
        (vec!["serve-reference", "pack", "--turn", "1"], "--scenario"),
        (vec!["serve-reference", "pack", "--schema", file], "cannot be used with"),
        (vec!["serve-reference", "--schema", file, "--on-stdin", "--port", "1"], "cannot be used with"),
    ] {
        let output = stamina(&args);
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(part), "{args:?}: {printed}");
    }
}

#[test]
fn a_suite_passes_against_its_reference_and_not_against_the_one_before() {
    let temp = tempfile::tempdir().expect("a folder");
    let pack = temp.path().join("pack.zip");
    generate(&pack);
    let path = pack.to_str().expect("UTF-8");
    let (now, before) = (Serving::new(&pack, "3"), Serving::new(&pack, "2"));
    let test = |url: &str, more: &[&str]| -> (Option<i32>, Value) {
        let args = ["test-server", path, "--scenario", "0", "--turn", "3", "--url", url, "--json"];
        let output = stamina(&[args.as_slice(), more].concat());
        (output.status.code(), serde_json::from_slice(&output.stdout).expect("JSON"))
    };
    let (code, good) = test(&now.url, &[]);
    assert_eq!(code, Some(0), "{good}");
    let total = good["total"].as_u64().expect("a number");
    assert_eq!(
        (good["passed"].as_u64(), good["cases"].as_array().map(|c| c.len() as u64)),
        (Some(total), Some(total))
    );
    assert!(good["seconds"].is_number() && total > 50);
    let (code, bad) = test(&before.url, &[]);
    assert_eq!(code, Some(1));
    assert!(bad["passed"].as_u64() < Some(total));
    let failed = bad["cases"].as_array().expect("cases").iter().find(|case| case["status"] == "failed");
    let failed = failed.expect("a failed case");
    assert!(failed["message"].as_str().is_some_and(|message| !message.is_empty()));
    let id = failed["id"].as_str().expect("an id");
    let (code, case_output) = test(&before.url, &["--case", id]);
    assert_eq!((code, case_output["total"].as_u64()), (Some(1), Some(1)));
    let (code, some) = test(&now.url, &["--case", "conventions"]);
    assert_eq!(code, Some(0));
    assert!(some["total"].as_u64().is_some_and(|n| n > 0 && n < total));
    let nowhere = stamina(&["test-server", path, "--scenario", "0", "--turn", "3", "--url", "ftp://x"]);
    assert_eq!(nowhere.status.code(), Some(2));
    let no_turn = stamina(&["test-server", path, "--scenario", "0", "--turn", "4", "--url", &now.url]);
    assert!(String::from_utf8_lossy(&no_turn.stderr).contains("no turn 4"));
    assert_eq!(no_turn.status.code(), Some(2));
    let no_case =
        ["test-server", path, "--scenario", "0", "--turn", "3", "--url", &now.url, "--case", "nope"];
    assert_eq!(stamina(&no_case).status.code(), Some(2));
}

#[test]
fn a_pack_is_validated() {
    let temp = tempfile::tempdir().expect("a folder");
    let pack = temp.path().join("pack");
    generate(&pack);
    let path = pack.to_str().expect("UTF-8");
    let report = json(&["validate", path, "--scenarios", "1", "--turns", "1-2"]);
    assert_eq!((report["scenarios"].as_u64(), report["turns"].as_u64()), (Some(1), Some(2)));
    assert_eq!(report["unstated_demands"], 0, "{}", report["unstated"]);
    assert_eq!((report["reference_failures"].as_u64(), report["vacuous_turns"].as_u64()), (Some(0), Some(0)));
    assert_eq!(report["hashes_ok"], true);
    let operators = report["operators"].as_object().expect("operators");
    let sum = |key: &str| operators.values().filter_map(|operator| operator[key].as_u64()).sum::<u64>();
    assert_eq!(
        (Some(sum("mutants")), Some(sum("killed"))),
        (report["mutants"].as_u64(), report["killed"].as_u64())
    );
    assert!(operators.len() >= 25, "{operators:?}");
    let survivors = report["survivors"].as_array().expect("a list").len() as u64;
    assert_eq!(survivors, sum("mutants") - sum("killed"));
    let table = stamina(&["validate", path, "--turns", "1"]);
    assert!(String::from_utf8_lossy(&table.stdout).contains("operator"));

    // A suite that the reference does not pass, and that the manifest does not know.
    let suite = pack.join("scenario_0/test_suites/turn_1.json");
    let text = std::fs::read_to_string(&suite).expect("a text");
    std::fs::write(&suite, text.replacen("\"status\":20", "\"status\":29", 1)).expect("it is written");
    let output = stamina(&["validate", path, "--scenarios", "0", "--turns", "1", "--mutants", "0", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["reference_failures"].as_u64().is_some_and(|n| n > 0));
    assert_eq!((&report["hashes_ok"], &report["mutants"]), (&Value::from(false), &Value::from(0)));
}

/// Numbers that a pack does not have are refused rather than left out, and what is no pack has one exit code.
#[test]
fn what_a_pack_has_not_and_what_is_no_pack_is_a_wrong_command_line() {
    let temp = tempfile::tempdir().expect("a folder");
    let pack = temp.path().join("pack");
    generate(&pack);
    let text = temp.path().join("text.zip");
    std::fs::write(&text, "no zip").expect("it is written");
    let empty = temp.path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let utf8 = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (pack, text, empty, none) = (utf8(&pack), utf8(&text), utf8(&empty), utf8(&temp.path().join("none")));
    for (args, part) in [
        (vec!["validate", &pack, "--turns", "0-2"], "no turn 0: it has 3 turns, counted from 1 to 3"),
        (vec!["validate", &pack, "--turns", "2-10"], "no turns 4 to 10: it has 3 turns"),
        (
            vec!["validate", &pack, "--scenarios", "0,7"],
            "no scenario 7: it has 2 scenarios, counted from 0 to 1",
        ),
        (vec!["serve-reference", &pack, "--scenario", "0", "--turn", "9"], "no turn 9"),
        (vec!["serve-reference", &pack, "--scenario", "2", "--turn", "1"], "no scenario 2"),
        (vec!["serve-reference", "--schema", &none], "cannot be read"),
        (vec!["validate", &none], "no such folder"),
        (vec!["validate", &text], "not a zip"),
        (vec!["validate", &empty], "no scenario pack"),
        (vec!["generate", "--check", &none], "cannot be read"),
        (vec!["generate", "--check", &text], "no scenario pack"),
        (vec!["generate", "--replay", &none, "--out", &empty], "no such folder"),
    ] {
        for args in [args.clone(), [args, vec!["--json"]].concat()] {
            let output = stamina(&args);
            let printed = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {printed}");
            assert!(output.stdout.is_empty() && printed.contains(part), "{args:?}: {printed}");
        }
    }
}

#[test]
fn a_damaged_pack_has_a_report() {
    let temp = tempfile::tempdir().expect("a folder");
    let pack = temp.path().join("pack");
    generate(&pack);
    std::fs::remove_file(pack.join("scenario_0/test_suites/turn_3.json")).expect("it is removed");
    let path = pack.to_str().expect("UTF-8");
    let report = stamina(&["validate", path, "--mutants", "0", "--json"]);
    assert_eq!(report.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!((&report["hashes_ok"], &report["scenarios"]), (&Value::from(false), &Value::from(2)));
    let mismatches = report["mismatches"].as_array().expect("a list");
    assert_eq!(mismatches.len(), 1, "{mismatches:?}");
    assert_eq!(mismatches[0]["at"], "scenario_0/test_suites/turn_3.json");
    let text = stamina(&["validate", path, "--mutants", "0"]);
    assert_eq!(text.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&text.stdout);
    assert!(
        printed.contains("scenario_0/test_suites/turn_3.json: There is no such file. Turn 3 could not be"),
        "{printed}"
    );
}
