#![no_main]

use ::settings::ConfigFile;
use libfuzzer_sys::fuzz_target;
use runner::settings;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let file = ConfigFile { name: "config.yaml".to_owned(), text: text.to_owned() };
    let _ = settings::read(&file);
    // Resolved settings can be written, and reading them returns the same settings.
    if let Ok(resolved) = settings::resolve(&[file], &[]) {
        let again = ConfigFile { name: "again.yaml".to_owned(), text: resolved.to_yaml() };
        assert_eq!(settings::resolve(&[again], &[]).expect("what was written is read"), resolved);
    }
    let values: Vec<String> = text.lines().map(str::to_owned).collect();
    let _ = settings::resolve(&[], &values);
});
