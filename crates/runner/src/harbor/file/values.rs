//! Single values of a `task.toml`: names, times, sizes, variables. Errors are sentences.

use std::collections::BTreeMap;

use super::raw::NameOrNumber;

/// Longest time that a file may ask for, in seconds: a week.
const MOST_SECONDS: f64 = 604_800.0;
/// Least memory and least part of a CPU that Docker takes as a limit.
pub(super) const LEAST_MEMORY_MB: u64 = 6;
pub(super) const LEAST_CPUS: f64 = 0.01;
/// Longest name of a step, in bytes.
const LONGEST_NAME: usize = 255;

/// A name that can be a folder's on every system, as Harbor asks for.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let reserved = |c: char| c.is_control() || "<>:\"/\\|?*".contains(c);
    let device = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = ["COM", "LPT"].iter().any(|word| {
        device
            .strip_prefix(word)
            .is_some_and(|rest| rest.chars().count() == 1 && "123456789¹²³".contains(rest))
    });
    let is_device =
        matches!(device.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") || numbered;
    let bad = name.trim().is_empty()
        || name.ends_with(['.', ' '])
        || name.len() > LONGEST_NAME
        || name.contains(reserved)
        || is_device;
    if bad {
        let shown: String = name.chars().take(80).collect();
        return Err(format!("A step is called \"{}\", which is no name of a folder", shown.escape_debug()));
    }
    Ok(())
}

/// What two names have in common that are one folder on some system.
pub(super) fn name_key(name: &str) -> String {
    // Upper case first: it is what takes letters such as ß apart, as full case folding does.
    let normal = icu_normalizer::ComposingNormalizerBorrowed::new_nfc();
    normal.normalize(name).to_uppercase().to_lowercase()
}

pub(super) fn seconds(key: &str, value: f64) -> Result<f64, String> {
    if value.is_finite() && (0.0..=MOST_SECONDS).contains(&value) {
        return Ok(value);
    }
    Err(format!("{key} is {value}; it is a number of seconds, at most a week"))
}

/// A number that is at least `least`: engines take 0 for no limit at all.
pub(super) fn check_least(key: &str, least: f64, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        Some(value) if !(value.is_finite() && value >= least) => {
            Err(format!("{key} is {value}; it is at least {least}"))
        }
        value => Ok(value),
    }
}

/// Megabytes of `memory_mb`, or of the older `memory = "4G"`; at least `least`.
pub(super) fn size(
    name: &str,
    least: u64,
    now: Option<f64>,
    before: Option<NameOrNumber>,
) -> Result<Option<u64>, String> {
    let before = match before {
        None => None,
        Some(NameOrNumber::Number(_)) => return Err(format!("environment.{name} is a text such as \"4G\"")),
        Some(NameOrNumber::Name(text)) => Some(megabytes(&text).ok_or_else(|| {
            format!(
                "environment.{name} is \"{}\"; it is a text such as \"4G\" or \"512M\"",
                text.escape_debug()
            )
        })?),
    };
    if let Some(before) = before.filter(|before| *before < least) {
        return Err(format!("environment.{name} is {before} MB; it is at least {least} MB"));
    }
    let now = check_least(&format!("environment.{name}_mb"), least as f64, now)?.map(|value| value as u64);
    match (now, before) {
        (Some(now), Some(before)) if now != before => {
            Err(format!("environment.{name} and environment.{name}_mb differ: {before} and {now} MB"))
        }
        (now, before) => Ok(now.or(before)),
    }
}

fn megabytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    let unit = text.chars().next_back()?;
    let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    let factor = match unit {
        'G' => 1024.0,
        'M' => 1.0,
        'K' => 1.0 / 1024.0,
        _ => return None,
    };
    (number.is_finite() && number >= 0.0).then_some((number * factor) as u64)
}

pub(super) fn variables(
    key: &str,
    env: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let plain = |name: &str| {
        !name.is_empty()
            && !name.contains(['=', '\0'])
            && name.chars().all(|c| !c.is_whitespace() && !c.is_control())
    };
    if let Some(name) = env.keys().find(|name| !plain(name)) {
        return Err(format!("{key}: \"{}\" is no name of a variable", name.escape_debug()));
    }
    if env.values().any(|value| value.contains('\0')) {
        return Err(format!("{key}: a value holds a zero byte"));
    }
    Ok(env)
}
