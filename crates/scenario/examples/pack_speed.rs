//! How long a pack takes to generate, as JSON: without writing it, and into a folder that is removed again.
//!
//! ```sh
//! cargo run --release -p scenario --example pack_speed -- 2 100 1
//! ```
//!
//! The numbers are scenarios, turns and threads.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use scenario::config::Generation;
use scenario::pack::{Options, Target, generate};
use scenario::sample::ProgrammaticSampler;
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<u32>, _>>()?;
    let number = |index: usize, otherwise| numbers.get(index).copied().unwrap_or(otherwise);
    let generation =
        Generation { n_scenarios: number(0, 20), n_turns: number(1, 100), ..Generation::default() };
    let options = Options { threads: NonZero::new(number(2, 2) as usize), ..Options::default() };
    let temp = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (name, target) in [("nowhere", Target::Nowhere), ("folder", Target::Folder(temp.path().join("pack")))]
    {
        let begun = Instant::now();
        let done =
            generate(&generation, &ProgrammaticSampler, &target, &options, &|_| {}, &AtomicBool::new(false))?;
        let seconds = begun.elapsed().as_secs_f64();
        rows.push(json!({
            "target": name,
            "seconds": seconds,
            "bytes": done.manifest.bytes,
            "sha256": done.manifest.sha256,
        }));
    }
    println!("{:#}", json!({ "settings": generation, "threads": options.threads, "packs": rows }));
    Ok(())
}
