//! What is played: scenarios of a pack or a seed, or tasks of Harbor.

use super::{ALL_BENCHMARKS, SCENARIOS, choice, plain};
use crate::bounds::{MOST_CHANGES, MOST_SCENARIOS, MOST_SEED, MOST_TURNS};
use crate::generation::MODEL;
use crate::{Benchmark, DefaultValue, FormSection, KeyName, Need, Setting, ValueKind};

const ROW: Setting = Setting { section: FormSection::Scenarios, ..Setting::BLANK };
const OF_SCENARIOS: Setting = Setting { needs: &[Need::Scenarios], ..ROW };
/// Of the model that fills in the scenarios.
const OF_SAMPLER: Setting =
    Setting { needs: &[Need::Scenarios, Need::Sampler], more: "Only with `use_llm_sampler`.", ..ROW };
const BENCHMARKS: &[&str] =
    &[Benchmark::Iterative.as_str(), Benchmark::SingleTurn.as_str(), Benchmark::Harbor.as_str()];

pub(super) const ROWS: &[Setting] = &[
    Setting {
        field: "source",
        key: KeyName::InSection("", "benchmark"),
        takes: ValueKind::Word(BENCHMARKS),
        default: DefaultValue::Value(Benchmark::Iterative.as_str()),
        label: "Kind",
        help: "What is played: scenarios of REST servers, from a pack or a seed, or tasks of Harbor with several steps.",
        more: "`RESTFUL_SERVER_GEN` is a single turn, `HARBOR` are [tasks of Harbor](#tasks-of-harbor).",
        choices: &[plain("scenarios", "REST servers"), plain("tasks", "Harbor tasks")],
        ..ROW
    },
    Setting {
        field: "tasks",
        key: KeyName::InSection("", "tasks"),
        default: DefaultValue::Needed("with `benchmark=HARBOR`"),
        label: "Folder or zip of tasks",
        help: "A task of Harbor, a folder of tasks, or a zip of either.",
        needs: &[Need::Tasks],
        ..ROW
    },
    Setting {
        field: "protocol",
        key: KeyName::InSection("harbor", "protocol"),
        takes: ValueKind::Word(&["evocode", "mt_at_k", "sr", "ours"]),
        label: "Protocol",
        help: "A protocol sets attempts, snapshots, when a chain ends and what time-outs mean.",
        more: "[What each sets](#tasks-of-harbor); what contradicts it is an error.",
        choices: &[
            choice(
                "evocode",
                "EvoCode, present",
                "EvoCode-Bench at present: one attempt at each step, and the whole chain whatever fails. A step out of time is verified.",
            ),
            choice(
                "mt_at_k",
                "EvoCode, paper: MT@k",
                "MT@k of the EvoCode paper: up to k attempts at a step, each from the same snapshot and without feedback. The first step without a pass ends the chain; an attempt whose agent did not end by itself is not verified.",
            ),
            choice(
                "sr",
                "EvoCode, paper: SR@k",
                "SR of the EvoCode paper: each step by itself, in a new session, after the reference solutions of the steps before it. There are up to k attempts, each from the same snapshot and without feedback. Steps are then no chain: there is SR, and no stamina.",
            ),
            choice(
                "ours",
                "feedback and retries",
                "As with scenarios: up to k attempts at each step. Each further attempt gets the end of the verifier's output and continues with what the last one left; the whole chain whatever fails. Such attempts are not independent, so there is no MT@k.",
            ),
            choice(
                "own",
                "own settings",
                "Attempts, snapshots, the end of a chain and time-outs are those of the fields under Loop. Several attempts need the snapshot.",
            ),
        ],
        needs: &[Need::Tasks],
        ..ROW
    },
    Setting {
        field: "iterative",
        key: KeyName::OfForm("", "benchmark"),
        takes: ValueKind::Word(BENCHMARKS),
        label: "Benchmark",
        help: "Whether an episode continues with change requests after its first turn.",
        choices: &[plain("false", "one turn"), plain("true", "many turns")],
        ..OF_SCENARIOS
    },
    Setting {
        field: "scenarios_dir",
        key: KeyName::InSection("", "scenarios_dir"),
        default: DefaultValue::Empty("generated from the seed"),
        label: "Pack",
        help: "The scenarios to run: a pack, or new ones generated from the seed.",
        more: "A pack is a folder or a zip.",
        ..OF_SCENARIOS
    },
    Setting {
        field: "n_scenarios",
        key: KeyName::OfBenchmark(SCENARIOS, "n_scenarios"),
        takes: ValueKind::Integer(1, MOST_SCENARIOS),
        default: DefaultValue::Value("10"),
        label: "Episodes",
        help: "How many scenarios are run, one episode each.",
        more: "With a pack: at most so many of it, and by default all.",
        ..OF_SCENARIOS
    },
    Setting {
        field: "n_turns",
        key: KeyName::OfBenchmark(&[Benchmark::Iterative], "n_turns"),
        takes: ValueKind::Integer(1, MOST_TURNS),
        default: DefaultValue::Value("3"),
        label: "Turns",
        help: "How many turns an episode has at most.",
        more: "With a pack: by default all.",
        ..OF_SCENARIOS
    },
    Setting {
        field: "num_changes_per_turn",
        key: KeyName::OfBenchmark(&[Benchmark::Iterative], "num_changes_per_turn"),
        takes: ValueKind::Integer(1, MOST_CHANGES),
        default: DefaultValue::Value("5"),
        label: "Changes per turn",
        help: "How many changes each request asks for, from the second turn on.",
        more: "A pack has its own.",
        ..OF_SCENARIOS
    },
    Setting {
        field: "base_seed",
        key: KeyName::OfBenchmark(SCENARIOS, "base_seed"),
        takes: ValueKind::Integer(0, MOST_SEED),
        default: DefaultValue::Value("42"),
        label: "Seed",
        help: "The same seed gives the same scenarios.",
        more: "A pack has its own.",
        ..OF_SCENARIOS
    },
    Setting {
        field: "execute_episodes",
        key: KeyName::OfBenchmark(ALL_BENCHMARKS, "execute_episodes"),
        takes: ValueKind::Numbers,
        default: DefaultValue::Empty("all"),
        label: "Only these scenarios",
        help: "Runs only these scenarios, counted from 0.",
        more: "One beyond `n_scenarios`, or beyond those of the pack, is refused. Tasks are counted in the order of their names.",
        ..ROW
    },
    Setting {
        field: "use_llm_sampler",
        key: KeyName::OfBenchmark(SCENARIOS, "use_llm_sampler"),
        takes: ValueKind::Truth,
        default: DefaultValue::Value("false"),
        label: "Names and details from a model",
        help: "Whether a model fills in names and details of the scenarios before the run.",
        more: "Without a pack, `stamina run` and the app have the model sample one first, into `OUTPUT_DIR-pack`, and take it again where it is there.",
        choices: &[
            plain("false", "no, generated from the seed"),
            plain("true", "yes, filled in before the run"),
        ],
        ..OF_SCENARIOS
    },
    Setting {
        field: "llm_sampler_model_id",
        key: KeyName::OfBenchmark(SCENARIOS, "llm_sampler_model_id"),
        default: DefaultValue::Value(MODEL),
        label: "Sampling model",
        help: "The model that fills them in.",
        ..OF_SAMPLER
    },
    Setting {
        field: "sampler_base_url",
        key: KeyName::Free("llm_sampler", "base_url"),
        default: DefaultValue::Empty("Amazon Bedrock"),
        label: "Endpoint of that model",
        help: "Address of an endpoint with the chat completions of OpenAI, such as http://localhost:11434/v1.",
        ..OF_SAMPLER
    },
    Setting {
        field: "sampler_key_variable",
        key: KeyName::Free("llm_sampler", "key_variable"),
        default: DefaultValue::Empty("OPENAI_API_KEY"),
        label: "Variable with its key",
        help: "The environment variable that holds the key of that endpoint, never the key itself. An endpoint on this machine needs none.",
        more: "Only with `use_llm_sampler` and `llm_sampler.base_url`.",
        ..OF_SAMPLER
    },
    Setting {
        field: "sampler_region",
        key: KeyName::Free("llm_sampler", "region"),
        default: DefaultValue::Empty("of the AWS settings, else us-east-1"),
        label: "Region of Bedrock",
        help: "The region of Amazon Bedrock that is asked for that model.",
        more: "Only with `use_llm_sampler`, without `llm_sampler.base_url`.",
        ..OF_SAMPLER
    },
    Setting {
        field: "sampler_endpoint_url",
        key: KeyName::Free("llm_sampler", "endpoint_url"),
        default: DefaultValue::Empty("Amazon's address"),
        label: "Address of Bedrock",
        help: "An address that is asked in place of Amazon's own.",
        more: "Only with `use_llm_sampler`, without `llm_sampler.base_url`.",
        ..OF_SAMPLER
    },
    Setting {
        field: "sampler_seconds",
        key: KeyName::Free("llm_sampler", "timeout_seconds"),
        takes: ValueKind::Integer(1, 3600),
        default: DefaultValue::Empty("600 at an address of this machine, else 120"),
        label: "Time of a sampling call",
        unit: "s",
        help: "How long one call of that model may take.",
        ..OF_SAMPLER
    },
    Setting {
        field: "sampler_calls",
        key: KeyName::Free("llm_sampler", "calls_at_once"),
        takes: ValueKind::Integer(1, 64),
        default: DefaultValue::Empty("4"),
        label: "Sampling calls at once",
        help: "How many calls of that model are in flight at most; as many scenarios are made at a time.",
        ..OF_SAMPLER
    },
];
