//! Every command line in the documentation can be parsed.

use std::path::Path;

use runner::settings::EndpointSettings;

use super::*;

/// The calls of this program in the shell blocks of a page, each split into words by a shell.
fn lines_of(page: &str) -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let text = std::fs::read_to_string(root.join(page)).unwrap().replace("\\\n", " ");
    let mut is_shell = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_shell = language == "sh";
        } else if is_shell && line.starts_with("stamina ") {
            let line = line.split(" > ").next().unwrap_or_default();
            let script = format!("set -- {line}\nprintf '%s\\n' \"$@\"");
            let words = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            found.push(String::from_utf8(words.stdout).unwrap().lines().map(str::to_owned).collect());
        }
    }
    found
}

#[test]
fn every_command_line_of_the_documentation_is_parsed() {
    let mut read = 0;
    for page in [
        "README.md",
        "docs/cli.md",
        "docs/scenarios.md",
        "docs/harnesses.md",
        "docs/figures.md",
        "docs/local-models.md",
    ] {
        for words in lines_of(page) {
            Args::try_parse_from(&words).unwrap_or_else(|error| panic!("{page}: {words:?}: {error}"));
            read += 1;
        }
    }
    assert!(read > 15, "{read} lines");
}

#[test]
fn every_word_of_an_order_or_a_measure_is_read() {
    use clap::CommandFactory as _;

    for (line, name) in [(&["runs"][..], "sort"), (&["figure", "bars"], "measure")] {
        let program = Args::command();
        let mut arguments = program.find_subcommand(line[0]).unwrap().get_arguments();
        let words = arguments.find(|argument| argument.get_id() == name).unwrap().get_possible_values();
        assert!(words.len() >= 10, "{name}: {words:?}");
        for word in words {
            let option = format!("--{name}={}", word.get_name());
            let words = ["stamina"].iter().chain(line).copied().chain([option.as_str()]);
            Args::try_parse_from(words).unwrap_or_else(|error| panic!("{option}: {error}"));
        }
    }
}

/// `crates/cli/tests/docker_readme.rs` runs it.
#[test]
fn the_first_run_of_the_readme_needs_no_endpoint() {
    let runs: Vec<RunArgs> = lines_of("README.md")
        .iter()
        .filter_map(|words| match Args::try_parse_from(words).unwrap().command {
            Command::Run { what: run, .. } if !run.values.is_empty() => Some(run),
            _ => None,
        })
        .collect();
    let [first, tasks] = &runs[..] else { panic!("two lines of the README are runs: {}", runs.len()) };
    for run in [first, tasks] {
        let settings = runner::settings::resolve(&[], &run.values).unwrap();
        assert_eq!(settings.endpoint, EndpointSettings::Oracle);
        assert!(settings.use_docker);
        assert_eq!(settings.tasks.is_some(), std::ptr::eq(run, tasks));
    }
    let yaml = runner::settings::resolve(&[], &first.values).unwrap().to_yaml();
    assert!(yaml.contains("network: gateway"), "{yaml}");
}
