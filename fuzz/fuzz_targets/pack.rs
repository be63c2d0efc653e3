#![no_main]

use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use files::Tree;
use fuzz::{CASES, Sample};
use libfuzzer_sys::fuzz_target;
use scenario::ir::Schema;
use scenario::pack::Pack;
use scenario::reference::World;
use scenario::suite::Suite;
use scenario::{code, text};
use validation::client::run_in_process;
use validation::mutants;

/// The sample, and its original content.
struct Whole {
    sample: Sample,
    schema: Arc<Schema>,
    suite: Suite,
}

thread_local!(static WHOLE: OnceCell<Whole> = const { OnceCell::new() });

fn whole() -> Whole {
    let sample = Sample::pack();
    let pack = Pack::open(Tree::open(sample.folder()).expect("the sample is there")).expect("it is a pack");
    let schema = Arc::new(pack.schema(0, 1).expect("a schema"));
    let suite = pack.suite(0, 1).expect("a suite");
    Whole { sample, schema, suite }
}

fuzz_target!(|input: &[u8]| {
    WHOLE.with(|cell| {
        let whole = cell.get_or_init(whole);
        whole.sample.with_input(input, |tree, path| read(tree, path, whole));
    });
});

/// Reads the replaced file of a pack. The rest of the sample is always the same.
fn read(tree: Tree, path: &Path, whole: &Whole) {
    let Ok(pack) = Pack::open(tree) else { return };
    let name = path.to_string_lossy();
    let turn = if name.contains("turn_1") { 1 } else { 2 };
    if name.contains("manifest") {
        for scenario in 0..pack.manifest().config.n_scenarios.min(2) {
            let _ = pack.changes(scenario, 1);
        }
    } else if name.contains("changes") {
        let _ = (pack.changes(0, turn), pack.answers(0, turn));
    } else if name.contains("schemas") {
        let Ok(schema) = pack.schema(0, turn) else { return };
        let _ = (text::specification(&schema), code::flask(&schema));
        let schema = Arc::new(schema);
        for site in mutants::sites(None, &schema).iter().step_by(100).take(3) {
            let _ = site.make(&schema);
        }
        run(schema, whole.suite.clone());
    } else {
        let Ok(suite) = pack.suite(0, turn) else { return };
        let _ = code::pytest(&suite);
        run(Arc::clone(&whole.schema), suite);
    }
}

fn run(schema: Arc<Schema>, mut suite: Suite) {
    suite.cases.truncate(CASES);
    run_in_process(&mut World::new(schema), &suite, &mut |_, result| {
        assert!(result.message.as_ref().is_none_or(|message| message.chars().count() < 1000));
        ControlFlow::Continue(())
    });
}
