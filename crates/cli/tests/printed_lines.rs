//! The lines of `stamina` in README and docs, each in a shell exactly as it is printed there.
//!
//! A line that needs a container engine, a network or a model stands in [`ELSEWHERE`] with its reason. A new one that is in
//! neither list runs, so it has to work.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use test_folders::{copy, data_beside_the_repository};

use crate::app::{TestHome, path_with, text};

/// Beginnings of lines that are not run here, and why.
const ELSEWHERE: [(&str, &str); 8] = [
    ("stamina images build ", "docker_readme.rs runs it"),
    (
        "stamina run --values agent=MINI_SWE output_dir=results/try quick_debug=true",
        "docker_readme.rs runs it",
    ),
    ("stamina run --values benchmark=HARBOR ", "docker_readme.rs runs it"),
    ("stamina endpoints http://", "asks a server in a network"),
    ("stamina preflight --values agent=MINI_SWE ", "asks a server with a model"),
    ("stamina run --values agent=MINI_SWE mini_swe.model_id=", "asks a server with a model"),
    ("stamina generate --out pack --values restful_server_gen_iterative.use_llm_sampler=", "asks a model"),
    ("stamina test-server ", "tests a server at a fixed port; scenarios.rs tests one at a free port"),
];

/// Beginnings of lines that run until they are stopped, or for long, and what they print before the test stops them.
const UNTIL: [(&str, &str); 2] =
    [("stamina serve", "http://127.0.0.1:"), ("stamina generate --out pack ", "generated ")];

/// A run of the mock agent, which needs no container.
const RUN_YAML: &str = "\
agent: MOCK
output_dir: results/try
restful_server_gen_iterative:
  n_scenarios: 1
  n_turns: 2
  num_changes_per_turn: 1
";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository").to_owned()
}

/// README and every page of the docs, by their names.
fn pages() -> Vec<(String, String)> {
    let root = repository();
    let docs = fs::read_dir(root.join("docs")).expect("the docs").map(|entry| entry.expect("a page").path());
    let mut paths: Vec<PathBuf> =
        docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    paths.extend([root.join("README.md"), root.join("docs/figures/README.md")]);
    paths.sort();
    let page = |path: PathBuf| {
        let name = path.strip_prefix(&root).expect("a page of the repository").display().to_string();
        (name, fs::read_to_string(&path).expect("a page"))
    };
    paths.into_iter().map(page).collect()
}

/// The commands of a page in its blocks for a shell, with their continuations.
fn lines(page: &str) -> Vec<String> {
    let mut language: Option<&str> = None;
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in page.lines() {
        if let Some(after) = line.trim_start().strip_prefix("```") {
            language = if language.is_some() { None } else { Some(after.trim()) };
            goes_on = false;
            continue;
        }
        if !matches!(language, Some("sh" | "")) {
            continue;
        }
        if goes_on {
            let whole = found.last_mut().expect("what goes on has begun");
            whole.push('\n');
            whole.push_str(line);
        } else if line.starts_with("stamina ") {
            found.push(line.to_owned());
        } else {
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    found
}

fn elsewhere(line: &str) -> Option<&'static str> {
    ELSEWHERE.iter().map(|(begin, _)| *begin).find(|begin| line.starts_with(begin))
}

/// A folder with the program on its PATH, and with the files that lines name as `data/…`.
pub(crate) struct Shell {
    home: TestHome,
}

impl Shell {
    pub(crate) fn new(lines: &[String]) -> Self {
        let home = TestHome::new();
        fs::create_dir_all(home.path("bin")).expect("a folder");
        // Where a package puts it, with a UI where a package has it: a link would lead to the folder that it was built in.
        let (built, program) = (env!("CARGO_BIN_EXE_stamina"), home.path("bin/stamina"));
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).expect("the program");
        let ui = home.path("share/stamina-lab/ui");
        fs::create_dir_all(&ui).expect("a folder");
        fs::write(ui.join("index.html"), "<!doctype html>").expect("a page");
        fs::create_dir_all(home.path("data")).expect("a folder");
        let named: BTreeSet<&str> = lines
            .iter()
            .flat_map(|line| line.split_whitespace())
            .filter(|word| word.starts_with("data/"))
            .collect();
        for name in named {
            fs::copy(repository().join(name), home.path(name)).expect("a file that the repository has");
        }
        Self { home }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .env("PATH", path_with(&self.path("bin")))
            .env("STAMINA_DB", self.path("library.sqlite"))
            .env("HOME", self.path(""))
            .env("TMPDIR", self.path("tmp"))
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(self.path(""))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, page: &str, line: &str) {
        if let Some((_, awaited)) = UNTIL.iter().find(|(begin, _)| line.starts_with(begin)) {
            self.run_until(page, line, awaited);
            return;
        }
        let output = self.command(line).output().expect("a shell");
        assert!(output.status.success(), "{page}: {line}: {}", text(&output.stderr));
    }

    /// Stops the program once it has printed what is awaited.
    fn run_until(&self, page: &str, line: &str, awaited: &str) {
        let script = format!("exec 2>&1\nexec {line}");
        let mut child = self.command(&script).stdout(Stdio::piped()).spawn().expect("a shell");
        let printed = BufReader::new(child.stdout.take().expect("its output"));
        let mut printed_text = String::new();
        for printed in printed.lines() {
            printed_text.push_str(&printed.expect("a line of text"));
            printed_text.push('\n');
            if printed_text.contains(awaited) {
                break;
            }
        }
        child.kill().expect("it can be stopped");
        child.wait().expect("its end");
        assert!(
            printed_text.contains(awaited),
            "{page}: {line} ended before it printed \"{awaited}\": {printed_text}"
        );
    }

    fn run_all(&self, page: &str, lines: &[String]) -> usize {
        let runnable_lines: Vec<&String> = lines.iter().filter(|line| elsewhere(line).is_none()).collect();
        for line in &runnable_lines {
            self.run(page, line);
        }
        runnable_lines.len()
    }
}

