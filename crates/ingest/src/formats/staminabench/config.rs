//! `config.yaml`: the snapshot of the resolved configuration, written by `OmegaConf`.
//!
//! Read as an event stream into JSON, with a bound on values, bytes and depth, so that aliases that multiply themselves end
//! as an error and not as a full memory.

use std::collections::HashMap;

use model::Extra;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Number, Value};

use files::{ReadError, Tree};

/// Largest file that is read, in bytes.
const CAP: u64 = 4 << 20;
/// Most values in one document, those that aliases repeat included.
const VALUES: usize = 50_000;
/// Most bytes of text in one document, those that aliases and dotted keys repeat included.
const BYTES: usize = 8 << 20;
/// Deepest nesting.
const DEPTH: usize = 64;

/// The settings of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Config {
    /// Everything, flattened to dotted keys.
    pub(super) settings: Extra,
}

impl Config {
    /// Reads a configuration; `None` if there is none.
    pub(super) fn read(tree: &Tree, path: &str) -> Result<Option<Self>, ReadError> {
        let text = match tree.read_text(path, CAP) {
            Ok((text, _)) => text,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = text.trim_start_matches('\u{feff}');
        match parse(text).map_err(|message| ReadError::Malformed { code: "yaml.malformed", message })? {
            Value::Object(map) => {
                let settings = dotted(map)
                    .map_err(|message| ReadError::Malformed { code: "yaml.malformed", message })?;
                Ok(Some(Self { settings }))
            }
            Value::Null => Ok(Some(Self::default())),
            _ => Err(ReadError::Malformed {
                code: "yaml.wrong_type",
                message: "The configuration is no map of names to values".to_owned(),
            }),
        }
    }

    /// A text setting.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.settings.get(key).and_then(Value::as_str).map(str::trim).filter(|t| !t.is_empty())
    }

    /// A whole number.
    pub(super) fn count(&self, key: &str) -> Option<u32> {
        match self.settings.get(key)? {
            Value::Number(n) => n.as_u64().and_then(|n| u32::try_from(n).ok()),
            Value::String(s) => s.trim().parse().ok(),
            _ => None,
        }
    }

    /// The counts among the settings that cannot be, with their keys.
    pub(super) fn odd_counts(&self) -> impl Iterator<Item = (&String, &Value)> {
        const COUNTS: [&str; 3] = ["n_turns", "n_scenarios", "attempt_limit"];
        let section = self.section();
        self.settings.iter().filter(move |(key, value)| {
            let name = key.strip_prefix(section).and_then(|name| name.strip_prefix('.')).unwrap_or(key);
            COUNTS.contains(&name) && !value.is_null() && self.count(key).is_none()
        })
    }

    /// A truth value.
    pub(super) fn is_set(&self, key: &str) -> bool {
        matches!(self.settings.get(key), Some(Value::Bool(true)))
    }

