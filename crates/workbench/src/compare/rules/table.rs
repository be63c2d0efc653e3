//! The rules, in the order in which they are read. `docs/metrics.md`, "Settings that differ", says the same in words.

use super::{AFTER_FAILURE, Effect, Rule, declared, rule};

const fn favoring_rule(
    label: &'static str,
    keys: &'static [&'static str],
    effect: Effect,
    favors: &'static str,
    note: &'static str,
) -> Rule {
    Rule { favors: Some(favors), ..rule(label, keys, effect, note) }
}

const BUDGETS: &str = "agents had different budgets";

/// A budget of tokens or dollars of a run of this program.
const fn budget(key: &'static [&'static str; 1]) -> Rule {
    const FAVORS: Option<&str> = Some("a larger budget favors");
    Rule { unlimited: true, favors: FAVORS, ..declared(key, Effect::NotComparable, BUDGETS) }
}

/// The time of an attempt, or a budget of minutes, of a run of this program.
const fn minutes(key: &'static [&'static str; 1], unlimited: bool) -> Rule {
    const FAVORS: Option<&str> = Some("longer time favors");
    Rule { unlimited, favors: FAVORS, ..declared(key, Effect::NotComparable, "agents had different time") }
}

/// The rules.
pub(crate) static RULES: &[Rule] = &[
    // What is compared, and what the run itself says.
    rule(
        "Harness and model",
        &[
            "^agent",
            "agent.name",
            "agent.import_path",
            "model_id",
            "model_name",
            "model",
            "provider",
            "agent.provider",
        ],
        Effect::Ignored,
        "",
    ),
    rule(
        "Size of the run",
        &["^benchmark", "attempt_limit", "n_turns", "n_scenarios", "execute_episodes", "^n_attempts"],
        Effect::Ignored,
        "",
    ),
    // What the agent gets.
    rule(
        "Feedback on retries",
        &["enable_feedback", "feedback"],
        Effect::NotComparable,
        "what failed helps at the next attempt",
    ),
    rule(
        "Feedback level",
        &["test_fail_feedback_type", "feedback_type", "feedback_level"],
        Effect::NotComparable,
        "more detailed feedback helps at the next attempt",
    ),
    favoring_rule(
        "Agent timeout",
        &[
            "agent.override_timeout_sec",
            "agent.timeout_sec",
            "agent.timeout",
            "agent_timeout*sec*",
            "agent_timeout",
        ],
        Effect::NotComparable,
        "longer time favors",
        "agents had different time",
    ),
    favoring_rule(
        "Agent timeout, at most",
        &["agent.max_timeout_sec"],
        Effect::NotComparable,
        "longer time favors",
        "agents had different time",
    ),
    favoring_rule(
        "Agent timeout, multiplier",
        &["agent_timeout_multiplier", "^timeout_multiplier"],
        Effect::NotComparable,
        "longer time favors",
        "agents had different time",
    ),
    declared(
        &["harbor.timeout"],
        Effect::NotComparable,
        "it is graded in one and ends the chain in the other",
    ),
    declared(
        &["harbor.background"],
        Effect::CannotBeRuledOut,
        "processes that an agent has left run while its work is verified, or can write the verdict, in one and not in the other",
    ),
    declared(
        &["harbor.session"],
        Effect::NotComparable,
        "the agent remembers earlier steps in one and not in the other",
    ),
    declared(
        &["harbor.protocol"],
        Effect::NotComparable,
        "attempts at a step, and what ends a chain, are not the same",
    ),
    declared(
        &["restore_before_try"],
        Effect::NotComparable,
        "attempts at a turn begin from one snapshot in one and from what the last has left in the other",
    ),
    minutes(&["limits.attempt_minutes"], false),
    budget(&["limits.attempt.tokens"]),
    budget(&["limits.episode.tokens"]),
    budget(&["limits.run.tokens"]),
    budget(&["limits.attempt.usd"]),
    budget(&["limits.episode.usd"]),
    budget(&["limits.run.usd"]),
    minutes(&["limits.attempt.minutes"], true),
    minutes(&["limits.episode.minutes"], true),
    minutes(&["limits.run.minutes"], true),
    favoring_rule(
        "Step limit",
        &[
            "max_steps",
            "max_turns",
            "step_limit",
            "max_iterations",
            "max_episodes",
            "max_actions",
            "max_rounds",
        ],
        Effect::NotComparable,
        "more steps favor",
        "agents had different numbers of steps",
    ),
    favoring_rule(
        "Budget",
        &["cost_limit", "max_cost*", "budget*", "max_budget*", "token_limit", "max_total_tokens"],
        Effect::NotComparable,
        "a larger budget favors",
        BUDGETS,
    ),
    // What is played.
    rule(
        "Pack of scenarios",
        &["pack_sha256"],
        Effect::NotComparable,
        "the packs are different ones: scenarios of the same name are other ones",
    ),
    declared(
        &["num_changes_per_turn"],
        Effect::NotComparable,
        "turns with more changes are harder, and the scenarios are others",
    ),
    declared(&["base_seed"], Effect::NotComparable, "scenarios of the same name are other ones"),
    declared(&["use_llm_sampler"], Effect::NotComparable, "scenarios of the same name are other ones"),
    declared(&["llm_sampler_model_id"], Effect::NotComparable, "scenarios of the same name are other ones"),
    rule(
        "Folder of the scenarios",
        &["scenarios_dir", "^tasks"],
        Effect::CannotBeRuledOut,
        "the folders may hold different scenarios of the same names",
    ),
    rule("", &["oracle.seed"], Effect::NotComparable, "the simulated model's errors differ"),
    rule(
        "",
        // words: ok: the keys keep their name.
        &["oracle.*", "oracle.mischief.*"],
        Effect::OfSimulatedModel,
        "the simulated model's errors differ",
    ),
    rule("Debug run", &["quick_debug"], Effect::NotComparable, "a debug run plays 2 scenarios of 2 turns"),
    rule(
        "Dataset",
        &["datasets.name", "dataset.name", "^dataset"],
        Effect::NotComparable,
        "tasks of the same name may be other ones",
    ),
    rule(
        "Dataset version",
        &[
            "datasets.version",
            "datasets.ref",
            "datasets.*commit*",
            "dataset.version",
            "dataset.ref",
            "dataset.*commit*",
            "dataset_version",
            "dataset_commit",
            "benchmark_version",
            "git_commit_id",
            "task.git_commit_id",
        ],
        Effect::NotComparable,
        "other versions of a dataset have other tasks or tests",
    ),
    rule(
        "Verifier switched off",
        &["verifier.disable"],
        Effect::NotComparable,
        "without a verifier nothing is graded",
    ),
    // How the model is asked.
    rule(
        "Temperature",
        &["temperature"],
        Effect::CannotBeRuledOut,
        "the sampling of the model's answers may matter",
    ),
    rule(
        "Sampling",
        &["top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "seed"],
        Effect::CannotBeRuledOut,
        "the sampling of the model's answers may matter",
    ),
    rule(
        "Reasoning effort",
        &["reasoning_effort", "reasoning.effort", "effort", "model_reasoning_effort"],
        Effect::CannotBeRuledOut,
        "more reasoning may favor",
    ),
    rule(
        "Thinking budget",
        &["*thinking*", "budget_tokens"],
        Effect::CannotBeRuledOut,
        "more reasoning may favor",
    ),
    rule(
        "Output limit",
        &["max_tokens", "max_output_tokens", "max_completion_tokens"],
        Effect::CannotBeRuledOut,
        "answers may be cut",
    ),
    rule(
        "Context limit",
        &["max_input_tokens", "context_window", "context_length", "context_limit", "max_context*", "num_ctx"],
        Effect::CannotBeRuledOut,
        "a longer context may favor",
    ),
    rule(
        "Context compaction",
        &["*compact*", "*condens*", "*summar*"],
        Effect::CannotBeRuledOut,
        "what is left out of the context may matter",
    ),
    rule(
        "Endpoint",
        &["api_base", "base_url", "api_url", "endpoint", "*_endpoint", "region", "*_region", "api_version"],
        Effect::OfModel,
        "another endpoint may serve another build of the model",
    ),
    rule(
        "Way to the endpoint",
        &["endpoint.mode"],
        Effect::CannotBeRuledOut,
        "what goes through the gateway is counted and held back there, and nowhere else",
    ),
    // Where it runs, and how it is graded.
    favoring_rule(
        "Verifier timeout",
        &["verifier.*timeout*", "verifier_timeout*"],
        Effect::CannotBeRuledOut,
        "longer time may favor",
        "a slow server may pass under the longer one",
    ),
    rule(
        "Timeout of building containers",
        &["*build_timeout*", "*setup_timeout*"],
        Effect::Harmless,
        "an episode whose container is not built says nothing about the agent: no effect on stamina",
    ),
    rule(
        "Image",
        &["image_name", "docker_image", "image", "image_tag"],
        Effect::OfHarness,
        "tools in the image may differ",
    ),
    rule(
        "Container",
        &["environment.type", "environment.import_path", "use_docker"],
        Effect::CannotBeRuledOut,
        "speed and tools of the containers may differ",
    ),
    rule(
        "",
        &[
            "*cpu*",
            "*memory*",
            "*storage*",
            "*gpu*",
            "docker.*",
            "environment.network*",
            "limits.pids",
            "limits.disk_gib",
        ],
        Effect::CannotBeRuledOut,
        "speed and tools of the containers may differ",
    ),
    declared(&["limits.network"], Effect::CannotBeRuledOut, "an open network lets an agent look things up"),
    declared(&["harness_file"], Effect::OfHarness, "another recipe may behave otherwise"),
    rule(
        "",
        &["retry.*", "max_retries", "resume_trajectory", "*resume*"],
        Effect::CannotBeRuledOut,
        "what is run again or resumed has another chance",
    ),
    // What does not matter.
    declared(
        &["harbor.snapshots"],
        Effect::Harmless,
        "where a resume continues a trial: no effect on one that was not cut off",
    ),
    declared(
        &[AFTER_FAILURE],
        Effect::Harmless,
        "no effect on stamina, as turns after the first failure do not count; score, tokens, cost and time count them",
    ),
    rule(
        "",
        &["endpoint.price.*"],
        Effect::Harmless,
        "what a token is said to cost: dollars follow it, stamina does not",
    ),
    rule("", &["endpoint.key_env", "endpoint.key_name"], Effect::Harmless, "where the key lies: no effect"),
    rule(
        "",
        &[
            "job_name",
            "jobs_dir",
            "trials_dir",
            "output_dir",
            "results_dir",
            "log_dir",
            "log_level",
            "logs_dir",
            "datasets.path",
            "datasets.download_dir",
            "datasets.overwrite",
            "hostname",
            "job_id",
            "run_id",
            "^id",
            "uuid",
            "*_at",
            "notes",
            "note",
            "description",
            "tags",
        ],
        Effect::Harmless,
        "names, places and dates: no effect",
    ),
    rule(
        "",
        &["task_names", "exclude_task_names", "n_tasks", "task_ids"],
        Effect::Harmless,
        "which scenarios were played is said by themselves",
    ),
    rule(
        "",
        &["n_concurrent*", "batch_size", "n_workers", "concurrency", "max_workers", "parallel*"],
        Effect::Harmless,
        "how many run at once: no effect, unless the machine was overloaded",
    ),
    rule(
        "",
        &[
            "quiet",
            "verbose",
            "debug",
            "force_build",
            "environment.delete",
            "stream",
            "record_terminal_session",
            "install_only",
            "export*",
            "upload*",
            "push*",
            "artifacts",
            "metrics",
            "plugins",
            "keep_snapshots",
        ],
        Effect::Harmless,
        "what is shown and kept: no effect",
    ),
];
