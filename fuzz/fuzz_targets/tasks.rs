#![no_main]

use std::cell::OnceCell;
use std::path::Path;

use fuzz::{Sample, check_recipe};
use libfuzzer_sys::fuzz_target;
use runner::settings::{self, RunSettings};
use runner::{task_images, tasks};

/// The sample, and the settings of a run with it.
struct Whole {
    sample: Sample,
    settings: RunSettings,
}

thread_local!(static WHOLE: OnceCell<Whole> = const { OnceCell::new() });

fn whole() -> Whole {
    let values =
        ["agent=ORACLE", "output_dir=/results", "benchmark=HARBOR", "tasks=/tasks"].map(str::to_owned);
    Whole { sample: Sample::task(), settings: settings::resolve(&[], &values).expect("settings") }
}

fuzz_target!(|input: &[u8]| {
    WHOLE.with(|cell| {
        let whole = cell.get_or_init(whole);
        whole.sample.with_input(input, |_, _| read(whole.sample.folder(), &whole.settings));
    });
});

/// Reads a foreign task like preflight and the page of a resume.
fn read(folder: &Path, settings: &RunSettings) {
    let previews = tasks(folder, settings).expect("there is a task.toml, whatever it holds");
    assert_eq!(previews.len(), 1);
    // At most 50 unsupported keys are named.
    assert!(previews[0].notes.len() <= 60 && previews[0].steps <= 1000, "{previews:?}");
    if let Ok(images) = task_images(folder, &[0]) {
        for image in &images {
            check_recipe(&image.recipe);
        }
    }
}
