#![no_main]

use std::cell::OnceCell;

use fuzz::Sample;
use libfuzzer_sys::fuzz_target;
use runner::{control, live, origin};

thread_local!(static SAMPLE: OnceCell<Sample> = const { OnceCell::new() });

fuzz_target!(|input: &[u8]| {
    SAMPLE.with(|sample| {
        let sample = sample.get_or_init(Sample::run);
        sample.with_input(input, |_, _| read(sample.folder()));
    });
});

/// All that is read from a run before a user trusts it.
fn read(folder: &std::path::Path) {
    if let Ok(run) = live::read(folder) {
        for episode in &run.episodes {
            let number = episode.name.strip_prefix("scenario_").expect("names are checked");
            assert!(number.parse::<u32>().is_ok_and(|n| format!("scenario_{n}") == episode.name));
        }
    }
    let _ = origin::record(folder);
    let _ = (control::read(folder), live::first_not_passed(folder), live::agent_log(folder, "scenario_0"));
}
