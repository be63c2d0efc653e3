//! From files and `key=value` lists to a [`Config`].

use std::collections::BTreeMap;

use serde_json::Value;

use super::declarations::defaults;
use super::{Benchmark, ConfigError, Generation, Key, KeyName, ValueKind, all, is_free_section, keys, yaml};

/// Deepest nesting of a file; the keys need two.
const MOST_LEVELS: usize = 8;
/// Most keys of one file.
const MOST_KEYS: usize = 1000;
/// Longest key, in bytes, with the sections that it stands in; a long section is repeated by each of its keys.
const LONGEST_KEY: usize = 1000;

/// A whole configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// What decides about the bytes of a pack.
    pub generation: Generation,
    /// Where the pack goes, if it says so (`output_dir`).
    pub output_dir: Option<String>,
    /// Every key that was given and not taken back, with its last value.
    pub values: BTreeMap<String, Value>,
}

/// A YAML file that was read.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// As messages name it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A key of a file that was left out, as [`read`] does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedKey {
    /// Dotted.
    pub key: String,
    /// Why it cannot be taken, in a sentence that names it.
    pub reason: String,
    /// It is not a key of Stamina Lab at all, rather than one with a value that cannot be taken.
    pub is_unknown: bool,
}

impl Config {
    /// What was given, and the declared default of each key that was not.
    pub fn with_defaults(&self) -> BTreeMap<String, Value> {
        let mut values = defaults().clone();
        values.extend(self.values.iter().map(|(key, value)| (key.clone(), value.clone())));
        values
    }

    /// Takes a key and all below it away. False if there was none.
    pub fn leave_out(&mut self, key: &str) -> bool {
        let (before, within) = (self.values.len(), format!("{key}."));
        self.values.retain(|other, _| other != key && !other.starts_with(&within));
        self.values.len() < before
    }
}

/// Files in order, then `key=value`s in order.
pub fn resolve(files: &[ConfigFile], values: &[String]) -> Result<Config, ConfigError> {
    let mut settings = BTreeMap::new();
    for file in files {
        put_all(&mut settings, file)?;
    }
    for pair in values {
        for (key, value) in keys_of_pair(pair)? {
            put(&mut settings, &key, &value, "--values")?;
        }
    }
    Ok(finish(settings))
}

