#![no_main]

use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use files::Tree;
use fuzz::Sample;
use libfuzzer_sys::fuzz_target;
use scenario::client::run_in_process;
use scenario::pack::Pack;
use scenario::reference::World;
use scenario::{code, mutants, text};

/// Cases that are run: a suite may have 200,000.
const CASES: usize = 30;

thread_local!(static SAMPLE: OnceCell<Sample> = const { OnceCell::new() });

fuzz_target!(|input: &[u8]| {
    SAMPLE.with(|sample| sample.get_or_init(|| Sample::of_zip("../../data/sample-pack.zip")).with(input, read));
});

/// Everything that is done with a pack of others.
fn read(tree: Tree) {
    let Ok(pack) = Pack::open(tree) else { return };
    for scenario in 0..pack.manifest().config.n_scenarios.min(2) {
        let _ = pack.verify_scenario(scenario, &|| false);
        for turn in 1..=pack.manifest().config.n_turns.min(2) {
            let _ = (pack.changes(scenario, turn), pack.answers(scenario, turn));
            let suite = pack.suite(scenario, turn);
            let Ok(schema) = pack.schema(scenario, turn) else { continue };
            let _ = (text::specification(&schema), code::flask(&schema));
            let schema = Arc::new(schema);
            for site in mutants::sites(None, &schema).iter().step_by(50) {
                let _ = site.make(&schema);
            }
            let Ok(mut suite) = suite else { continue };
            let _ = code::pytest(&suite);
            suite.cases.truncate(CASES);
            run_in_process(&mut World::new(schema), &suite, &mut |_, result| {
                assert!(result.message.as_ref().is_none_or(|message| message.chars().count() < 1000));
                ControlFlow::Continue(())
            });
        }
    }
}