    /// A key of the benchmark's own section, whichever of its names the section has.
    fn section(&self) -> &'static str {
        let has_section = |section: &str| self.settings.keys().any(|k| k.starts_with(section));
        if self.benchmark().as_deref() == Some("harbor") {
            "harbor"
        } else if has_section("restful_server_gen_iterative.") {
            "restful_server_gen_iterative"
        } else {
            "restful_server_gen"
        }
    }

    /// The agent as the configuration names it, in lower case: `mini_swe`.
    pub(super) fn agent(&self) -> Option<String> {
        self.text("agent").map(str::to_lowercase)
    }

    /// The benchmark, in lower case.
    pub(super) fn benchmark(&self) -> Option<String> {
        self.text("benchmark").map(str::to_lowercase)
    }

    /// Turns a scenario; `quick_debug` overrides it with 2.
    pub(super) fn turns(&self) -> Option<u32> {
        if self.is_set("quick_debug") {
            return Some(2);
        }
        self.count(&format!("{}.n_turns", self.section())).or_else(|| self.count("n_turns"))
    }

    /// Scenarios; `execute_episodes` names a subset, and `quick_debug` plays two of them.
    pub(super) fn scenarios(&self) -> Option<u32> {
        let quick = self.is_set("quick_debug");
        let section = self.section();
        if let Some(list) = self.text(&format!("{section}.execute_episodes")) {
            let named = u32::try_from(list.split(',').filter(|e| !e.trim().is_empty()).count()).ok()?;
            return Some(if quick { named.min(2) } else { named });
        }
        if quick {
            return Some(2);
        }
        self.count(&format!("{section}.n_scenarios")).or_else(|| self.count("n_scenarios"))
    }

    /// The numbers of the scenarios to play, counted from 0; `None` = it does not say, or names more than `most`.
    pub(super) fn scenario_numbers(&self, most: usize) -> Option<Vec<u32>> {
        let count = self.scenarios().map(|n| n as usize).filter(|n| *n <= most)?;
        let Some(list) = self.text(&format!("{}.execute_episodes", self.section())) else {
            return Some((0..u32::try_from(count).ok()?).collect());
        };
        let named = list.split(',').map(str::trim).filter(|number| !number.is_empty());
        named.take(count).map(|number| number.parse().ok()).collect()
    }

    /// Most attempts a turn may take, as the configuration gives it.
    pub(super) fn attempt_limit(&self) -> Option<u32> {
        self.count(&format!("{}.attempt_limit", self.section())).or_else(|| self.count("attempt_limit"))
    }

    /// The model: `model_id` in the section of the agent, or in the only section that has one.
    pub(super) fn model(&self) -> Option<&str> {
        const NAMES: [&str; 3] = ["model_id", "model", "model_name"];
        if let Some(agent) = self.agent() {
            let agent_value = NAMES.iter().find_map(|name| self.text(&format!("{agent}.{name}")));
            if agent_value.is_some() {
                return agent_value;
            }
        }
        if let Some(top) = NAMES.iter().find_map(|name| self.text(name)) {
            return Some(top);
        }
        let mut all = self.settings.iter().filter(|(key, _)| {
            // The sampler's model made the scenarios; it did not play them.
            key.rsplit_once('.')
                .is_some_and(|(section, name)| NAMES.contains(&name) && !section.contains("restful"))
        });
        match (all.next(), all.next()) {
            (Some((_, value)), None) => value.as_str().map(str::trim).filter(|t| !t.is_empty()),
            _ => None,
        }
    }
}

/// `bedrock/zai.glm-5` as (provider, model), where the first part is the name of a provider.
pub(super) fn split_provider(model: &str) -> (Option<String>, String) {
    const PROVIDERS: [&str; 28] = [
        "bedrock",
        "amazon-bedrock",
        "bedrock_converse",
        "openai",
        "anthropic",
        "openrouter",
        "azure",
        "azure_ai",
        "vertex_ai",
        "gemini",
        "google",
        "mistral",
        "deepseek",
        "groq",
        "together_ai",
        "togetherai",
        "fireworks_ai",
        "huggingface",
        "ollama",
        "vllm",
        "hosted_vllm",
        "litellm",
        "litellm_proxy",
        "xai",
        "moonshot",
        "dashscope",
        "nvidia_nim",
        "zai",
    ];
    match model.split_once('/') {
        Some((provider, name))
            if PROVIDERS.contains(&provider.to_lowercase().as_str()) && !name.is_empty() =>
        {
            (Some(provider.to_owned()), name.to_owned())
        }
        _ => (None, model.to_owned()),
    }
}

/// The map with dotted keys in the place of nested maps.
///
/// Errors: keys that are too long altogether, because a long name is repeated by all that stands below it.
fn dotted(map: Extra) -> Result<Extra, String> {
    let mut settings = Extra::new();
    flatten("", map, &mut 0, &mut settings)?;
    Ok(settings)
}

