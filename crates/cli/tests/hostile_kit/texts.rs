//! Transcripts and logs, and the index that is made of them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use test_folders::copy;

use crate::app::{Served, TestHome};
use crate::hostile_kit::bounded_run::{HANGS, MOST_MEMORY, MOST_WORK, held, run, worked};
use crate::hostile_kit::outside::Outside;
use crate::hostile_kit::{fixture, is_harmless, sparse};

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
    for words in [["one", "line"], ["u{0}", "u{0}"]] {
        let ran = run(&test_home, &["search", words[0], words[1]]);
        is_harmless(&format!("a search for {words:?}"), &ran, &outside);
        assert!(!ran.output.contains("Nothing found"), "{words:?}: {}", ran.output);
    }
}
