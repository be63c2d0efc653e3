//! Whether the tests of a job print CASE lines, as those of EvoCode-Bench do.
//!
//! A step that was graded 0 and printed none could not be tested at all (its build failed) if they do, and simply failed
//! if they do not. The task's own tests say so, where its folder lies in the opened tree, and so does other output of the
//! task; else this reads the rest of the job. A job in which nothing was ever tested (an agent that does nothing) says
//! nothing alone: its steps are shown as failed, and beside its tasks as failed builds.

use files::{Tree, join};

use super::layout::{Job, folders};

/// Trials that are read; jobs of other benchmarks have thousands without a CASE line.
const TRIALS: usize = 32;
/// Steps of a trial that are read.
const STEPS: usize = 32;
/// Bytes of an output that are read: a test script begins to print its cases right away.
const HEAD: u64 = 64 << 10;

/// Whether an output of the first trials of a job has a CASE line.
pub(super) fn has_case_lines(tree: &Tree, job: &Job) -> bool {
    folders(tree, &job.path).take(TRIALS).any(|trial| {
        let trial = join(&job.path, &trial.name);
        let steps = join(&trial, "steps");
        output_has_case_lines(tree, &trial)
            || folders(tree, &steps)
                .take(STEPS)
                .any(|step| output_has_case_lines(tree, &join(&steps, &step.name)))
    })
}

fn output_has_case_lines(tree: &Tree, folder: &str) -> bool {
    let path = join(folder, "verifier/test-stdout.txt");
    tree.read_range(&path, 0, HEAD).is_ok_and(|(bytes, _)| {
        String::from_utf8_lossy(&bytes)
            .lines()
            .any(|line| line.contains("CASE_RESULT case_id=") || line.contains("CASE_SUMMARY total_cases="))
    })
}