/// The lines of one page.
pub(crate) fn lines_of(page: &str) -> Vec<String> {
    let (_, text) = pages().into_iter().find(|(name, _)| name == page).expect("the page");
    lines(&text)
}

#[test]
fn lines_that_are_not_run_are_still_printed() {
    let all: Vec<String> = pages().iter().flat_map(|(_, text)| lines(text)).collect();
    for (begin, reason) in ELSEWHERE {
        assert!(all.iter().any(|line| line.starts_with(begin)), "no page has \"{begin}\" ({reason})");
    }
    for (begin, _) in UNTIL {
        let line = all.iter().find(|line| line.starts_with(begin) && elsewhere(line).is_none());
        assert!(line.is_some(), "no page has \"{begin}\"");
    }
}

#[test]
fn the_lines_of_the_readme_work_as_printed() {
    let lines = lines_of("README.md");
    let shell = Shell::new(&lines);
    // What the lines name: a table with two runs, a zip with jobs of Harbor, settings of a run.
    fs::create_dir_all(shell.path("results")).expect("a folder");
    let mut table = String::from("run,harness,model,scenario,turn,attempt,passed\n");
    for (run, lasts) in [("run-a", 1), ("run-b", 0)] {
        for scenario in 0..4 {
            for turn in 1..=3 {
                let passes = turn <= scenario + lasts;
                table.push_str(&format!(
                    "{run},terminus-2,model-of-{run},task-{scenario},{turn},1,{passes}\n"
                ));
                if !passes {
                    break;
                }
            }
        }
    }
    fs::write(shell.path("results/table.csv"), table).expect("a table");
    fs::copy(repository().join("data/sample-harbor.zip"), shell.path("harbor-jobs.zip")).expect("a zip");
    fs::write(shell.path("run.yaml"), RUN_YAML).expect("settings");

    let run = shell.run_all("README.md", &lines);
    assert!(run > 12, "{run} lines of the README were run: {lines:?}");
    let curve = fs::read_to_string(shell.path("curve.svg")).expect("a figure");
    assert!(curve.starts_with("<svg"), "{curve}");
    for name in ["survival.pdf", "survival.png", "pairs.tex", "report/report.html"] {
        assert!(shell.path(name).exists(), "{name}");
    }
}

#[test]
fn the_lines_of_the_other_pages_work_as_printed() {
    let mut run = 0;
    for (name, page) in pages() {
        // The figures need published results, which are no part of the repository.
        if name != "README.md" && name != "docs/figures/README.md" {
            let lines = lines(&page);
            run += Shell::new(&lines).run_all(&name, &lines);
        }
    }
    assert!(run > 3, "{run} lines of the docs were run");
}

#[test]
fn the_lines_of_the_published_figures_work_as_printed() {
    let Some(published) = data_beside_the_repository("data/evocode-published") else { return };
    let lines = lines_of("docs/figures/README.md");
    let shell = Shell::new(&lines);
    fs::create_dir_all(shell.path("evocode-published")).expect("a folder");
    copy(&published, &shell.path("evocode-published"));
    // The line takes the ids of runs out of JSON with jq, which not every machine has.
    let ids = "#!/bin/sh\nexec python3 -c 'import json, sys\nfor run in json.load(sys.stdin): print(run[\"id\"])'\n";
    let jq = shell.path("bin/jq");
    fs::write(&jq, ids).expect("a script");
    fs::set_permissions(&jq, fs::Permissions::from_mode(0o755)).expect("it can be run");
    assert_eq!(shell.run_all("docs/figures/README.md", &lines), lines.len());
    assert!(shell.path("evocode-published.png").exists());
}
