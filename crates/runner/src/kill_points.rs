//! Places at which a test kills this process, to see that nothing is lost. Only a debug build has them: in a release build,
//! which is what people get, a point is no code at all.
//!
//! Every call of [`point`] counts. With `STAMINA_KILL_AT=n` the process kills itself at the `n`-th, with
//! `STAMINA_KILL_AT=NAME:n` at the `n`-th of that name; with `STAMINA_COUNT_TO=FILE` the number of points so far stands in
//! a file.

#[cfg(not(debug_assertions))]
pub(crate) fn point(_name: &'static str) {}

#[cfg(debug_assertions)]
pub(crate) fn point(name: &'static str) {
    use std::collections::HashMap;
    use std::sync::Mutex;
    static COUNTS: Mutex<Option<HashMap<&str, u64>>> = Mutex::new(None);
    let (all, name_count) = {
        let mut counts = model::lock(&COUNTS);
        let counts = counts.get_or_insert_default();
        let name_count = counts.entry(name).or_default();
        *name_count += 1;
        let name_count = *name_count;
        (counts.values().sum::<u64>(), name_count)
    };
    let given = |variable: &str| std::env::var(variable).ok();
    if let Some(file) = given("STAMINA_COUNT_TO") {
        let _ = std::fs::write(file, all.to_string());
    }
    let Some(point) = given("STAMINA_KILL_AT") else { return };
    if point == all.to_string() || point == format!("{name}:{name_count}") {
        if let Some(file) = given("STAMINA_KILLED_TO") {
            let _ = std::fs::write(file, name);
        }
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // The signal may take a moment.
        loop {
            std::thread::park();
        }
    }
}