/// Puts the keys of a file in their places. A file with a setting, or with a key that is like one, says which key is unknown; any other
/// is not quoted.
fn put_all(settings: &mut BTreeMap<String, Value>, file: &ConfigFile) -> Result<(), ConfigError> {
    let (mut has_setting, mut unknown) = (false, None);
    for (key, value) in keys_of_file(file)? {
        match put(settings, &key, &value, &file.name) {
            Ok(()) => has_setting = true,
            Err(error @ ConfigError::UnknownKey { .. }) => unknown = unknown.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match unknown {
        None => Ok(()),
        Some(error) if has_setting || is_like_a_setting(&error) => Err(error),
        Some(_) => Err(ConfigError::NoSettings { place: file.name.clone() }),
    }
}

/// Whether an unknown key is like a known one, or lies in a known section.
fn is_like_a_setting(error: &ConfigError) -> bool {
    let ConfigError::UnknownKey { key, nearest, .. } = error else { return true };
    let section = key.split('.').next().unwrap_or(key);
    nearest.is_some() || keys().iter().any(|known| !known.section.is_empty() && known.section == section)
}

/// A file that was written elsewhere, as far as it is understood: the original's snapshot has every key that its version
/// knows. A key that [`resolve`] would refuse is left out, and told; a file of which no key at all is taken is an error, which
/// quotes none of it.
pub fn read(file: &ConfigFile) -> Result<(Config, Vec<OmittedKey>), ConfigError> {
    let mut settings = BTreeMap::new();
    let mut left_out = Vec::new();
    for (key, value) in keys_of_file(file)? {
        if let Err(refused) = put(&mut settings, &key, &value, "")
            && !value.is_null()
        {
            let is_unknown = matches!(refused, ConfigError::UnknownKey { .. });
            left_out.push(OmittedKey { key: short(&key), reason: refused.to_string(), is_unknown });
        }
    }
    if settings.is_empty() && left_out.iter().any(|left| left.is_unknown) {
        return Err(ConfigError::NoSettings { place: file.name.clone() });
    }
    Ok((finish(settings), left_out))
}

/// The keys of one `key=value`: lists and mappings are written as in YAML, `[a, b]` and `{name: value}`.
fn keys_of_pair(pair: &str) -> Result<Vec<(String, Value)>, ConfigError> {
    let (key, value) = pair.split_once('=').ok_or_else(|| ConfigError::NotAPair { text: short(pair) })?;
    let (key, value) = (key.trim(), value.trim());
    let value = match unquoted(value) {
        ("null" | "None" | "~" | "", false) => Value::Null,
        (text, false) if is_flow(text) => serde_saphyr::from_str_with_options(text, yaml::options())
            .map_err(|error: serde_saphyr::Error| ConfigError::Yaml {
                place: format!("--values {}", short(key)),
                problem: error.without_snippet().to_string(),
            })?,
        (text, _) => Value::String(text.to_owned()),
    };
    let mut keys = Vec::new();
    let fits = match value {
        Value::Object(map) => flatten(key, map, 1, &mut keys),
        value => {
            keys.push((key.to_owned(), value));
            true
        }
    };
    let too_much = || ConfigError::Yaml { place: format!("--values {}", short(key)), problem: too_much() };
    fits.then_some(keys).ok_or_else(too_much)
}

/// Whether it is written as a list or mapping of YAML.
fn is_flow(text: &str) -> bool {
    [('[', ']'), ('{', '}')].iter().any(|(open, close)| text.starts_with(*open) && text.ends_with(*close))
}

/// Puts a value in its place; `null` takes it away, and of a section all.
fn put(
    settings: &mut BTreeMap<String, Value>,
    key: &str,
    value: &Value,
    place: &str,
) -> Result<(), ConfigError> {
    if value.is_null() {
        let within = format!("{key}.");
        let is_section =
            is_free_section(key) || keys().iter().any(|known| known.dotted().starts_with(&within));
        if is_section {
            settings.retain(|other, _| !other.starts_with(&within));
            return Ok(());
        }
        known_key(key, place)?;
        settings.remove(key);
        return Ok(());
    }
    // A file of OmegaConf may refer to its surroundings. Taken literally, it would name folders and models so.
    let refers = |value: &Value| value.as_str().is_some_and(|text| text.contains("${"));
    if refers(value) || value.as_array().is_some_and(|items| items.iter().any(refers)) {
        return Err(ConfigError::Value {
            key: short(key),
            value: shown_value(value),
            wanted: "a plain value: ${…} is not resolved".to_owned(),
            place: place.to_owned(),
        });
    }
    let value = match known_key(key, place)? {
        None => match takes_of_others(key) {
            None => value.clone(),
            Some(takes) => checked_value(takes, key, value, place)?,
        },
        Some(known) => checked_value(known.takes(), key, value, place)?,
    };
    settings.insert(key.to_owned(), value);
    Ok(())
}

/// A value as its key takes it.
fn checked_value(takes: ValueKind, key: &str, value: &Value, place: &str) -> Result<Value, ConfigError> {
    takes.take(value).ok_or_else(|| ConfigError::Value {
        key: key.to_owned(),
        value: shown_value(value),
        wanted: takes.words(),
        place: place.to_owned(),
    })
}

/// What a key in a section of others takes, if that is a whole number, which a list of values gives as text.
fn takes_of_others(key: &str) -> Option<ValueKind> {
    let (section, name) = key.split_once('.')?;
    let is_named =
        |key: KeyName| matches!(key, KeyName::Free(parent, last) if parent == section && last == name);
    let takes = all().find(|row| is_named(row.key))?.takes;
    matches!(takes, ValueKind::Integer(..)).then_some(takes)
}

/// The key in the table; nothing for one in a free section.
fn known_key(key: &str, place: &str) -> Result<Option<&'static Key>, ConfigError> {
    if let Some(known) = keys().iter().find(|known| known.dotted() == key) {
        return Ok(Some(known));
    }
    if let Some((section, rest)) = key.split_once('.')
        && is_free_section(section)
        && rest.split('.').all(|part| !part.is_empty())
    {
        return Ok(None);
    }
    Err(ConfigError::UnknownKey { key: short(key), nearest: nearest_key(key), place: place.to_owned() })
}

fn finish(values: BTreeMap<String, Value>) -> Config {
    let output_dir = values.get("output_dir").and_then(Value::as_str).map(str::to_owned);
    Config { generation: generation(&values), output_dir, values }
}

impl Default for Generation {
    /// The declared defaults, which are those of the README.
    fn default() -> Self {
        generation(&BTreeMap::new())
    }
}

/// What decides about the bytes of a pack, by what is given and by the declared defaults.
fn generation(values: &BTreeMap<String, Value>) -> Generation {
    let value = |key: &str| values.get(key).or_else(|| defaults().get(key));
    let word = value("benchmark").and_then(Value::as_str);
    let benchmark =
        Benchmark::ALL.into_iter().find(|benchmark| word == Some(benchmark.as_str())).unwrap_or_default();
    if benchmark == Benchmark::Harbor {
        // Nothing is generated: the tasks say what is played.
        let standard = Generation::default();
        return Generation { benchmark, n_scenarios: 1, n_turns: 1, num_changes_per_turn: 0, ..standard };
    }
    let benchmark_value = |name: &str| value(&format!("{}.{name}", benchmark.section()));
    let number = |name: &str| benchmark_value(name).and_then(Value::as_u64).unwrap_or_default();
    let count = |name: &str| u32::try_from(number(name)).unwrap_or(u32::MAX);
    let use_llm_sampler = benchmark_value("use_llm_sampler").and_then(Value::as_bool).unwrap_or_default();
    let model = benchmark_value("llm_sampler_model_id").and_then(Value::as_str).filter(|_| use_llm_sampler);
    let mut generation = Generation {
        benchmark,
        n_scenarios: count("n_scenarios"),
        n_turns: count("n_turns"),
        num_changes_per_turn: count("num_changes_per_turn"),
        base_seed: number("base_seed"),
        use_llm_sampler,
        llm_sampler_model_id: model.map(str::to_owned),
    };
    if value("quick_debug").and_then(Value::as_bool).unwrap_or_default() {
        (generation.n_scenarios, generation.n_turns) = (2, 2);
    }
    if benchmark == Benchmark::SingleTurn {
        (generation.n_turns, generation.num_changes_per_turn) = (1, 0);
    }
    generation
}

/// A file's keys, dotted, in order.
fn keys_of_file(file: &ConfigFile) -> Result<Vec<(String, Value)>, ConfigError> {
    let wrong = |problem: String| ConfigError::Yaml { place: file.name.clone(), problem };
    let text = file.text.trim_start_matches('\u{feff}');
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let value: Value = serde_saphyr::from_str_with_options(text, yaml::options())
        .map_err(|error: serde_saphyr::Error| wrong(without_key(&error.without_snippet().to_string())))?;
    let mut keys = Vec::new();
    match value {
        Value::Null => {}
        Value::Object(map) => {
            if !flatten("", map, 1, &mut keys) {
                return Err(wrong(too_much()));
            }
        }
        other => {
            let kind = if other.is_array() { "a list" } else { "a single value" };
            return Err(wrong(format!("It is {kind}; keys with values are read")));
        }
    }
    Ok(keys)
}

/// An error of the parser without the key that it quotes: the file may be any file of this machine.
fn without_key(error: &str) -> String {
    match error.strip_prefix("duplicate mapping key") {
        None => error.to_owned(),
        Some(rest) => {
            let place = rest.rfind(" at line ").map_or("", |index| &rest[index..]);
            format!("a key stands twice in its mapping{place}")
        }
    }
}

fn too_much() -> String {
    format!(
        "It is nested deeper than {MOST_LEVELS} levels, has more than {MOST_KEYS} keys or one of more than {LONGEST_KEY} bytes"
    )
}

fn flatten(
    prefix: &str,
    map: serde_json::Map<String, Value>,
    depth: usize,
    keys: &mut Vec<(String, Value)>,
) -> bool {
    for (name, value) in map {
        if prefix.len() + name.len() >= LONGEST_KEY {
            return false;
        }
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(map) => {
                if depth == MOST_LEVELS || !flatten(&key, map, depth + 1, keys) {
                    return false;
                }
            }
            value => keys.push((key, value)),
        }
        if keys.len() > MOST_KEYS {
            return false;
        }
    }
    true
}

/// The text between quotes, and whether there were any.
fn unquoted(text: &str) -> (&str, bool) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return (inner, true);
        }
    }
    (text, false)
}

/// The known key most like this one: by its whole, or by its last part where the section is missing. None if that takes
/// another letter for every second one.
fn nearest_key(key: &str) -> Option<String> {
    let key: String = key.to_lowercase().chars().take(100).collect();
    let last = key.rsplit('.').next().unwrap_or(&key).to_owned();
    keys()
        .iter()
        .map(|known| {
            let whole = edit_distance(&key, &known.dotted());
            let by_last = edit_distance(&last, known.name) + usize::from(key.contains('.')) * 2;
            (whole.min(by_last), known.dotted())
        })
        .min_by_key(|(far, _)| *far)
        .filter(|(far, _)| far * 2 < last.chars().count().max(2))
        .map(|(_, dotted)| dotted)
}

/// Insertions, deletions and replacements from one text to the other.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

fn short(text: &str) -> String {
    let mut chars = text.chars();
    let begin: String = chars.by_ref().take(80).flat_map(char::escape_debug).collect();
    if chars.next().is_some() { format!("{begin}…") } else { begin }
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", short(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
        other => other.to_string(),
    }
}
