//! Where the sample results lie: installed as a resource, or in the checkout that the program was built in.

use std::path::PathBuf;

const SAMPLE: &str = "data/sample-simulated.zip";

/// The sample, if this program has one. The checkout comes first: what cargo copies beside the program may be gone
/// after the next build.
pub(crate) fn find(resources: Option<PathBuf>) -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    // `target/debug/stamina-lab`, or one deeper when built for a named target.
    let checkout = program.ancestors().skip(3).take(2).map(PathBuf::from).collect::<Vec<_>>();
    // A debug build may lie anywhere; what people get names no folder of the machine that built it.
    #[cfg(debug_assertions)]
    let built_in = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from);
    #[cfg(not(debug_assertions))]
    let built_in = None;
    checkout
        .into_iter()
        .chain(built_in)
        .chain(resources)
        .map(|folder| folder.join(SAMPLE))
        .find(|sample| sample.is_file())
}
