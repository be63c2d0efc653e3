//! Steps of somebody else's tasks: the model executes the reference solution, with seeded defects.
//!
//! A defect is drawn for each attempt by itself ([`Ability::defect_rate`]): there is no feedback on these tasks, so no attempt repairs what
//! another one did. A defective attempt either skips the solution, or executes the first half of its lines only.

use std::sync::Arc;

use model::shell_word;
use scenario::Seed;

use super::offered_tools::OfferedTools;
use super::server_files::{Step, write_file};
use super::{Ability, PARTS, Task};

/// Where the files of a solution are written: scripts of Harbor expect them there.
pub const FOLDER: &str = "/solution";
/// The script of a solution.
const SCRIPT: &str = "solve.sh";

/// The reference solution of a step, and where it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// Names relative to the folder of the solution, with `/`, and contents. One is `solve.sh`.
    pub files: Vec<(String, Vec<u8>)>,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// The folder that it is executed in.
    pub workdir: String,
}

/// What is wrong with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolutionDefect {
    /// Nothing is executed.
    Skipped,
    /// The second half of the script is missing.
    Halved,
}

/// The defect of an attempt, if it has one.
pub(super) fn defect(ability: &Ability, task: &Task) -> Option<SolutionDefect> {
    let purpose = format!("oracle solution {}", task.attempt);
    let mut draw = Seed { base: ability.seed, scenario: task.scenario }.draw(task.turn, &purpose);
    let is_defective = (draw.number_below(PARTS) as f64) < ability.defect_rate * PARTS as f64;
    let kind = if draw.number_below(2) == 0 { SolutionDefect::Skipped } else { SolutionDefect::Halved };
    is_defective.then_some(kind)
}

/// The steps of an attempt. Empty without a tool that runs commands: a solution is executed.
pub(super) fn steps(
    solution: &Arc<Solution>,
    defect: Option<SolutionDefect>,
    offered: &OfferedTools<'_>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut step = |text: String, command: &str| {
        steps.extend(offered.run(command, &text).map(|call| Step { text, call }));
    };
    if defect == Some(SolutionDefect::Skipped) {
        step("I look around.".to_owned(), "pwd && ls");
        return steps;
    }
    let folders: Vec<String> = solution
        .files
        .iter()
        .map(|(path, _)| {
            shell_word(&format!("{FOLDER}/{}", path.rsplit_once('/').map_or("", |(folder, _)| folder)))
        })
        .collect();
    step("I make room.".to_owned(), &format!("mkdir -p {}", folders.join(" ")));
    for (path, content) in &solution.files {
        let content = match defect {
            Some(SolutionDefect::Halved) if path == SCRIPT => first_half(content),
            _ => content.as_slice(),
        };
        for (text, command) in write_file(FOLDER, &shell_word(path), content) {
            step(text, &command);
        }
    }
    let mut command =
        format!("cd {} && export DEBIAN_FRONTEND=noninteractive", shell_word(&solution.workdir));
    for (name, value) in &solution.env {
        command.push_str(&format!(" {name}={}", shell_word(value)));
    }
    command.push_str(&format!(" && chmod +x {FOLDER}/{SCRIPT} && {FOLDER}/{SCRIPT}"));
    step("I do what is asked for.".to_owned(), &command);
    steps
}

/// The first half of the lines.
fn first_half(script: &[u8]) -> &[u8] {
    let lines = script.split_inclusive(|byte| *byte == b'\n').count();
    let kept: usize = script.split_inclusive(|byte| *byte == b'\n').take(lines / 2).map(<[u8]>::len).sum();
    script.get(..kept).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::{Value, json};

    use super::super::offered_tools::Tool;
    use super::*;

    fn task(attempt: u32) -> Task {
        Task {
            scenario: 3,
            turn: 2,
            attempt,
            turns: Arc::default(),
            attempts_before: Vec::new(),
            feedback: super::super::Feedback::None,
            solution: None,
        }
    }

    fn commands(solution: &Arc<Solution>, defect: Option<SolutionDefect>) -> Vec<String> {
        let tool = json!({ "type": "function", "function": { "name": "bash", "parameters": {
            "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"] } } });
        let tools: Vec<Tool> = Tool::parse(&tool).into_iter().collect();
        let command = |step: Step| step.call.arguments["command"].as_str().unwrap_or_default().to_owned();
        steps(solution, defect, &OfferedTools::find(&tools)).into_iter().map(command).collect()
    }

    #[test]
    fn a_solution_is_written_and_executed_as_it_is() {
        let room = tempfile::tempdir().expect("a folder");
        let folder = room.path().to_string_lossy().into_owned();
        let script =
            "#!/bin/sh\nset -e\n. /solution/lib/it\\'s.sh\nprintf '%s %s' \"$GREETING\" \"$WORD\" > done\n";
        let solution = Arc::new(Solution {
            files: vec![
                (
                    "solve.sh".to_owned(),
                    script.replace("/solution", &format!("{folder}/solution")).into_bytes(),
                ),
                ("lib/it's.sh".to_owned(), b"WORD='two words'\n".to_vec()),
            ],
            env: vec![("GREETING".to_owned(), "it's".to_owned())],
            workdir: format!("{folder}/work dir"),
        });
        std::fs::create_dir(&solution.workdir).expect("a folder");
        for command in commands(&solution, None) {
            let command = command.replace(FOLDER, &format!("{folder}/solution"));
            assert!(
                Command::new("sh").args(["-c", &command]).status().expect("it runs").success(),
                "{command}"
            );
        }
        let written_text =
            std::fs::read_to_string(room.path().join("work dir/done")).expect("it was executed");
        assert_eq!(written_text, "it's two words");
    }

    #[test]
    fn a_defect_skips_a_solution_or_cuts_it() {
        let files = vec![("solve.sh".to_owned(), b"one\ntwo\nthree\nfour\n".to_vec())];
        let solution = Arc::new(Solution { files, env: Vec::new(), workdir: "/app".to_owned() });
        assert_eq!(commands(&solution, Some(SolutionDefect::Skipped)), ["pwd && ls"]);
        assert_eq!(first_half(b"one\ntwo\nthree\nfour\n"), b"one\ntwo\n");
        assert_eq!(first_half(b""), b"");
        let all_commands = commands(&solution, None);
        assert_eq!(all_commands.len(), commands(&solution, Some(SolutionDefect::Halved)).len());
        assert_ne!(all_commands, commands(&solution, Some(SolutionDefect::Halved)));
        // Without a tool that runs commands nothing is pretended.
        let none: Vec<Value> = Vec::new();
        let tools: Vec<Tool> = none.iter().filter_map(Tool::parse).collect();
        assert!(steps(&solution, None, &OfferedTools::find(&tools)).is_empty());
    }

    #[test]
    fn each_attempt_has_a_chance_of_its_own() {
        let ability = |defect_rate| Ability { defect_rate, ..Ability::default() };
        let share = |rate| (1..=1000).filter(|&n| defect(&ability(rate), &task(n)).is_some()).count();
        assert_eq!((share(0.0), share(1.0)), (0, 1000));
        assert!((400..600).contains(&share(0.5)), "{}", share(0.5));
        // Golden: container tests count on what the seed 0 draws.
        let first = |attempt| Task { scenario: 0, turn: 1, ..task(attempt) };
        let drawn: Vec<_> = (1..=4).map(|attempt| defect(&ability(0.5), &first(attempt))).collect();
        assert_eq!(drawn, [Some(SolutionDefect::Halved), None, Some(SolutionDefect::Skipped), None]);
    }
}
