//! The harness, its model and the endpoint of the model.

use super::{choice, plain};
use crate::{AGENTS, DefaultValue, FormSection, KeyName, Need, Setting, ValueKind};

const ROW: Setting = Setting { section: FormSection::Agent, ..Setting::BLANK };
const PRICE: Setting = Setting {
    takes: ValueKind::Amount(0.0, 1_000_000.0),
    default: DefaultValue::Empty("unknown"),
    unit: "$ per M tokens",
    needs: &[Need::Model, Need::PaidEndpoint],
    ..ROW
};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        field: "agent",
        key: KeyName::InSection("", "agent"),
        takes: ValueKind::Word(AGENTS),
        default: DefaultValue::Needed(""),
        label: "Harness",
        help: "The program that writes the code, turn after turn.",
        more: "`CUSTOM` is the one of `harness_file`. `ORACLE` and `NOP` play [tasks of Harbor](#tasks-of-harbor) only.",
        ..ROW
    },
    Setting {
        field: "harness_file",
        key: KeyName::InSection("", "harness_file"),
        default: DefaultValue::Needed("with `agent=CUSTOM`"),
        label: "Harness file",
        help: "A TOML file that describes a harness of your own.",
        ..ROW
    },
    Setting {
        field: "image",
        key: KeyName::Free("docker", "image_name"),
        default: DefaultValue::Depends("the harness's own"),
        label: "Image",
        help: "The container image that the agent runs in, in place of the harness's own.",
        needs: &[Need::Scenarios, Need::Containers],
        ..ROW
    },
    Setting {
        field: "endpoint_mode",
        key: KeyName::InSection("endpoint", "mode"),
        takes: ValueKind::Word(&["gateway", "direct", "oracle"]),
        default: DefaultValue::Depends(
            "`gateway` with a `base_url`, else `oracle`. A model that is named without an endpoint is an error; `direct` is never a default",
        ),
        label: "Model endpoint",
        help: "Where answers come from: an endpoint through the gateway, an endpoint that the harness asks itself, or the simulated model. The gateway counts and limits tokens; the simulated model costs nothing.",
        choices: &[
            choice("gateway", "gateway", "Through Stamina Lab to an endpoint."),
            choice(
                "direct",
                "direct, as the original",
                "As in the original: the AWS credential chain goes into the container. With keys of AWS and no region, `AWS_REGION` is that of `AWS_DEFAULT_REGION`, else `us-east-1`.",
            ),
            choice("oracle", "simulated model, free", "The simulated model."),
        ],
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "base_url",
        key: KeyName::InSection("endpoint", "base_url"),
        default: DefaultValue::Needed("with `endpoint.mode=gateway`"),
        label: "Endpoint address",
        help: "The address of the endpoint, with or without /v1.",
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "model",
        key: KeyName::OfAgent("model_id"),
        default: DefaultValue::Needed("with `endpoint.mode=gateway`"),
        label: "Model",
        help: "The name of the model at the endpoint.",
        more: "`.model` and `.model_name` are taken too.",
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "key_place",
        key: KeyName::OfForm("endpoint", "key_name"),
        label: "Key",
        help: "Where the key of the endpoint is kept. The agent never sees it.",
        choices: &[
            plain("none", "none"),
            plain("env", "environment variable"),
            plain("keychain", "keychain"),
        ],
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "key_name",
        key: KeyName::InSection("endpoint", "key_name"),
        default: DefaultValue::Depends("no key"),
        label: "Name of the key",
        help: "The environment variable or the entry of the keychain that holds the key.",
        more: "With this key it is the entry of the keychain.",
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "key_name",
        is_part: true,
        key: KeyName::InSection("endpoint", "key_env"),
        default: DefaultValue::Depends("no key"),
        label: "Variable of the key",
        help: "The environment variable that holds the key, in place of `endpoint.key_name`.",
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "context_window",
        key: KeyName::InSection("endpoint", "context_window"),
        takes: ValueKind::Integer(1_000, 100_000_000),
        default: DefaultValue::Value("200000"),
        label: "Context",
        unit: "tokens",
        help: "How many tokens the model's context holds.",
        needs: &[Need::Model],
        ..ROW
    },
    Setting {
        field: "price_input",
        key: KeyName::InSection("endpoint.price", "input"),
        label: "Price of input",
        help: "What a million input tokens cost; empty: by the table of prices.",
        more: "It goes with that of output.",
        ..PRICE
    },
    Setting {
        field: "price_cached",
        key: KeyName::InSection("endpoint.price", "cached"),
        default: DefaultValue::Empty("that of input"),
        label: "Price, cached input",
        help: "What a million cached input tokens cost; empty: as much as other input.",
        ..PRICE
    },
    Setting {
        field: "price_cache_write",
        key: KeyName::InSection("endpoint.price", "cache_write"),
        default: DefaultValue::Empty("that of input"),
        label: "Price, written to cache",
        help: "What a million input tokens cost that are written to the cache; empty: as much as other input.",
        ..PRICE
    },
    Setting {
        field: "price_output",
        key: KeyName::InSection("endpoint.price", "output"),
        label: "Price of output",
        help: "What a million output tokens cost; empty: by the table of prices.",
        more: "It goes with that of input.",
        ..PRICE
    },
    Setting {
        field: "price_per_hour",
        key: KeyName::InSection("endpoint.price", "per_hour"),
        default: DefaultValue::Empty("none"),
        label: "Price of the machine",
        unit: "$ per hour",
        help: "What an hour costs in which the model's machine works for the run, in place of prices of tokens.",
        more: "That is [when the endpoint works](metrics.md#runs-of-ones-own). Beside prices of tokens it is an error, and so it is with `endpoint.mode=direct`. At a resume, the kind of price that is given replaces the run's.",
        ..PRICE
    },
];
