//! What is known of a setting without running anything.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;
use ts_rs::TS;

use super::{Benchmark, ValueKind};

/// One setting of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Its field in the form. Keys of one field are entered together.
    pub field: &'static str,
    /// Whether it is a further key of the field of another setting, which the form does not show on its own.
    pub is_part: bool,
    /// Its key in a configuration.
    pub key: KeyName,
    /// What it takes.
    pub takes: ValueKind,
    /// What holds where it is not given.
    pub default: DefaultValue,
    /// Where it stands in the form.
    pub section: FormSection,
    /// What a person reads: `Attempts per turn`.
    pub label: &'static str,
    /// `min`, `GiB`, `cores`, `$`; empty = none.
    pub unit: &'static str,
    /// What it means, in a sentence for whoever fills in the form.
    pub help: &'static str,
    /// What the documentation says beyond that, in Markdown; empty = nothing.
    pub more: &'static str,
    /// What the form offers, in its order: words, or `false` and `true`. Empty where it is typed.
    pub choices: &'static [Choice],
    /// What has to be so for it to do anything: all of these.
    pub needs: &'static [Need],
}

/// Where the key of a setting stands in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyName {
    /// In a section (empty: at the top), with this last part.
    InSection(&'static str, &'static str),
    /// In the section of each of these benchmarks: `restful_server_gen.n_scenarios`.
    OfBenchmark(&'static [Benchmark], &'static str),
    /// In the section of the agent, which takes any key: `mini_swe.model_id`.
    OfAgent(&'static str),
    /// In another section that takes any key. Its value is checked where it is used, a whole number where it is read.
    Free(&'static str, &'static str),
    /// A question of the form alone about a key that another setting declares.
    OfForm(&'static str, &'static str),
}

/// What holds where a setting is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// This value, as a configuration spells it.
    Value(&'static str),
    /// Nothing, which means this: `no limit`.
    Empty(&'static str),
    /// What other settings say, in words with Markdown.
    Depends(&'static str),
    /// It has to be given; where that is not always so, when.
    Needed(&'static str),
}

/// How the form holds the value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormValue {
    /// A text; empty where nothing is entered.
    Text,
    /// A number, or nothing.
    Number,
    /// Yes or no.
    Truth,
    /// One of the choices.
    Word,
    /// A list of texts.
    List,
}

/// A section of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FormSection {
    /// The harness and its model.
    Agent,
    /// What is played.
    Scenarios,
    /// How often, and what the agent learns.
    Loop,
    /// What containers and models may use.
    Limits,
    /// Where results go.
    Results,
    /// All else.
    Advanced,
}

/// What has to be so for a field to do anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FieldNeed")]
pub enum Need {
    /// Scenarios are played. Tasks bring their images, their length and their requests, and give no feedback.
    Scenarios,
    /// Tasks of Harbor are played.
    Tasks,
    /// No protocol of tasks is named, which would set it.
    NoProtocol,
    /// A model is asked, which `ORACLE` and `NOP` do not.
    Model,
    /// Agents run in containers.
    Containers,
    /// An endpoint answers that may cost something, not the simulated model.
    PaidEndpoint,
    /// A model fills in names and details of the scenarios.
    Sampler,
}

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The form's word; in a configuration it may be written in capitals.
    pub value: &'static str,
    /// What a person reads.
    pub label: &'static str,
    /// What it means, in a sentence or two; empty where the label says it.
    pub help: &'static str,
}

/// A key of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Its section; empty at the top.
    pub section: &'static str,
    /// Its last part.
    pub name: &'static str,
    /// The setting that declares it.
    pub setting: &'static Setting,
}

impl Key {
    /// With its section: `restful_server_gen_iterative.n_turns`.
    pub fn dotted(&self) -> String {
        dotted(self.section, self.name)
    }

    /// What it takes.
    pub fn takes(&self) -> ValueKind {
        self.setting.takes
    }
}

impl Setting {
    /// What a row leaves out.
    pub(crate) const BLANK: Self = Self {
        field: "",
        is_part: false,
        key: KeyName::InSection("", ""),
        takes: ValueKind::Text,
        default: DefaultValue::Empty("none"),
        section: FormSection::Advanced,
        label: "",
        unit: "",
        help: "",
        more: "",
        choices: &[],
        needs: &[],
    };

    /// The keys that it declares, with their sections. Those in sections of others are not among them.
    pub fn keys(&'static self) -> Vec<Key> {
        let key = |section, name| Key { section, name, setting: self };
        match self.key {
            KeyName::InSection(section, name) => vec![key(section, name)],
            KeyName::OfBenchmark(benchmarks, name) => {
                benchmarks.iter().map(|benchmark| key(benchmark.section(), name)).collect()
            }
            KeyName::OfAgent(_) | KeyName::Free(..) | KeyName::OfForm(..) => Vec::new(),
        }
    }

    /// The value that holds where it is not given, in its one form; `None` where its declaration names none.
    pub fn default_value(&self) -> Option<Value> {
        let DefaultValue::Value(word) = self.default else { return None };
        self.takes.take(&Value::from(word))
    }

    /// How the form holds its value.
    pub fn form_value(&self) -> FormValue {
        /// The largest number below which the page holds every whole one.
        const MOST_EXACT: u64 = (1 << 53) - 1;
        match self.takes {
            ValueKind::Truth => FormValue::Truth,
            // A question about a key that takes the word of a benchmark.
            ValueKind::Word(_) if self.choices.iter().any(|choice| choice.value == "true") => {
                FormValue::Truth
            }
            ValueKind::Integer(_, high) if high > MOST_EXACT => FormValue::Text,
            ValueKind::Integer(..) | ValueKind::Amount(..) => FormValue::Number,
            ValueKind::Words => FormValue::List,
            ValueKind::Text | ValueKind::Numbers | ValueKind::Word(_) if self.choices.is_empty() => {
                FormValue::Text
            }
            ValueKind::Text | ValueKind::Numbers | ValueKind::Word(_) => FormValue::Word,
        }
    }

    /// Its label with its unit: `Time per attempt (min)`.
    pub fn label_with_unit(&self) -> String {
        if self.unit.is_empty() { self.label.to_owned() } else { format!("{} ({})", self.label, self.unit) }
    }

    /// Its key in a configuration of this benchmark and agent (in lower case).
    pub fn key_with(&self, benchmark: Benchmark, agent: &str) -> String {
        match self.key {
            KeyName::InSection(section, name)
            | KeyName::Free(section, name)
            | KeyName::OfForm(section, name) => dotted(section, name),
            KeyName::OfBenchmark(_, name) => dotted(benchmark.section(), name),
            KeyName::OfAgent(name) => dotted(agent, name),
        }
    }
}

impl FormSection {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

fn dotted(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}
