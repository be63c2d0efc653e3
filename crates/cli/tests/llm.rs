//! `stamina generate` with a model behind a scripted endpoint, and its packs without one.

#[path = "../../llm-sampler/tests/endpoint/mod.rs"]
mod endpoint;

use std::path::Path;
use std::process::{Command, Output};

use endpoint::{Endpoint, Reply, closed_port};
use serde_json::Value;

const KEY: &str = "sk-a-key-that-must-not-be-seen";

fn stamina(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamina"))
        .current_dir(folder)
        .args(args)
        .arg("--json")
        .env("SCRIPTED_KEY", KEY)
        .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .env_remove("AWS_SESSION_TOKEN")
        .env_remove("AWS_BEARER_TOKEN_BEDROCK")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .output()
        .expect("stamina runs")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

const SMALL: [&str; 4] = [
    "restful_server_gen_iterative.use_llm_sampler=true",
    "restful_server_gen_iterative.n_scenarios=2",
    "restful_server_gen_iterative.n_turns=3",
    "restful_server_gen_iterative.num_changes_per_turn=2",
];

fn generate(folder: &Path, values: &[&str]) -> Output {
    stamina(folder, &[&["generate", "--out", "pack", "--values"], &SMALL[..], values].concat())
}

/// Every file of a folder, one after the other.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&all_text(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).expect("a file")));
        }
    }
    text
}

fn replays(folder: &Path, made: &Value) {
    let again = json(&stamina(folder, &["generate", "--replay", "pack", "--out", "again"]));
    assert_eq!(again["sha256"], made["sha256"]);
    let checked = json(&stamina(folder, &["generate", "--check", "pack/manifest.json"]));
    assert_eq!(checked["same"], true);
}

#[test]
fn a_pack_that_a_model_helped_to_make_replays_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = Endpoint::start(|asked| {
        Reply::Says(if asked.number % 5 == 4 { "No.".to_owned() } else { asked.good_change() })
    });
    let url = format!("llm_sampler.base_url={}", endpoint.base_url());
    let made = json(&generate(folder.path(), &[&url, "llm_sampler.key_variable=SCRIPTED_KEY"]));
    assert_eq!((made["scenarios"].as_u64(), made["turns"].as_u64()), (Some(2), Some(3)));
    assert!(endpoint.asked().iter().all(|asked| asked.authorization == format!("Bearer {KEY}")));
    drop(endpoint);

    let text = all_text(&folder.path().join("pack"));
    assert!(text.contains("origin: model") && text.contains("_of_model") && !text.contains(KEY));
    replays(folder.path(), &made);
}

#[cfg(feature = "bedrock")]
#[test]
fn bedrock_is_taken_without_a_base_url() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = Endpoint::start(|asked| Reply::Says(asked.good_change()));
    let url = format!("llm_sampler.endpoint_url={}", endpoint.endpoint_url());
    let made = json(&generate(folder.path(), &[&url, "llm_sampler.region=eu-west-1"]));
    let asked = endpoint.asked();
    assert!(asked.iter().all(|asked| asked.path == "/model/zai.glm-5/converse"));
    assert!(asked[0].authorization.contains("AKIDEXAMPLE") && asked[0].authorization.contains("eu-west-1"));
    drop(endpoint);
    assert!(!all_text(&folder.path().join("pack")).contains(KEY));
    replays(folder.path(), &made);
}

#[test]
fn what_is_wrong_with_an_endpoint_is_said_and_no_pack_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let denied = Endpoint::start(|_| Reply::Http(401, Vec::new(), format!("{{\"error\": \"no {KEY}\"}}")));
    let denied_url = format!("llm_sampler.base_url={}", denied.base_url());
    let nobody = format!("llm_sampler.base_url=http://127.0.0.1:{}/v1", closed_port());
    for (values, said) in [
        (vec![denied_url.as_str(), "llm_sampler.key_variable=SCRIPTED_KEY"], "401"),
        (vec![nobody.as_str(), "llm_sampler.timeout_seconds=0"], "timeout_seconds"),
        (vec!["llm_sampler.base_url=nowhere"], "nowhere"),
        (vec!["llm_sampler.base_utl=x"], "base_utl"),
    ] {
        let output = generate(folder.path(), &values);
        let text =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && text.contains(said), "{values:?}: {text}");
        assert!(!text.contains(KEY), "{text}");
        assert!(!folder.path().join("pack/manifest.json").exists());
    }
}
