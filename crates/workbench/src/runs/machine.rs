//! What this machine has.

use std::path::Path;

/// With less free disk than this nothing begins.
pub(super) const LEAST_DISK: u64 = 1 << 30;

/// Bytes of memory; `None` = the system does not say.
pub(super) fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// Bytes that are free for this user where a folder is, or will be.
pub(super) fn free_disk(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|path| path.exists())?;
    let stat = rustix::fs::statvfs(existing).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// `214 GB`, `3.1 GB`, `12 MB`.
pub fn bytes(n: u64) -> String {
    let n = n as f64;
    match n {
        n if n >= 1e10 => format!("{:.0} GB", n / 1e9),
        n if n >= 1e9 => format!("{:.1} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.0} MB", n / 1e6),
        n => format!("{:.0} kB", n / 1e3),
    }
}

/// `4 s`, `12 m 05 s`, `9 h 20 m`, `3 d 4 h`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3_600, whole / 60);
    match whole {
        0..60 => format!("{whole} s"),
        60..3_600 => format!("{minutes} m {:02} s", whole % 60),
        3_600..86_400 => format!("{hours} h {:02} m", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// `941`, `19.8 k`, `2.31 M`, `4.5 G`.
pub fn short(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
