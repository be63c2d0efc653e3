#![no_main]

use ingest::readers::atif::{self, Document, TrajectorySummary};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(document) = serde_json::from_slice::<Document>(input) {
        let transcript = atif::transcript(&[document]);
        assert!(transcript.steps.len() <= atif::STEP_CAP);
    }
    if let Ok(facts) = serde_json::from_slice::<TrajectorySummary>(input) {
        let _ = (facts.tool_calls(), facts.first_user_step(), facts.cache_exceeds_input());
    }
});
