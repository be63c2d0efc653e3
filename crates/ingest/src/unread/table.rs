//! The kinds, in the order in which they are asked. `docs/formats.md` lists them; a test holds the two together.

use super::kind::Kind;
use super::sign::Shape::{Begins, Ends, List, Number, Object, Present, Text, Truth};
use super::sign::Sign::{Bytes, Folder, Json, Named, Zip};

const OPEN_JOB: &str = "Open the folder of the job that it was played in: Harbor's has config.json, result.json and a folder for each trial";

pub(super) const OPEN_WHAT_IS_READ: &str = "Open a folder or zip with results of Harbor, tb, StaminaBench, LoCoBench-Agent or EvoCode-Bench's site, or a tidy table; docs/formats.md describes them";

/// Every kind.
pub(super) static KINDS: &[Kind] = &[
    Kind {
        id: "harbor_task",
        singular: "a task of Harbor without a job",
        plural: "tasks of Harbor without a job",
        not_read: "which has no results",
        open: "Run it with `harbor run --path FOLDER` and open the job's folder, jobs/<name>",
        signs: &[Folder {
            files: &["task.toml"],
            any: &["instruction.md", "steps/", "environment/", "tests/"],
        }],
    },
    Kind {
        id: "terminal_bench_task",
        singular: "a task of Terminal-Bench without a run",
        plural: "tasks of Terminal-Bench without a run",
        not_read: "which has no results",
        open: "Open the folder of a run: the one with results.json and run_metadata.json",
        signs: &[Folder {
            files: &["task.yaml"],
            any: &["run-tests.sh", "solution.sh", "solution.yaml", "docker-compose.yaml"],
        }],
    },
    Kind {
        id: "terminal_bench_trial",
        singular: "a trial of Terminal-Bench without its run",
        plural: "trials of Terminal-Bench without their run",
        not_read: "which is read only with its run",
        open: "Open the folder of the run: the one with results.json and run_metadata.json",
        signs: &[Named(
            "results.json",
            &[(&["trial_name"], Text), (&["task_id"], Text), (&["is_resolved"], Present)],
        )],
    },
    Kind {
        id: "atif",
        singular: "a transcript (ATIF) without its trial",
        plural: "transcripts (ATIF) without their trials",
        not_read: "which is read only with its trial",
        open: OPEN_JOB,
        signs: &[Json(&[(&["schema_version"], Begins("ATIF-v")), (&["agent"], Object)])],
    },
    Kind {
        id: "mini_swe_agent",
        singular: "a trajectory of mini-swe-agent",
        plural: "trajectories of mini-swe-agent",
        not_read: "which has no verdict of tests and is not read",
        open: OPEN_JOB,
        signs: &[
            Json(&[(&["trajectory_format"], Begins("mini-swe-agent"))]),
            // The name of the format stands at the end of the file.
            Json(&[
                (&["info", "model_stats"], Object),
                (&["info", "exit_status"], Present),
                (&["messages"], List),
            ]),
        ],
    },
    Kind {
        id: "swe_agent",
        singular: "a trajectory of SWE-agent",
        plural: "trajectories of SWE-agent",
        not_read: "which has no verdict of tests and is not read",
        open: OPEN_JOB,
        signs: &[
            Json(&[
                (&["trajectory", "[]", "action"], Text),
                (&["trajectory", "[]", "observation"], Text),
                (&["trajectory", "[]", "thought"], Text),
            ]),
            Json(&[(&["trajectory"], List), (&["history"], List), (&["info", "exit_status"], Present)]),
        ],
    },
    Kind {
        id: "swe_bench",
        singular: "predictions or a report of SWE-bench",
        plural: "files with predictions or reports of SWE-bench",
        not_read: "which is not read",
        open: OPEN_WHAT_IS_READ,
        signs: &[
            Json(&[(&["instance_id"], Text), (&["model_name_or_path"], Text), (&["model_patch"], Present)]),
            Json(&[
                (&["[]", "instance_id"], Text),
                (&["[]", "model_name_or_path"], Text),
                (&["[]", "model_patch"], Present),
            ]),
            // By the id of the instance, as SWE-agent and mini-swe-agent write them.
            Json(&[
                (&["{}", "instance_id"], Text),
                (&["{}", "model_name_or_path"], Text),
                (&["{}", "model_patch"], Present),
            ]),
            Json(&[
                (&["submitted_instances"], Number),
                (&["resolved_instances"], Number),
                (&["resolved_ids"], List),
            ]),
        ],
    },
    Kind {
        id: "openhands",
        singular: "output of OpenHands",
        plural: "files of OpenHands' output",
        not_read: "which is not read",
        open: OPEN_JOB,
        signs: &[
            // A line of output.jsonl, and the file beside it.
            Json(&[(&["instance_id"], Text), (&["test_result"], Object)]),
            Json(&[(&["agent_class"], Text), (&["llm_config"], Object), (&["eval_output_dir"], Text)]),
            // Events, in a list or each in a file of its own.
            Json(&[(&["[]", "id"], Number), (&["[]", "source"], Text), (&["[]", "action"], Text)]),
            Json(&[(&["[]", "id"], Number), (&["[]", "source"], Text), (&["[]", "observation"], Text)]),
            Json(&[(&["id"], Number), (&["source"], Text), (&["timestamp"], Text), (&["action"], Text)]),
            Json(&[(&["id"], Number), (&["source"], Text), (&["timestamp"], Text), (&["observation"], Text)]),
            Json(&[(&["id"], Text), (&["source"], Text), (&["timestamp"], Text), (&["kind"], Ends("Event"))]),
        ],
    },
    Kind {
        id: "inspect",
        singular: "a log of Inspect",
        plural: "logs of Inspect",
        not_read: "which is not read",
        open: OPEN_WHAT_IS_READ,
        signs: &[
            Folder { files: &["header.json"], any: &["_journal/", "samples/", "summaries.json"] },
            Json(&[(&["version"], Number), (&["status"], Text), (&["eval", "task"], Text)]),
            Json(&[(&["version"], Number), (&["eval", "task"], Text), (&["plan"], Object)]),
            Zip(".eval"),
        ],
    },
    Kind {
        id: "promptfoo",
        singular: "results of promptfoo",
        plural: "files with results of promptfoo",
        not_read: "which are not read",
        open: OPEN_WHAT_IS_READ,
        signs: &[
            Json(&[
                (&["evalId"], Present),
                (&["results", "version"], Number),
                (&["results", "timestamp"], Text),
            ]),
            Json(&[(&["promptIdx"], Number), (&["testIdx"], Number), (&["success"], Truth)]),
        ],
    },
    Kind {
        id: "locobench_agent",
        singular: "a scenario or checkpoint of LoCoBench-Agent",
        plural: "scenarios and checkpoints of LoCoBench-Agent",
        not_read: "which is a plan and holds no results",
        open: "Open the folder with intermediate_agent_results/ or evaluation_agent_results/",
        signs: &[
            Json(&[(&["checkpoint_version"], Text), (&["completed_evaluations"], Object)]),
            Json(&[(&["scenario_id"], Text), (&["conversation_phases"], List)]),
        ],
    },
    Kind {
        id: "zip",
        singular: "a zip",
        plural: "zips",
        not_read: "which is read when it is opened itself",
        open: "Open the zip itself",
        signs: &[Zip(".zip")],
    },
    Kind {
        id: "archive",
        singular: "an archive that is no zip",
        plural: "archives that are no zips",
        not_read: "which is not read",
        open: "Unpack it and open the folder, or pack the folder as a zip",
        signs: &[
            Bytes(0, b"\x1f\x8b\x08"),
            Bytes(0, b"\x28\xb5\x2f\xfd"),
            Bytes(0, b"\xfd7zXZ\0"),
            Bytes(0, b"BZh"),
            Bytes(0, b"7z\xbc\xaf\x27\x1c"),
            Bytes(0, b"Rar!\x1a\x07"),
            Bytes(257, b"ustar"),
        ],
    },
];
