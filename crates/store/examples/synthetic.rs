//! Writes a library of 42 runs × 20 episodes × 100 turns. Prints how long writing and the reading of each page take.
//!
//! `cargo run --release -p store --example synthetic [RUNS EPISODES TURNS]`
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use model::{
    Artifact, ArtifactKind, Attempt, Benchmark, Episode, Request, Run, Stamina, TestOutcome, TestResult,
    Tokens, Turn, Verdict,
};
use store::{ParsedPart, RunFilter, RunSort, Store, Summary, WarningFilter};

/// A small generator with the same numbers every time (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

fn attempt(numbers: &mut Numbers, place: &str, turn: u32, number: u32, passes: bool) -> Attempt {
    let total = 20 + turn;
    let mut attempt = Attempt::new(number, if passes { Verdict::Passed } else { Verdict::Failed });
    for n in 0..total {
        let id = format!("test_suites/test_turn_{turn}.py::test_endpoint_{n}_returns_what_was_asked");
        let fails = !passes && numbers.below(12) == 0;
        let mut test = TestResult::new(id, if fails { TestOutcome::Failed } else { TestOutcome::Passed });
        if fails {
            let line = "    assert response.status_code == 201, response.text\n";
            test.message = Some(format!(
                "AssertionError: assert 404 == 201 at item {}\n{}",
                numbers.below(1_000_000),
                line.repeat(8)
            ));
        }
        attempt.tests.push(test);
    }
    attempt.total = Some(total);
    attempt.passed = u32::try_from(attempt.tests.iter().filter(|test| !test.is_failing()).count()).ok();
    attempt.tokens =
        Tokens { input: Some(numbers.below(90_000)), cached: None, output: Some(numbers.below(9_000)) };
    attempt.cost_usd = Some(numbers.below(100) as f64 / 1000.0);
    attempt.artifacts = ["test_results", "server_logs", "agent_code"]
        .map(|folder| {
            Artifact::new(ArtifactKind::Log, format!("{place}/{folder}/turn_{turn}_attempt_{number}.txt"))
        })
        .to_vec();
    attempt
}

fn episode(numbers: &mut Numbers, run: u64, scenario: u64, turns: u32) -> Episode {
    let mut episode = Episode::new(format!("scenario_{scenario}"), format!("scenario_{scenario}"));
    episode.planned_turns = Some(turns);
    let place = format!("run_{run}/scenario_{scenario}");
    for number in 1..=turns {
        let mut turn = Turn::new(number);
        turn.request = Some(Request::Text(format!(
            "Turn {number} of scenario {scenario}: add a field to the orders. {}",
            "It must be returned by every endpoint. ".repeat(15)
        )));
        let first = numbers.below(100) < 70;
        turn.attempts.push(attempt(numbers, &place, number, 1, first));
        if !first {
            let second = numbers.below(100) < 90;
            turn.attempts.push(attempt(numbers, &place, number, 2, second));
        }
        episode.turns.push(turn);
    }
    episode
}