fn flatten(prefix: &str, map: Extra, bytes: &mut usize, out: &mut Extra) -> Result<(), String> {
    for (key, value) in map {
        *bytes += prefix.len() + key.len();
        if *bytes > BYTES {
            return Err(format!("The keys have more than {BYTES} bytes"));
        }
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) if !inner.is_empty() => flatten(&key, inner, bytes, out)?,
            value => {
                out.insert(key, value);
            }
        }
    }
    Ok(())
}

/// An open list or map while its entries come in.
enum OpenNode {
    List(Vec<Value>, usize),
    Map(Extra, Option<String>, usize),
}

/// Parses the first document of a YAML text.
fn parse(text: &str) -> Result<Value, String> {
    let mut stack: Vec<OpenNode> = Vec::new();
    let mut anchors: HashMap<usize, Value> = HashMap::new();
    let (mut values, mut bytes) = (0usize, 0usize);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| format!("It is not YAML: {e}"))?;
        let line = span.start.line();
        let (value, anchor) = match event {
            Event::SequenceStart(anchor, _) => {
                stack.push(OpenNode::List(Vec::new(), anchor));
                if stack.len() > DEPTH {
                    return Err(format!("Line {line}: nested more than {DEPTH} deep"));
                }
                continue;
            }
            Event::MappingStart(anchor, _) => {
                stack.push(OpenNode::Map(Extra::new(), None, anchor));
                if stack.len() > DEPTH {
                    return Err(format!("Line {line}: nested more than {DEPTH} deep"));
                }
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(OpenNode::List(list, anchor)) => (Value::Array(list), anchor),
                Some(OpenNode::Map(map, _, anchor)) => (Value::Object(map), anchor),
                None => return Err(format!("Line {line}: an end without a begin")),
            },
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::Alias(id) => (anchors.get(&id).cloned().unwrap_or(Value::Null), 0),
            Event::DocumentEnd => return Ok(Value::Null),
            _ => continue,
        };
        let (more_values, more_bytes) = size(&value, VALUES);
        (values, bytes) = (values + more_values, bytes + more_bytes);
        if anchor > 0 {
            // What an anchor keeps is a copy.
            bytes += more_bytes;
            anchors.insert(anchor, value.clone());
        }
        if values > VALUES || bytes > BYTES {
            return Err(format!("Line {line}: more than {VALUES} values or {BYTES} bytes"));
        }
        match stack.last_mut() {
            None => return Ok(value),
            Some(OpenNode::List(list, _)) => list.push(value),
            Some(OpenNode::Map(map, key, _)) => match key.take() {
                None => {
                    *key = Some(match value {
                        Value::String(text) => text,
                        Value::Array(_) | Value::Object(_) => {
                            return Err(format!("Line {line}: a list or map as a name"));
                        }
                        other => other.to_string(),
                    });
                }
                Some(name) => {
                    map.insert(name, value);
                }
            },
        }
    }
    Ok(Value::Null)
}

/// Values in a value, counted no further than `most`, and the bytes of their texts.
fn size(value: &Value, most: usize) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        count += 1;
        if count > most {
            break;
        }
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(list) => open.extend(list),
            Value::Object(map) => {
                bytes += map.keys().map(String::len).sum::<usize>();
                open.extend(map.values());
            }
            _ => {}
        }
    }
    (count, bytes)
}

