#![no_main]

use ingest::readers::pytest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let log = pytest::parse(&text);
    if let Some((passed, total)) = log.passed_of_total() {
        assert!(passed <= total, "{passed} of {total} passed");
    }
    let _ = (log.all_passed(), pytest::last_line(&text));
});
