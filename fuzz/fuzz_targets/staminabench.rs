#![no_main]

use std::cell::OnceCell;

use fuzz::Sample;
use ingest::formats::staminabench::StaminaBench;
use libfuzzer_sys::fuzz_target;

thread_local!(static SAMPLE: OnceCell<Sample> = const { OnceCell::new() });

fuzz_target!(|input: &[u8]| {
    SAMPLE.with(|sample| {
        sample.get_or_init(|| Sample::from_fixture("staminabench/own")).read_with(&StaminaBench, input)
    });
});
