//! How often a turn is tried, what the agent learns, and what becomes of a step of a task.

use super::{SCENARIOS, TASKS, choice, plain};
use crate::{DefaultValue, FormSection, KeyName, Need, Setting, ValueKind};

const ROW: Setting = Setting { section: FormSection::Loop, ..Setting::BLANK };
const OF_TASKS: Setting = Setting { needs: &[Need::Tasks], ..ROW };

pub(super) const ROWS: &[Setting] = &[
    Setting {
        field: "attempt_limit",
        key: KeyName::OfBenchmark(SCENARIOS, "attempt_limit"),
        takes: ValueKind::Integer(1, 1000),
        default: DefaultValue::Value("10"),
        label: "Attempts per turn",
        help: "How often the agent may try a turn, the first time included.",
        ..ROW
    },
    Setting {
        field: "attempt_limit",
        is_part: true,
        key: KeyName::OfBenchmark(TASKS, "attempt_limit"),
        takes: ValueKind::Integer(1, 1000),
        default: DefaultValue::Depends("1; 4 with `harbor.protocol=mt_at_k`, 10 with `ours`"),
        label: "Attempts per step",
        help: "How often the agent may try a step of a task, the first time included.",
        more: "More than one needs `restore_before_try=true` or `harbor.protocol=ours`.",
        ..OF_TASKS
    },
    Setting {
        field: "attempt_limit",
        is_part: true,
        key: KeyName::InSection("", "attempt_limit"),
        takes: ValueKind::Integer(1, 1000),
        default: DefaultValue::Depends("that of `harbor.attempt_limit`"),
        label: "Attempts per step",
        help: "Short for `harbor.attempt_limit`.",
        ..OF_TASKS
    },
    Setting {
        field: "feedback",
        key: KeyName::OfBenchmark(SCENARIOS, "test_fail_feedback_type"),
        takes: ValueKind::Word(&["DETAILED", "MEDIUM", "MINIMAL"]),
        default: DefaultValue::Value("DETAILED"),
        label: "Feedback",
        help: "What the agent learns of a failed attempt: which tests failed and what came; which tests; how many; or nothing.",
        choices: &[
            choice("detailed", "detailed", "Which tests failed, what was expected and what came."),
            choice("medium", "medium", "Which tests failed."),
            choice("minimal", "minimal", "How many tests failed."),
            choice("none", "none", "Nothing but that the turn is not passed yet."),
        ],
        needs: &[Need::Scenarios],
        ..ROW
    },
    Setting {
        field: "feedback",
        is_part: true,
        key: KeyName::OfBenchmark(SCENARIOS, "enable_feedback"),
        takes: ValueKind::Truth,
        default: DefaultValue::Value("true"),
        label: "Feedback at all",
        help: "Whether the agent learns more of a failed attempt than that the turn is not passed yet.",
        needs: &[Need::Scenarios],
        ..ROW
    },
    Setting {
        field: "restore_before_try",
        key: KeyName::InSection("", "restore_before_try"),
        takes: ValueKind::Truth,
        default: DefaultValue::Value("false"),
        label: "Restored before each attempt",
        help: "Whether each attempt at a turn begins from the same snapshot, or with what the last one left. With scenarios it needs no feedback.",
        more: "The snapshot of a task is that of its container, of a scenario workspace, HOME and session as they were when the turn began. A further attempt gets the request of the first one and knows nothing of it; scenarios therefore need `enable_feedback=false`. The next turn begins from what the last attempt has left. The simulated model generates the defects of a turn anew for each attempt.",
        choices: &[plain("false", "no, workspace as it is"), plain("true", "yes, from the snapshot")],
        needs: &[Need::NoProtocol],
        ..ROW
    },
    Setting {
        field: "task_timeout",
        key: KeyName::InSection("harbor", "timeout"),
        takes: ValueKind::Word(&["graded", "stop"]),
        default: DefaultValue::Value("graded"),
        label: "Step out of time",
        help: "Whether a step whose agent ran out of time is verified, or ends the trial without a verdict.",
        choices: &[plain("graded", "verified, trial continues"), plain("stop", "not verified, trial ends")],
        needs: &[Need::Tasks, Need::NoProtocol],
        ..OF_TASKS
    },
    Setting {
        field: "task_background",
        key: KeyName::InSection("harbor", "background"),
        takes: ValueKind::Word(&["check", "keep", "end"]),
        default: DefaultValue::Value("check"),
        label: "Background processes",
        help: "Whether processes that the agent has left continue while its work is verified, as with Harbor, and what they write counts.",
        choices: &[
            choice(
                "check",
                "stay, cannot write the verdict",
                "They continue while the verifier runs and in later steps. Where the agent has left some, the verifier runs again in a container of the same files. They cannot write there, and that verdict counts.",
            ),
            choice(
                "keep",
                "stay, what they write counts",
                "They continue while the verifier runs and in later steps, and can rewrite its verdict.",
            ),
            choice(
                "end",
                "ended before the verifier",
                "Every process of the container is ended before the verifier.",
            ),
        ],
        ..OF_TASKS
    },
    Setting {
        field: "task_snapshots",
        key: KeyName::InSection("harbor", "snapshots"),
        takes: ValueKind::Word(&["none", "each_step"]),
        default: DefaultValue::Value("none"),
        label: "Snapshots for a resume",
        help: "Whether the container of a trial is kept before each step, so that a resume continues there and not at the first step.",
        more: "It takes the time of a snapshot each step, and disk in the engine for the last one of each trial. With `restore_before_try` snapshots are kept in any case.",
        choices: &[
            choice("none", "none", "A trial that was cut off begins at its first step."),
            choice(
                "each_step",
                "before each step",
                "A trial that was cut off continues with the step that was played then, from its first attempt.",
            ),
        ],
        ..OF_TASKS
    },
    Setting {
        field: "task_session",
        key: KeyName::InSection("harbor", "session"),
        takes: ValueKind::Word(&["continue", "fresh"]),
        default: DefaultValue::Value("continue"),
        label: "Session over steps",
        help: "Whether the agent's session continues from step to step, or each step begins a new one that knows only the files.",
        choices: &[plain("continue", "one for all steps"), plain("fresh", "a new one each step")],
        needs: &[Need::Tasks, Need::Model],
        ..OF_TASKS
    },
    Setting {
        field: "fail_stop",
        key: KeyName::InSection("", "fail_stop"),
        takes: ValueKind::Truth,
        default: DefaultValue::Value("false"),
        label: "Stop after a failed turn",
        help: "Whether an episode ends at its first failed turn or continues with the next one.",
        choices: &[plain("false", "no, continue with next turn"), plain("true", "yes, end the episode")],
        needs: &[Need::NoProtocol],
        ..ROW
    },
    Setting {
        field: "batch_size",
        key: KeyName::InSection("", "batch_size"),
        takes: ValueKind::Integer(1, 1000),
        default: DefaultValue::Value("1"),
        label: "Parallel episodes",
        help: "How many episodes run at the same time.",
        ..ROW
    },
    Setting {
        field: "quick_debug",
        key: KeyName::InSection("", "quick_debug"),
        takes: ValueKind::Truth,
        default: DefaultValue::Value("false"),
        label: "Short run",
        help: "Runs 2 scenarios of 2 turns only, to see that everything works.",
        more: "With `execute_episodes` the first two that it names.",
        choices: &[plain("false", "no"), plain("true", "2 episodes × 2 turns")],
        ..ROW
    },
    Setting {
        field: "use_docker",
        key: KeyName::InSection("", "use_docker"),
        takes: ValueKind::Truth,
        default: DefaultValue::Depends("`true`; `false` with `MOCK`"),
        label: "Containers",
        help: "Whether agents and servers run in containers or as plain processes of this machine.",
        more: "`false` only with `agent=MOCK` and the simulated model.",
        choices: &[plain("false", "plain processes"), plain("true", "containers")],
        needs: &[Need::Scenarios],
        ..ROW
    },
];
