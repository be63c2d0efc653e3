//! What containers get beside, and the simulated model.

use super::plain;
use crate::bounds::MOST_SEED;
use crate::{DefaultValue, KeyName, Need, Setting, ValueKind};

// words: ok, the key has this name.
const FAULT_INJECTION: &str = "oracle.mischief";
const ROW: Setting = Setting::BLANK;
const SHARE: Setting = Setting {
    takes: ValueKind::Amount(0.0, 1.0),
    default: DefaultValue::Value("0"),
    needs: &[Need::Model],
    ..Setting::BLANK
};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        field: "env_vars",
        key: KeyName::Free("docker", "env_vars"),
        takes: ValueKind::Words,
        label: "Variables for the container",
        help: "Environment variables that the container gets: NAME takes the value of this machine, NAME=value its own.",
        more: "Values of secrets are given only by name. Such values are taken out of the contents of all that is written of an attempt. Names of files in its code keep them. The engine keeps the environment of a container as long as the container is there. What a harness's own settings set, such as its key, comes first. The key of the endpoint behind the gateway (`endpoint.key_env`) is refused here.",
        ..ROW
    },
    Setting {
        field: "extra_docker_args",
        key: KeyName::Free("docker", "extra_docker_args"),
        label: "Extra container arguments",
        help: "Arguments for the container: -e, -v and --add-host.",
        more: "`-v` refuses folders that would hand over this machine, and folders that you cannot look into yourself. The former are its root, your home, `/etc`, an engine's socket, and whatever lies in `/proc`, `/sys`, `/dev` and `/run`. `-u` and `-e HOME=…` are accepted and not obeyed, which preflight says. A container runs as the user to whom its folders belong, and HOME is a folder of the episode.",
        needs: &[Need::Scenarios, Need::Containers],
        ..ROW
    },
    Setting {
        field: "oracle_seed",
        key: KeyName::InSection("oracle", "seed"),
        takes: ValueKind::Integer(0, MOST_SEED),
        default: DefaultValue::Value("0"),
        label: "Simulated model: seed",
        help: "Where the choices of the simulated model come from.",
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "oracle_defect_rate",
        key: KeyName::InSection("oracle", "defect_rate"),
        label: "Simulated model: defect rate",
        help: "The share of turns whose first attempt has defects.",
        more: "Of steps of tasks: the share of all attempts.",
        ..SHARE
    },
    Setting {
        field: "oracle_most_defects",
        key: KeyName::InSection("oracle", "most_defects"),
        takes: ValueKind::Integer(1, 100),
        default: DefaultValue::Value("3"),
        label: "Simulated model: most defects",
        help: "How many defects such an attempt has at most.",
        needs: &[Need::Scenarios],
        ..ROW
    },
    Setting {
        field: "oracle_repair",
        key: KeyName::InSection("oracle", "repair"),
        default: DefaultValue::Value("1"),
        label: "Simulated model: repairs",
        help: "The chance that feedback repairs a defect.",
        more: "That is detailed feedback; [less feedback repairs less](harnesses.md#the-simulated-model).",
        needs: &[Need::Scenarios],
        ..SHARE
    },
    Setting {
        field: "oracle_carries_over",
        key: KeyName::InSection("oracle", "carries_over"),
        takes: ValueKind::Truth,
        default: DefaultValue::Value("true"),
        label: "Simulated model: old defects",
        help: "Whether a defect stays in later turns.",
        choices: &[plain("false", "gone in the next turn"), plain("true", "stay")],
        needs: &[Need::Scenarios],
        ..ROW
    },
    Setting {
        field: "oracle_stack",
        key: KeyName::InSection("oracle", "stack"),
        takes: ValueKind::Word(&["flask", "native"]),
        default: DefaultValue::Depends("`flask`; `native` without containers"),
        label: "Simulated model: servers",
        help: "What the simulated model writes its servers in.",
        choices: &[plain("flask", "Flask"), plain("native", "served by Stamina Lab")],
        needs: &[Need::Scenarios],
        ..ROW
    },
    Setting {
        field: "oracle_stall",
        key: KeyName::InSection(FAULT_INJECTION, "stall"),
        label: "Simulated model: stalls",
        help: "The share of attempts in which the simulated model stops answering.",
        ..SHARE
    },
    Setting {
        field: "oracle_overflow",
        key: KeyName::InSection(FAULT_INJECTION, "overflow"),
        label: "Simulated model: overflows",
        help: "The share of attempts in which it exceeds its context.",
        ..SHARE
    },
    Setting {
        field: "oracle_malformed",
        key: KeyName::InSection(FAULT_INJECTION, "malformed"),
        label: "Simulated model: bad calls",
        help: "The share of attempts in which its tool calls are malformed.",
        ..SHARE
    },
    Setting {
        field: "oracle_kill",
        key: KeyName::InSection(FAULT_INJECTION, "kill"),
        label: "Simulated model: ends harness",
        help: "The share of attempts in which it ends its own harness.",
        ..SHARE
    },
    Setting {
        field: "oracle_give_up",
        key: KeyName::InSection(FAULT_INJECTION, "give_up"),
        label: "Simulated model: gives up",
        help: "The share of attempts in which it gives up.",
        ..SHARE
    },
];
