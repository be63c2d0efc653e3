//! What each field of the form means, in a sentence for whoever fills it in.

/// The sentence of a field; empty = there is no such field.
pub(super) fn about(field: &str) -> &'static str {
    match field {
        "agent" => "The program that writes the code, turn after turn.",
        "harness_file" => "A TOML file that describes a harness of your own.",
        "image" => "The container image that the agent runs in, in place of the harness's own.",
        "endpoint_mode" => {
            "Where answers come from: an endpoint through the gateway, which counts and limits tokens; an endpoint that the harness asks itself; or the simulated model, which costs nothing."
        }
        "base_url" => "The address of the endpoint, with or without /v1.",
        "model" => "The name of the model at the endpoint.",
        "key_place" => "Where the key of the endpoint is kept. The agent never sees it.",
        "key_name" => "The environment variable or the entry of the keychain that holds the key.",
        "context_window" => "How many tokens the model's context holds.",
        "price_input" => "What a million input tokens cost; empty: by the table of prices.",
        "price_cached" => "What a million cached input tokens cost; empty: as much as other input.",
        "price_cache_write" => {
            "What a million input tokens cost that are written to the cache; empty: as much as other input."
        }
        "price_output" => "What a million output tokens cost; empty: by the table of prices.",
        "price_per_hour" => {
            "What an hour costs in which the model's machine works for the run, in place of prices of tokens."
        }
        "source" => {
            "What is played: scenarios of REST servers, from a pack or a seed, or tasks of Harbor with several steps."
        }
        "tasks" => "A task of Harbor, a folder of tasks, or a zip of either.",
        "protocol" => "A protocol sets attempts, snapshots, when a chain ends and what time-outs mean.",
        "restore_before_try" => {
            "Whether each attempt at a turn begins from the same snapshot, or with what the last one left. With scenarios it needs no feedback."
        }
        "task_timeout" => {
            "Whether a step whose agent ran out of time is verified, or ends the trial without a verdict."
        }
        "task_background" => {
            "Whether processes that the agent has left go on while its work is verified, as with Harbor, or are all ended before."
        }
        "task_session" => {
            "Whether the agent's session goes on from step to step, or each step begins a new one that knows only the files."
        }
        "iterative" => "Whether an episode continues with change requests after its first turn.",
        "scenarios_dir" => "The scenarios to run: a pack, or new ones generated from the seed.",
        "n_scenarios" => "How many scenarios are run, one episode each.",
        "n_turns" => "How many turns an episode has at most.",
        "num_changes_per_turn" => "How many changes each request asks for, from the second turn on.",
        "base_seed" => "The same seed gives the same scenarios.",
        "execute_episodes" => "Runs only these scenarios, counted from 0.",
        "use_llm_sampler" => "Whether a model fills in names and details of the scenarios before the run.",
        "llm_sampler_model_id" => "The model that fills them in.",
        "attempt_limit" => "How often the agent may try a turn, the first time included.",
        "feedback" => {
            "What the agent learns of a failed attempt: which tests failed and what came; which tests; how many; or nothing."
        }
        "fail_stop" => "Whether an episode ends at its first failed turn or continues with the next one.",
        "batch_size" => "How many episodes run at the same time.",
        "quick_debug" => "Runs 2 scenarios of 2 turns only, to see that everything works.",
        "use_docker" => "Whether agents and servers run in containers or as plain processes of this machine.",
        "attempt_minutes" => "An attempt that takes longer fails.",
        "cpus" => "How many cores a container may use.",
        "memory_gib" => "How much memory a container may use.",
        "disk_gib" => "How much disk an episode's container may use.",
        "pids" => "How many processes a container may have.",
        "network" => "Whether the agent reaches nothing but its model, or the internet too.",
        "attempt_tokens" => "An attempt that uses more tokens fails.",
        "attempt_usd" => "An attempt that costs more fails.",
        "attempt_wall_minutes" => "An attempt whose agent takes longer fails, pauses left out.",
        "episode_tokens" => "An episode that uses more tokens is censored there.",
        "episode_usd" => "An episode that costs more is censored there.",
        "episode_minutes" => "An episode that takes longer is censored there.",
        "run_tokens" => "The run stops when it has used so many tokens; it can be resumed.",
        "run_usd" => "The run stops when it has cost so much; it can be resumed.",
        "run_minutes" => "The run stops after this time; it can be resumed.",
        "output_dir" => "Where the results are written. The folder must be new or empty.",
        "tags" => "Words under which the library finds the run.",
        "keep_snapshots" => "How many copies of the code are kept for each episode; empty: all.",
        "env_vars" => {
            "Environment variables that the container gets: NAME takes the value of this machine, NAME=value its own."
        }
        "extra_docker_args" => "Arguments for the container: -e, -v and --add-host.",
        "oracle_seed" => "Where the choices of the simulated model come from.",
        "oracle_defect_rate" => "The share of turns whose first attempt has defects.",
        "oracle_most_defects" => "How many defects such an attempt has at most.",
        "oracle_repair" => "The chance that feedback repairs a defect.",
        "oracle_carries_over" => "Whether a defect stays in later turns.",
        "oracle_stack" => "What the simulated model writes its servers in.",
        "oracle_stall" => "The share of attempts in which the simulated model stops answering.",
        "oracle_overflow" => "The share of attempts in which it exceeds its context.",
        "oracle_malformed" => "The share of attempts in which its tool calls are malformed.",
        "oracle_kill" => "The share of attempts in which it ends its own harness.",
        "oracle_give_up" => "The share of attempts in which it gives up.",
        _ => "",
    }
}
