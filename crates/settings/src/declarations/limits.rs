//! What containers may use, and what a model may spend.

use super::choice;
use crate::{DefaultValue, FormSection, KeyName, Need, Setting, ValueKind};

/// Most tokens, dollars or minutes of a budget.
const MOST_UNITS: u64 = 1_000_000_000_000;

const ROW: Setting = Setting { section: FormSection::Limits, ..Setting::BLANK };
const CONTAINERS: Setting = Setting { needs: &[Need::Containers], ..ROW };
const TOKENS: Setting = Setting {
    takes: ValueKind::Integer(1, MOST_UNITS),
    default: DefaultValue::Empty("no limit"),
    needs: &[Need::Model],
    ..ROW
};
const MINUTES: Setting = Setting {
    takes: ValueKind::Amount(0.0, MOST_UNITS as f64),
    default: DefaultValue::Empty("no limit"),
    unit: "min",
    ..ROW
};
const DOLLARS: Setting = Setting { unit: "$", needs: &[Need::Model, Need::PaidEndpoint], ..MINUTES };

pub(super) const ROWS: &[Setting] = &[
    Setting {
        field: "attempt_minutes",
        key: KeyName::InSection("limits", "attempt_minutes"),
        takes: ValueKind::Amount(0.05, 100_000.0),
        default: DefaultValue::Value("20"),
        label: "Time per attempt",
        unit: "min",
        help: "An attempt that takes longer fails.",
        more: "It is wall time of the agent.",
        ..ROW
    },
    Setting {
        field: "cpus",
        key: KeyName::InSection("limits", "cpus"),
        takes: ValueKind::Amount(0.1, 1_000.0),
        default: DefaultValue::Value("2"),
        label: "CPU per container",
        unit: "cores",
        help: "How many cores a container may use.",
        ..CONTAINERS
    },
    Setting {
        field: "memory_gib",
        key: KeyName::InSection("limits", "memory_gib"),
        takes: ValueKind::Amount(0.0625, 100_000.0),
        default: DefaultValue::Value("4"),
        label: "Memory per container",
        unit: "GiB",
        help: "How much memory a container may use.",
        ..CONTAINERS
    },
    Setting {
        field: "disk_gib",
        key: KeyName::InSection("limits", "disk_gib"),
        takes: ValueKind::Amount(0.0625, 1_000_000.0),
        default: DefaultValue::Value("4"),
        label: "Disk per container",
        unit: "GiB",
        help: "How much disk an episode's container may use.",
        ..CONTAINERS
    },
    Setting {
        field: "pids",
        key: KeyName::InSection("limits", "pids"),
        takes: ValueKind::Integer(16, 1_000_000),
        default: DefaultValue::Value("512"),
        label: "Processes per container",
        help: "How many processes a container may have.",
        ..CONTAINERS
    },
    Setting {
        field: "network",
        key: KeyName::InSection("limits", "network"),
        takes: ValueKind::Word(&["gateway", "open"]),
        default: DefaultValue::Depends("`gateway`; `open` in direct mode"),
        label: "Network",
        help: "Whether the agent reaches nothing but its model, or the internet too.",
        more: "Containers of servers have no way out. Rules of the firewall (`iptables`) keep them from services of this machine, where Stamina Lab is root and the engine is Docker on it. The rules are for the bridge of the run, and go with it. Elsewhere preflight names the services that can be reached.",
        choices: &[
            choice(
                "gateway",
                "gateway only",
                "The model and nothing else: containers of agents have no network, only a relay to the gateway. The gateway takes tools out of requests that the endpoint would run itself, such as web search.",
            ),
            choice(
                "open",
                "open",
                "The internet, and services of this machine that listen on all addresses.",
            ),
        ],
        ..CONTAINERS
    },
    Setting {
        field: "attempt_tokens",
        key: KeyName::InSection("limits.attempt", "tokens"),
        label: "Tokens per attempt",
        help: "An attempt that uses more tokens fails.",
        more: "Not in direct mode.",
        ..TOKENS
    },
    Setting {
        field: "attempt_usd",
        key: KeyName::InSection("limits.attempt", "usd"),
        label: "Budget of an attempt",
        help: "An attempt that costs more fails.",
        more: "Not in direct mode.",
        ..DOLLARS
    },
    Setting {
        field: "attempt_wall_minutes",
        key: KeyName::InSection("limits.attempt", "minutes"),
        label: "Wall time of an attempt",
        help: "An attempt whose agent takes longer fails, pauses left out.",
        ..MINUTES
    },
    Setting {
        field: "episode_tokens",
        key: KeyName::InSection("limits.episode", "tokens"),
        label: "Tokens per episode",
        help: "An episode that uses more tokens is censored there.",
        more: "In direct mode it is looked at between attempts, by the harness's own count.",
        ..TOKENS
    },
    Setting {
        field: "episode_usd",
        key: KeyName::InSection("limits.episode", "usd"),
        label: "Budget of an episode",
        help: "An episode that costs more is censored there.",
        more: "In direct mode as with tokens.",
        ..DOLLARS
    },
    Setting {
        field: "episode_minutes",
        key: KeyName::InSection("limits.episode", "minutes"),
        label: "Wall time of an episode",
        help: "An episode that takes longer is censored there.",
        more: "[Wall time](metrics.md#runs-of-ones-own) without pauses.",
        ..MINUTES
    },
    Setting {
        field: "run_tokens",
        key: KeyName::InSection("limits.run", "tokens"),
        label: "Tokens of the run",
        help: "The run stops when it has used so many tokens; it can be resumed.",
        more: "In direct mode it is looked at between attempts, by the harness's own count.",
        ..TOKENS
    },
    Setting {
        field: "run_usd",
        key: KeyName::InSection("limits.run", "usd"),
        label: "Budget of the run",
        help: "The run stops when it has cost so much; it can be resumed.",
        more: "In direct mode as with tokens.",
        ..DOLLARS
    },
    Setting {
        field: "run_minutes",
        key: KeyName::InSection("limits.run", "minutes"),
        label: "Wall time of the run",
        help: "The run stops after this time; it can be resumed.",
        more: "[Wall time](metrics.md#runs-of-ones-own) without pauses.",
        ..MINUTES
    },
];
