//! How fast the native reference answers, in this process and over HTTP, as JSON:
//!
//! ```sh
//! cargo run --release -p validation --example reference_speed
//! ```
//!
//! Per turn of scenario 0: cases and requests of the suite, and microseconds per request (with all that the client does
//! for it) in this process and over one connection to a server on the same machine; the median of five runs.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use scenario::reference::{World, serve};
use scenario::sample::{ProgrammaticSampler, Sampler as _};
use scenario::suite::suite;
use serde_json::json;
use validation::client::{Options, verdicts, verdicts_in_process};

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(0.0)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let seed = scenario::Seed { base: 0, scenario: 0 };
    let mut schema = ProgrammaticSampler.first_schema(seed)?.value;
    let mut before = suite(seed, &schema, None);
    let mut rows = Vec::new();
    for turn in 1..=100_u32 {
        if turn > 1 {
            schema = ProgrammaticSampler.next_turn(seed, &schema, 5)?.value.after;
            before = suite(seed, &schema, Some(&before));
        }
        if turn != 1 && turn % 25 != 0 {
            continue;
        }
        let begun = Instant::now();
        let mut world = World::new(Arc::new(schema.clone()));
        let compile = begun.elapsed();
        let requests: usize = before.cases.iter().map(|case| case.steps.len() + 1).sum();
        let per_request = |seconds: f64| (seconds * 1e8 / requests as f64).round() / 100.0;
        let inside: Vec<f64> = (0..5).map(|_| verdicts_in_process(&mut world, &before).seconds).collect();
        let wrong = verdicts_in_process(&mut world, &before).not_passed().count();
        let server = serve(world, "127.0.0.1:0".parse()?).await?;
        let mut outside = Vec::new();
        for _ in 0..5 {
            let run = || verdicts(&server.url(), &before, &Options::default());
            outside.push(tokio::task::block_in_place(run)?.seconds);
        }
        server.stop().await;
        let (inside, outside) = (median(inside), median(outside));
        rows.push(json!({
            "turn": turn,
            "cases": before.cases.len(),
            "not_passed": wrong,
            "requests": requests,
            "compile_microseconds": compile.as_micros(),
            "in_process": {"seconds": inside, "microseconds_per_request": per_request(inside)},
            "over_http": {"seconds": outside, "microseconds_per_request": per_request(outside)},
        }));
    }
    println!("{:#}", json!({ "turns": rows }));
    Ok(())
}