/// A plain scalar by the core rules; a quoted one is text.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => {
            let looks_numeric =
                text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
            if looks_numeric && let Ok(whole) = text.parse::<i64>() {
                return Value::Number(whole.into());
            }
            if looks_numeric && let Some(number) = text.parse().ok().and_then(Number::from_f64) {
                return Value::Number(number);
            }
            Value::String(text.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use proptest::prelude::*;

    fn config(text: &str) -> Config {
        let Ok(Value::Object(map)) = parse(text) else { panic!("not a map: {:?}", parse(text)) };
        Config { settings: dotted(map).unwrap() }
    }

    const REAL: &str = "agent: MINI_SWE\nbenchmark: RESTFUL_SERVER_GEN_ITERATIVE\noutput_dir: /path/to/results\nuse_docker: true\nbatch_size: 5\nquick_debug: false\nscenarios_dir: null\nrestful_server_gen_iterative:\n  n_scenarios: 20\n  n_turns: 100\n  attempt_limit: 10\n  base_seed: 42\n  test_fail_feedback_type: DETAILED\n  execute_episodes: null\n  llm_sampler_model_id: zai.glm-5\nmini_swe:\n  model_id: bedrock/zai.glm-5\n  env: []\nopenhands:\n  model_id: bedrock/other\ndocker:\n  image_name: agent-benchmarking:mini\n  env_vars: {}\n";

    #[test]
    fn an_omegaconf_snapshot() {
        let c = config(REAL);
        assert_eq!(c.agent().as_deref(), Some("mini_swe"));
        assert_eq!((c.turns(), c.scenarios(), c.attempt_limit()), (Some(100), Some(20), Some(10)));
        assert_eq!(c.model(), Some("bedrock/zai.glm-5"));
        assert_eq!(split_provider("bedrock/zai.glm-5"), (Some("bedrock".into()), "zai.glm-5".into()));
        assert_eq!(split_provider("Qwen/Qwen3.5-122B"), (None, "Qwen/Qwen3.5-122B".into()));
        assert_eq!(c.settings.get("docker.image_name"), Some(&Value::from("agent-benchmarking:mini")));
        let quick = config(&REAL.replace("quick_debug: false", "quick_debug: true"));
        assert_eq!((quick.turns(), quick.scenarios()), (Some(2), Some(2)));
        let some_episodes = config(&REAL.replace("execute_episodes: null", "execute_episodes: '1,5,10'"));
        assert_eq!(some_episodes.scenarios(), Some(3));
        for (named, planned) in [("'7'", 1), ("'1,5,10'", 2)] {
            let quick = REAL.replace("quick_debug: false", "quick_debug: true");
            let quick =
                config(&quick.replace("execute_episodes: null", &format!("execute_episodes: {named}")));
            assert_eq!(quick.scenarios(), Some(planned));
        }
        assert_eq!(
            config("agent: MOCK\nmini_swe: {model_id: a}\nopencode: {model_id: b}").model(),
            None,
            "the model is unknown"
        );
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn aliases_cannot_multiply_without_end() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..12 {
            let last = n - 1;
            let many_keys = vec![format!("*a{last}"); 9].join(",");
            let _ = writeln!(bomb, "a{n}: &a{n} [{many_keys}]");
        }
        assert!(parse(&bomb).unwrap_err().contains("more than"));
        // A long text, repeated; a long name above many others; names of names, whose quotes are quoted again.
        let long = "x".repeat(1 << 20);
        let bomb = format!("a: &a {long}\nb: [{}]\n", vec!["*a"; 10_000].join(","));
        assert!(parse(&bomb).unwrap_err().contains("bytes"));
        let many_keys: Vec<String> = (0..10_000).map(|n| format!("k{n}: 1")).collect();
        let long_name = "x".repeat(1000);
        let Ok(Value::Object(map)) = parse(&format!("{long_name}: {{{}}}", many_keys.join(", "))) else {
            panic!("not a map")
        };
        assert!(dotted(map).unwrap_err().contains("bytes"));
        assert!(parse(&format!("{}a: b", "? ".repeat(60))).unwrap_err().contains("as a name"));
        assert!(parse(&"[".repeat(1000)).is_err());
        assert!(parse("a: [1, 2\nb: }").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z:\\-\\[\\]{}&*!|>'\"%@` \n\t0-9.#,?]{0,80}") {
            let _ = parse(&text);
        }
    }
}
