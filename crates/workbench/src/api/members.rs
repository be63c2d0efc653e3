//! What is compared: runs, or groups of them, and their stable texts.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What is compared: one run, or several pooled. A pooled member never mixes benchmarks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Member {
    /// One run.
    Run {
        /// Id of the run.
        run: String,
    },
    /// All runs of a harness.
    Harness {
        /// Its name; `""` = unknown.
        harness: String,
        /// Key of the benchmark.
        benchmark: String,
    },
    /// All runs of a model.
    Model {
        /// Its name; `""` = unknown.
        model: String,
        /// Key of the benchmark.
        benchmark: String,
    },
    /// All runs of a harness with a model: a cell of the matrix.
    Cell {
        /// Name of the harness; `""` = unknown.
        harness: String,
        /// Name of the model; `""` = unknown.
        model: String,
        /// Key of the benchmark.
        benchmark: String,
    },
    /// All runs with a tag.
    Tag {
        /// The tag.
        tag: String,
        /// Key of the benchmark.
        benchmark: String,
    },
}

/// What stands between harness and model in the text of a cell.
const TIMES: char = '×';

impl Member {
    /// Stable text: the id of a run, `harness:opencode@staminabench`, `cell:opencode×glm-5@staminabench`. In the names of
    /// a cell `%`, `×` and `@` are written `%25`, `%C3%97` and `%40`, so that the text can be read back.
    pub fn text(&self) -> String {
        match self {
            Self::Run { run } => run.clone(),
            Self::Harness { harness, benchmark } => format!("harness:{harness}@{benchmark}"),
            Self::Model { model, benchmark } => format!("model:{model}@{benchmark}"),
            Self::Cell { harness, model, benchmark } => {
                format!("cell:{}{TIMES}{}@{benchmark}", escaped(harness), escaped(model))
            }
            Self::Tag { tag, benchmark } => format!("tag:{tag}@{benchmark}"),
        }
    }

    /// The harness and the model that stand in the text of a cell, without what stands before and behind them.
    pub fn names_of_cell(text: &str) -> Option<(String, String)> {
        let (harness, model) = text.split_once(TIMES)?;
        Some((unescaped(harness), unescaped(model)))
    }
}

fn escaped(name: &str) -> String {
    name.replace('%', "%25").replace(TIMES, "%C3%97").replace('@', "%40")
}

fn unescaped(name: &str) -> String {
    name.replace("%40", "@").replace("%C3%97", "×").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_read_back_whatever_its_names_are() {
        let names = ["opencode", "a×b", "100 %40", "@cf/meta", "", "%C3%97", "x@y×z%"];
        for harness in names {
            for model in names {
                let text = Member::Cell {
                    harness: harness.to_owned(),
                    model: model.to_owned(),
                    benchmark: "b".to_owned(),
                }
                .text();
                let inner = text.strip_prefix("cell:").and_then(|text| text.strip_suffix("@b")).unwrap();
                assert_eq!(inner.matches(['@', TIMES]).count(), 1, "{text}");
                assert_eq!(Member::names_of_cell(inner), Some((harness.to_owned(), model.to_owned())));
            }
        }
        assert_eq!(Member::names_of_cell("opencode"), None);
    }
}
