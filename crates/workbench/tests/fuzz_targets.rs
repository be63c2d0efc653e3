//! The fuzz targets compile against the readers as they are, and bear a few inputs. Fuzzing itself is `fuzz/README.md`.
//!
//! Their crate is no part of the workspace (libFuzzer wants a compiler of its own), so its files are compiled here under its
//! names, with a macro in the place of libFuzzer's.
#![allow(
    dead_code,
    unused_attributes,
    unused_imports,
    missing_docs,
    unreachable_pub,
    clippy::pedantic,
    reason = "the files are those of another crate"
)]

extern crate self as fuzz;
extern crate self as libfuzzer_sys;

/// What libFuzzer calls with each input, as a function.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: &[u8]| $body:block) => {
        pub(crate) fn fuzz_one($input: &[u8]) $body
    };
}

#[path = "../../../fuzz/src/lib.rs"]
mod shared;
pub use shared::{CASES, Sample, check_recipe, files, fixture};

#[path = "../../../fuzz/fuzz_targets/atif.rs"]
mod atif;
#[path = "../../../fuzz/fuzz_targets/evocode.rs"]
mod evocode;
#[path = "../../../fuzz/fuzz_targets/foreign.rs"]
mod foreign;
#[path = "../../../fuzz/fuzz_targets/harbor.rs"]
mod harbor;
#[path = "../../../fuzz/fuzz_targets/locobench.rs"]
mod locobench;
#[path = "../../../fuzz/fuzz_targets/pack.rs"]
mod pack;
#[path = "../../../fuzz/fuzz_targets/pytest_log.rs"]
mod pytest_log;
#[path = "../../../fuzz/fuzz_targets/recipe.rs"]
mod recipe;
#[path = "../../../fuzz/fuzz_targets/run_state.rs"]
mod run_state;
#[path = "../../../fuzz/fuzz_targets/settings.rs"]
mod settings;
#[path = "../../../fuzz/fuzz_targets/staminabench.rs"]
mod staminabench;
#[path = "../../../fuzz/fuzz_targets/table.rs"]
mod table;
#[path = "../../../fuzz/fuzz_targets/tasks.rs"]
mod tasks;
#[path = "../../../fuzz/fuzz_targets/terminal_bench.rs"]
mod terminal_bench;
#[path = "../../../fuzz/fuzz_targets/unread.rs"]
mod unread;
#[path = "../../../fuzz/fuzz_targets/words.rs"]
mod words;
#[path = "../../../fuzz/fuzz_targets/zip_tree.rs"]
mod zip_tree;

/// Its name, and what it does with an input.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("atif", atif::fuzz_one as fn(&[u8])),
    ("evocode", evocode::fuzz_one as fn(&[u8])),
    ("foreign", foreign::fuzz_one as fn(&[u8])),
    ("harbor", harbor::fuzz_one as fn(&[u8])),
    ("locobench", locobench::fuzz_one as fn(&[u8])),
    ("pack", pack::fuzz_one as fn(&[u8])),
    ("pytest_log", pytest_log::fuzz_one as fn(&[u8])),
    ("recipe", recipe::fuzz_one as fn(&[u8])),
    ("run_state", run_state::fuzz_one as fn(&[u8])),
    ("settings", settings::fuzz_one as fn(&[u8])),
    ("staminabench", staminabench::fuzz_one as fn(&[u8])),
    ("table", table::fuzz_one as fn(&[u8])),
    ("tasks", tasks::fuzz_one as fn(&[u8])),
    ("terminal_bench", terminal_bench::fuzz_one as fn(&[u8])),
    ("unread", unread::fuzz_one as fn(&[u8])),
    ("words", words::fuzz_one as fn(&[u8])),
    ("zip_tree", zip_tree::fuzz_one as fn(&[u8])),
];

#[test]
fn every_target_is_here_and_bears_a_few_inputs() {
    let folder = fixture("").join("../../fuzz/fuzz_targets");
    let listed: Vec<String> =
        files(&folder).into_iter().map(|(path, _)| path.display().to_string()).collect();
    let targets: Vec<String> = TARGETS.iter().map(|(name, _)| format!("{name}.rs")).collect();
    assert_eq!(targets, listed);
    for (_, run) in TARGETS {
        for input in [
            &b""[..],
            b"\0\0",
            b"\0\0{}",
            b"\x01\0{\"steps\": [{\"source\": \"agent\"}]}",
            b"\x02\x01\xff\xfe",
            b"\0\0FROM debian\nLABEL a=b \\\n# c\\\nRUN <<E\n",
            "\0\0words\nGET /\u{130}tems?limit=10 \u{1b}[1m404 gr\u{fc}\u{df}e".as_bytes(),
        ] {
            run(input);
        }
    }
}
