//! Where the sample results lie: in the checkout that the program was built in, beside the program, or where a package
//! installs them. Every host offers the same one.

use std::path::{Path, PathBuf};

const SAMPLE: &str = "data/sample-simulated.zip";
/// Where packages put what belongs to the program, seen from the folder above the program's own: Tauri looks for resources in
/// a folder of the product's name.
const INSTALLED: &str = "lib/Stamina Lab";

/// The sample, if this program has one. `resources` is where the window system says that resources lie.
pub fn find(resources: Option<PathBuf>) -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    // A debug build may lie anywhere; what people get names no folder of the machine that built it.
    #[cfg(debug_assertions)]
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(PathBuf::from);
    #[cfg(not(debug_assertions))]
    let built_in = None;
    first_sample(&program, built_in, resources)
}

/// The first sample that is there. The checkout comes first: what cargo copies beside the program may be gone after the next
/// build.
fn first_sample(program: &Path, built_in: Option<PathBuf>, resources: Option<PathBuf>) -> Option<PathBuf> {
    // `target/debug/stamina`, or one deeper when built for a named target.
    let checkouts = program.ancestors().skip(3).take(2).map(PathBuf::from);
    let beside = program.parent().map(PathBuf::from);
    let installed = program.ancestors().nth(2).map(|above| above.join(INSTALLED));
    checkouts
        .chain(built_in)
        .chain(resources)
        .chain(beside)
        .chain(installed)
        .map(|folder| folder.join(SAMPLE))
        .find(|sample| sample.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample below a folder.
    fn put(folder: &Path) -> PathBuf {
        let sample = folder.join(SAMPLE);
        std::fs::create_dir_all(sample.parent().unwrap()).unwrap();
        std::fs::write(&sample, "a zip").unwrap();
        sample
    }

    #[test]
    fn the_sample_is_found_from_a_checkout_and_from_where_it_is_installed() {
        let room = tempfile::tempdir().unwrap();
        let room_path = |place: &str| room.path().join(place);
        let found = |program: &str| first_sample(&room_path(program), None, None);
        let checkout_sample = put(&room_path("checkout"));
        assert_eq!(found("checkout/target/release/stamina"), Some(checkout_sample.clone()));
        assert_eq!(found("checkout/target/x86_64-unknown-linux-gnu/release/stamina"), Some(checkout_sample));
        let installed = put(&room_path("usr/lib/Stamina Lab"));
        assert_eq!(found("usr/bin/stamina"), Some(installed.clone()));
        assert_eq!(found("usr/bin/stamina-lab"), Some(installed));
        let beside = put(&room_path("elsewhere"));
        assert_eq!(found("elsewhere/stamina"), Some(beside));
        assert_eq!(found("nowhere/bin/stamina"), None);
    }

    #[test]
    fn what_the_window_system_names_goes_before_what_lies_beside_the_program() {
        let room = tempfile::tempdir().unwrap();
        let (beside, named) = (room.path().join("bin"), room.path().join("resources"));
        put(&beside);
        let system_sample = put(&named);
        assert_eq!(first_sample(&beside.join("stamina-lab"), None, Some(named)), Some(system_sample));
    }
}