/// Prints the median and the 95th percentile of calls of `page`.
fn measure<T>(
    label: &str,
    calls: usize,
    mut page: impl FnMut(usize) -> store::Result<T>,
) -> store::Result<()> {
    let mut times = Vec::with_capacity(calls);
    for call in 0..calls {
        let begin = Instant::now();
        page(call)?;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    println!("{label:<44} p50 {:>10.2?}  p95 {:>10.2?}", times[calls / 2], times[calls * 95 / 100]);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sizes: Vec<u64> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let [runs, episodes, turns] = sizes[..] else { return go(42, 20, 100) };
    go(runs, episodes, u32::try_from(turns)?)
}

fn go(runs: u64, episodes: u64, turns: u32) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("library.db");
    let store = Store::open(&path)?;
    let source = store.put_source("/data/synthetic", "synthetic", false)?;
    let mut numbers = Numbers(7);
    let mut writing = Duration::ZERO;
    for run in 0..runs {
        let place = format!("run_{run}");
        let benchmark = Benchmark { key: format!("b{}", run % 3), name: format!("Benchmark {}", run % 3) };
        let model = Some(format!("model-{}", run % 7));
        store.put_runs(source, &place, "staminabench", &[Run { model, ..Run::unknown("", benchmark) }])?;
        for scenario in 0..episodes {
            let part = [(String::new(), episode(&mut numbers, run, scenario, turns))];
            let begin = Instant::now();
            let key = format!("scenario_{scenario}");
            let part = ParsedPart {
                place: &place,
                key: &key,
                stamp: 1,
                episodes: &part,
                warnings: &[],
                files_read: 9,
            };
            store.put_part(source, &part)?;
            writing += begin.elapsed();
        }
    }
    let counts = store.source_counts(source)?;
    println!("{} turns, {} attempts written in {writing:.2?}", counts.turns, counts.attempts);

    let begin = Instant::now();
    for stale in store.stale_runs()? {
        let episodes = store.episodes(stale.run)?;
        let mean = episodes.iter().map(|e| f64::from(e.stamina)).sum::<f64>() / episodes.len() as f64;
        store.put_summary(
            &stale,
            &Summary { stamina: Stamina { mean: Some(mean), ..Stamina::default() }, ..Summary::default() },
        )?;
    }
    println!("summaries in {:.2?}", begin.elapsed());
    let begin = Instant::now();
    let (mut longest, mut steps) = (Duration::ZERO, 0);
    loop {
        let step = Instant::now();
        let is_incomplete = store.index_text(10)?;
        longest = longest.max(step.elapsed());
        steps += 1;
        if !is_incomplete {
            break;
        }
    }
    println!("text indexed in {:.2?}, {steps} steps, the longest {longest:.2?}", begin.elapsed());
    println!("file: {} MB", std::fs::metadata(&path)?.len() / 1_000_000);

    let slugs: Vec<String> =
        store.list_runs(&RunFilter::default())?.rows.into_iter().map(|(_, row)| row.slug).collect();
    let orders = [RunSort::Stamina, RunSort::Model, RunSort::Tokens, RunSort::Cost];
    measure("library", 100, |n| store.list_runs(&RunFilter { sort: orders[n % 4], ..RunFilter::default() }))?;
    measure("library, filtered", 100, |_| {
        store.list_runs(&RunFilter { text: "model-3 bench".into(), ..RunFilter::default() })
    })?;
    measure("counts", 100, |_| store.library_counts())?;
    let run_id = |n: usize| {
        Ok::<_, store::StoreError>(store.run(&slugs[n % slugs.len()])?.map_or(0, |run| run.entry.id))
    };
    measure("run with its grid", 200, |n| store.episodes(run_id(n)?))?;
    measure("episode", 200, |n| store.episode(run_id(n)?, &format!("scenario_{}", n as u64 % episodes)))?;
    measure("turn and the one before", 200, |n| {
        let found = store.episode(run_id(n)?, &format!("scenario_{}", n as u64 % episodes))?;
        let (id, turn) = (found.map_or(0, |e| e.entry.id), n as u32 % turns + 1);
        Ok((store.turn(id, turn)?, store.turn(id, turn.saturating_sub(1))?))
    })?;
    measure("whole episode", 50, |n| {
        let found = store.episode(run_id(n)?, &format!("scenario_{}", n as u64 % episodes))?;
        store.whole_episode(found.map_or(0, |e| e.entry.id))
    })?;
    measure("import report", 50, |_| {
        store.source_counts(source)?;
        store.warnings_by_code(source)?;
        store.warnings(source, &WarningFilter::default(), 0, 200)
    })?;
    measure("policy table", 50, |_| store.end_reason_counts())?;
    measure("changes", 200, |_| store.changes_since(u64::MAX / 2))?;
    measure("part stamps", 20, |_| store.part_stamps(source))?;
    for text in ["orders", "assert 404", "endpoint_7", "item 4242", "scenario_3"] {
        measure(&format!("search “{text}”"), 20, |_| store.search(text, 20))?;
    }
    let begin = Instant::now();
    store.remove_source(source)?;
    store.purge_removed(Duration::ZERO)?;
    println!("purged in {:.2?}", begin.elapsed());
    Ok(())
}
