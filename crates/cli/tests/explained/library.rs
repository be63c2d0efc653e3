//! A library of runs, what its commands print, and what the lines of an entry compute of it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::app::TestHome;
use crate::explained::Entry;

/// The numbers in what a program prints.
fn numbers(text: &str) -> Vec<f64> {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e');
    text.split(|c| !is_of_number(c)).filter_map(|word| word.parse().ok()).collect()
}

/// A library of runs, and what its commands print.
pub(crate) struct Library {
    pub(crate) home: TestHome,
    pub(crate) run: String,
    pub(crate) reference: String,
    pub(crate) tau: Value,
}

impl Library {
    /// `run` and `reference` are the ends of ids.
    pub(crate) fn new(source: &Path, run: &str, reference: &str) -> Self {
        let home = TestHome::new();
        home.ingest(source);
        Self::from_home(home, run, reference)
    }

    /// The same of what a home has in its library.
    pub(crate) fn from_home(home: TestHome, run: &str, reference: &str) -> Self {
        let ids = home.run_ids();
        let id = |end: &str| {
            ids.iter().find(|id| id.ends_with(end)).unwrap_or_else(|| panic!("{end} in {ids:?}")).clone()
        };
        let (run, reference) = (id(run), id(reference));
        let mut library = Self { home, run, reference, tau: Value::Null };
        library.tau = library.run_value("stamina")["tau"].clone();
        library
    }

    pub(crate) fn run_value(&self, name: &str) -> Value {
        let runs = self.home.json(&["runs"]);
        let runs = runs.as_array().expect("runs");
        runs.iter().find(|run| run["id"] == self.run.as_str()).expect("the run")[name].clone()
    }

    pub(crate) fn rows(&self, table: &[&str]) -> Vec<Value> {
        let table = self.home.json(&[&["table"], table].concat());
        table["rows"].as_array().expect("rows").clone()
    }

    /// What the lines of an entry print, without the entry's placeholders.
    pub(crate) fn computed(&self, entry: &Entry, more: &[(&str, &str)]) -> Vec<f64> {
        let mut names = vec![("REFERENCE", self.reference.clone()), ("RUN", self.run.clone())];
        names.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let filled = |text: &str| {
            let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
            let mut words = String::new();
            for piece in text.split_inclusive(|c| !is_of_name(c)) {
                let word = piece.trim_end_matches(|c| !is_of_name(c));
                let found = names.iter().find(|(name, _)| *name == word);
                words.push_str(found.map_or(word, |(_, value)| value));
                words.push_str(&piece[word.len()..]);
            }
            words
        };
        for command in entry.command.split(" && ") {
            let command = filled(command);
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(words[0], "stamina", "{command}");
            let mut args = words[1..].to_vec();
            let out = args.pop().expect("a file");
            let out = self.home.path(out);
            if args.last() == Some(&">") {
                args.pop();
                std::fs::write(&out, self.home.text(&args)).expect("a file");
                continue;
            }
            args.push(out.to_str().expect("UTF-8"));
            self.home.text(&args);
        }
        let code = filled(&entry.code);
        let mut program = match entry.language.as_str() {
            "r" => {
                let mut program = Command::new("Rscript");
                program.arg("-e").arg(r_script(&code));
                program
            }
            _ => {
                let mut program = Command::new("python3");
                program.arg("-c").arg(code);
                program
            }
        };
        let ran = program.current_dir(self.home.path("")).output().expect("the program runs");
        assert!(ran.status.success(), "{}: {}", entry.key, String::from_utf8_lossy(&ran.stderr));
        numbers(&String::from_utf8_lossy(&ran.stdout))
    }
}

/// The lines of an entry, and what they come to in all digits: numbers, or χ² and p of a test.
fn r_script(code: &str) -> String {
    format!(
        "set.seed(1); v <- local({{\n{code}\n}})\noptions(digits = 15)\n\
         cat(if (isS4(v)) coin::pvalue(v) else if (is.list(v)) c(v$chisq, v$pvalue, v$p.value) else as.numeric(v))"
    )
}
