//! Scenario packs whose suites grow in memory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::outside::Outside;
use crate::hostile_kit::{SourceHarm, is_harmless};

/// Turns of the pack.
const TURNS: u32 = 5;

#[test]
// docs/security.md: The hostile kit
fn hostile_packs_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let pack = test_home.path("pack");
    let path = pack.display().to_string();
    let turns = format!("restful_server_gen_iterative.n_turns={TURNS}");
    let scenario_setting = "restful_server_gen_iterative.n_scenarios=1";
    let generated = test_home.stamina(&["generate", "--out", &path, "--values", scenario_setting, &turns]);
    assert!(generated.status.success(), "{generated:?}");
    is_harmless("a pack", &run(&test_home, &["ingest", &path]), &outside);
    let suites: Vec<Vec<u8>> =
        (1..=TURNS).map(|turn| fs::read(suite_of(&pack, turn)).expect("a suite")).collect();

    let zeros = format!("[{}0]", "0,".repeat(7 << 20));
    let records = vec!["\"members_1\""; 1 << 20].join(",");
    let case = |steps: &str| {
        format!("{{\"id\":\"a\",\"title\":\"\",\"aspect\":\"route\",\"says\":[],\"steps\":[{steps}]}}")
    };
    let (zeros_case, records_case) = (case(&zeros), case(&records));
    let harms: Vec<SourceHarm> = vec![
        ("lines that hold nothing", Box::new(|pack| write_suite(pack, 1, "{}", &"\n".repeat(15 << 20)))),
        (
            "lines of earlier files that hold nothing",
            Box::new(|pack| {
                for turn in 1..TURNS {
                    write_suite(pack, turn, "{}", &"\n".repeat(15 << 20));
                }
                write_suite(pack, TURNS, "{}", "[1,0,1],\n[2,0,1],\n[3,0,1],\n[4,0,1]");
            }),
        ),
        ("a case of zeros", Box::new(move |pack| write_suite(pack, 1, "{}", &zeros_case))),
        ("a case of a million records", Box::new(move |pack| write_suite(pack, 1, "{}", &records_case))),
        ("bodies of zeros", Box::new(move |pack| write_suite(pack, 1, &zeros, ""))),
    ];
    let last = TURNS.to_string();
    for (label, harm) in harms {
        for (turn, suite) in (1..).zip(&suites) {
            fs::write(suite_of(&pack, turn), suite).expect("a file");
        }
        harm(&pack);
        for turn in ["1", last.as_str()] {
            let request = format!("{{\"source\":1,\"folder\":\"\",\"scenario\":0,\"turn\":{turn}}}");
            let shown = run(&test_home, &["rpc", "get_scenario_turn", &request]);
            is_harmless(label, &shown, &outside);
            let url = "http://127.0.0.1:1";
            let args = ["test-server", &path, "--scenario", "0", "--turn", turn, "--url", url];
            let tested = run(&test_home, &args);
            is_harmless(label, &tested, &outside);
            for ran in [shown, tested] {
                let is_refused = ran.output.contains("scenario_0/test_suites/turn_");
                assert!(turn != "1" || is_refused, "{label}: {}", ran.output);
            }
        }
    }
    is_harmless("the last of them", &run(&test_home, &["validate", &path, "--mutants", "0"]), &outside);
}

fn suite_of(pack: &Path, turn: u32) -> PathBuf {
    pack.join(format!("scenario_0/test_suites/turn_{turn}.json"))
}

/// Writes a suite with one builder, these bodies of it, and these lines under `cases`.
fn write_suite(pack: &Path, turn: u32, bodies: &str, lines: &str) {
    let text = fs::read_to_string(suite_of(pack, turn)).expect("a suite");
    let head = text.split("\"builders\":").next().unwrap_or_default();
    let builder =
        format!("{{\"entity\":\"members\",\"path\":\"/members\",\"status\":201,\"bodies\":[{bodies}]}}");
    let text = format!("{head}\"builders\":[{builder}],\n\"cases\":[\n{lines}\n]}}\n");
    fs::write(suite_of(pack, turn), text).expect("a file");
}
