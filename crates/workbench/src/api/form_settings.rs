//! The settings of a run as the form has them, written by `cargo nextest run --workspace --test bindings`. Do not edit it by hand: a
//! field is a row in `crates/settings/src/declarations`.

#![allow(clippy::doc_markdown, rustdoc::bare_urls, reason = "sentences that the form shows")]

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    EndpointMode, FormFeedback, FormNetwork, FormProtocol, FormSource, FormStack, FormTaskBackground,
    FormTaskSession, FormTaskSnapshots, FormTaskTimeout, KeyPlace,
};

/// The settings of a run as the form has them: every key of a configuration file, flat.
///
/// Numbers are `None` where nothing is given, which means the default (for budgets: no limit). They are numbers of
/// any kind, so that what was typed arrives here and is answered with a sentence;
/// [`SettingsCheck`](super::SettingsCheck) says what is wrong with each. Texts are empty where nothing is given; a
/// number with more digits than the page holds is a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct FormSettings {
    /// Harness. The program that writes the code, turn after turn.
    pub agent: String,
    /// Harness file. A TOML file that describes a harness of your own.
    pub harness_file: String,
    /// Image. The container image that the agent runs in, in place of the harness's own.
    pub image: String,
    /// Model endpoint. Where answers come from: an endpoint through the gateway, an endpoint that the harness asks itself, or the simulated model. The gateway counts and limits tokens; the simulated model costs nothing.
    pub endpoint_mode: EndpointMode,
    /// Endpoint address. The address of the endpoint, with or without /v1.
    pub base_url: String,
    /// Model. The name of the model at the endpoint.
    pub model: String,
    /// Key. Where the key of the endpoint is kept. The agent never sees it.
    pub key_place: KeyPlace,
    /// Name of the key. The environment variable or the entry of the keychain that holds the key.
    pub key_name: String,
    /// Context (tokens). How many tokens the model's context holds.
    pub context_window: Option<f64>,
    /// Price of input ($ per M tokens). What a million input tokens cost; empty: by the table of prices.
    pub price_input: Option<f64>,
    /// Price, cached input ($ per M tokens). What a million cached input tokens cost; empty: as much as other input.
    pub price_cached: Option<f64>,
    /// Price, written to cache ($ per M tokens). What a million input tokens cost that are written to the cache; empty: as much as other input.
    pub price_cache_write: Option<f64>,
    /// Price of output ($ per M tokens). What a million output tokens cost; empty: by the table of prices.
    pub price_output: Option<f64>,
    /// Price of the machine ($ per hour). What an hour costs in which the model's machine works for the run, in place of prices of tokens.
    pub price_per_hour: Option<f64>,
    /// Kind. What is played: scenarios of REST servers, from a pack or a seed, or tasks of Harbor with several steps.
    pub source: FormSource,
    /// Folder or zip of tasks. A task of Harbor, a folder of tasks, or a zip of either.
    pub tasks: String,
    /// Protocol. A protocol sets attempts, snapshots, when a chain ends and what time-outs mean.
    pub protocol: FormProtocol,
    /// Benchmark. Whether an episode continues with change requests after its first turn.
    pub iterative: bool,
    /// Pack. The scenarios to run: a pack, or new ones generated from the seed.
    pub scenarios_dir: String,
    /// Episodes. How many scenarios are run, one episode each.
    pub n_scenarios: Option<f64>,
    /// Turns. How many turns an episode has at most.
    pub n_turns: Option<f64>,
    /// Changes per turn. How many changes each request asks for, from the second turn on.
    pub num_changes_per_turn: Option<f64>,
    /// Seed. The same seed gives the same scenarios.
    pub base_seed: String,
    /// Only these scenarios. Runs only these scenarios, counted from 0.
    pub execute_episodes: String,
    /// Names and details from a model. Whether a model fills in names and details of the scenarios before the run.
    pub use_llm_sampler: bool,
    /// Sampling model. The model that fills them in.
    pub llm_sampler_model_id: String,
    /// Endpoint of that model. Address of an endpoint with the chat completions of OpenAI, such as http://localhost:11434/v1.
    pub sampler_base_url: String,
    /// Variable with its key. The environment variable that holds the key of that endpoint, never the key itself. An endpoint on this machine needs none.
    pub sampler_key_variable: String,
    /// Region of Bedrock. The region of Amazon Bedrock that is asked for that model.
    pub sampler_region: String,
    /// Address of Bedrock. An address that is asked in place of Amazon's own.
    pub sampler_endpoint_url: String,
    /// Time of a sampling call (s). How long one call of that model may take.
    pub sampler_seconds: Option<f64>,
    /// Sampling calls at once. How many calls of that model are in flight at most; as many scenarios are made at a time.
    pub sampler_calls: Option<f64>,
    /// Attempts per turn. How often the agent may try a turn, the first time included.
    pub attempt_limit: Option<f64>,
    /// Feedback. What the agent learns of a failed attempt: which tests failed and what came; which tests; how many; or nothing.
    pub feedback: FormFeedback,
    /// Restored before each attempt. Whether each attempt at a turn begins from the same snapshot, or with what the last one left. With scenarios it needs no feedback.
    pub restore_before_try: bool,
    /// Step out of time. Whether a step whose agent ran out of time is verified, or ends the trial without a verdict.
    pub task_timeout: FormTaskTimeout,
    /// Background processes. Whether processes that the agent has left continue while its work is verified, as with Harbor, and what they write counts.
    pub task_background: FormTaskBackground,
    /// Snapshots for a resume. Whether the container of a trial is kept before each step, so that a resume continues there and not at the first step.
    pub task_snapshots: FormTaskSnapshots,
    /// Session over steps. Whether the agent's session continues from step to step, or each step begins a new one that knows only the files.
    pub task_session: FormTaskSession,
    /// Stop after a failed turn. Whether an episode ends at its first failed turn or continues with the next one.
    pub fail_stop: bool,
    /// Parallel episodes. How many episodes run at the same time.
    pub batch_size: Option<f64>,
    /// Short run. Runs 2 scenarios of 2 turns only, to see that everything works.
    pub quick_debug: bool,
    /// Containers. Whether agents and servers run in containers or as plain processes of this machine.
    pub use_docker: bool,
    /// Time per attempt (min). An attempt that takes longer fails.
    pub attempt_minutes: Option<f64>,
    /// CPU per container (cores). How many cores a container may use.
    pub cpus: Option<f64>,
    /// Memory per container (GiB). How much memory a container may use.
    pub memory_gib: Option<f64>,
    /// Disk per container (GiB). How much disk an episode's container may use.
    pub disk_gib: Option<f64>,
    /// Processes per container. How many processes a container may have.
    pub pids: Option<f64>,
    /// Network. Whether the agent reaches nothing but its model, or the internet too.
    pub network: FormNetwork,
    /// Tokens per attempt. An attempt that uses more tokens fails.
    pub attempt_tokens: Option<f64>,
    /// Budget of an attempt ($). An attempt that costs more fails.
    pub attempt_usd: Option<f64>,
    /// Wall time of an attempt (min). An attempt whose agent takes longer fails, pauses left out.
    pub attempt_wall_minutes: Option<f64>,
    /// Tokens per episode. An episode that uses more tokens is censored there.
    pub episode_tokens: Option<f64>,
    /// Budget of an episode ($). An episode that costs more is censored there.
    pub episode_usd: Option<f64>,
    /// Wall time of an episode (min). An episode that takes longer is censored there.
    pub episode_minutes: Option<f64>,
    /// Tokens of the run. The run stops when it has used so many tokens; it can be resumed.
    pub run_tokens: Option<f64>,
    /// Budget of the run ($). The run stops when it has cost so much; it can be resumed.
    pub run_usd: Option<f64>,
    /// Wall time of the run (min). The run stops after this time; it can be resumed.
    pub run_minutes: Option<f64>,
    /// Folder. Where the results are written. The folder must be new or empty.
    pub output_dir: String,
    /// Tags. Words under which the library finds the run.
    pub tags: Vec<String>,
    /// Code snapshots kept per episode. How many copies of the code are kept for each episode; empty: all.
    pub keep_snapshots: Option<f64>,
    /// Variables for the container. Environment variables that the container gets: NAME takes the value of this machine, NAME=value its own.
    pub env_vars: Vec<String>,
    /// Extra container arguments. Arguments for the container: -e, -v and --add-host.
    pub extra_docker_args: String,
    /// Simulated model: seed. Where the choices of the simulated model come from.
    pub oracle_seed: String,
    /// Simulated model: defect rate. The share of turns whose first attempt has defects.
    pub oracle_defect_rate: Option<f64>,
    /// Simulated model: most defects. How many defects such an attempt has at most.
    pub oracle_most_defects: Option<f64>,
    /// Simulated model: repairs. The chance that feedback repairs a defect.
    pub oracle_repair: Option<f64>,
    /// Simulated model: old defects. Whether a defect stays in later turns.
    pub oracle_carries_over: bool,
    /// Simulated model: servers. What the simulated model writes its servers in.
    pub oracle_stack: FormStack,
    /// Simulated model: stalls. The share of attempts in which the simulated model stops answering.
    pub oracle_stall: Option<f64>,
    /// Simulated model: overflows. The share of attempts in which it exceeds its context.
    pub oracle_overflow: Option<f64>,
    /// Simulated model: bad calls. The share of attempts in which its tool calls are malformed.
    pub oracle_malformed: Option<f64>,
    /// Simulated model: ends harness. The share of attempts in which it ends its own harness.
    pub oracle_kill: Option<f64>,
    /// Simulated model: gives up. The share of attempts in which it gives up.
    pub oracle_give_up: Option<f64>,
    /// Keys of other programs that a loaded configuration had, as `key=value` with JSON values: they do nothing here and
    /// are kept.
    pub other: Vec<String>,
}
