//! What holds between settings, however they came here.

use super::variables::ENV_VARS;
use super::{EndpointSettings, RunSettings, SettingsError, tasks};

/// A file describes a harness of one's own, and no other.
pub(super) fn check_harness_file(agent: &str, has_file: bool) -> Result<(), SettingsError> {
    if (agent == "custom") == has_file {
        return Ok(());
    }
    let reason = if has_file {
        format!("a harness of one's own is agent=CUSTOM, and agent is {}", agent.to_uppercase())
    } else {
        "agent=CUSTOM needs it: the TOML file that describes the harness".to_owned()
    };
    Err(SettingsError::new("harness_file", reason))
}

/// What holds between settings, however they came here: a resume reads them from a record that somebody else may have
/// written.
pub(crate) fn check(s: &RunSettings) -> Result<(), SettingsError> {
    tasks::check(s)?;
    check_harness_file(&s.agent, s.harness_file.is_some())?;
    if s.image.is_none() && s.use_docker && s.agent == "custom" && s.harness_file.is_none() {
        return Err(SettingsError::new("docker.image_name", "a harness of one's own needs an image"));
    }
    let harmless = s.agent == "mock" && s.is_simulated();
    if !s.use_docker && !harmless {
        return Err(SettingsError::new(
            "use_docker",
            "without containers only agent=MOCK with endpoint.mode=oracle is played: anything else would run what a \
             model writes on this machine",
        ));
    }
    if !s.use_docker && !s.env_vars.is_empty() {
        return Err(SettingsError::new(ENV_VARS, "without containers no variables are handed on"));
    }
    if !s.use_docker && s.extra != sandbox::ExtraArgs::default() {
        let reason = "without containers there is nothing that takes them";
        return Err(SettingsError::new("docker.extra_docker_args", reason));
    }
    if !s.use_docker && s.oracle.stack != gateway::simulated_model::Stack::Native {
        return Err(SettingsError::new("oracle.stack", "without containers it is native"));
    }
    if matches!(s.endpoint, EndpointSettings::Gateway { .. }) && s.model.is_none() {
        let key = format!("{}.model_id", s.agent);
        return Err(SettingsError::new(&key, "it is not given; it is the model's name at the endpoint"));
    }
    if s.endpoint == EndpointSettings::Direct && s.agent == "mock" {
        return Err(SettingsError::new(
            "endpoint.mode",
            "the mock agent has no endpoint of its own; use oracle or gateway",
        ));
    }
    let attempt_budget = s.budgets.attempt;
    if s.endpoint == EndpointSettings::Direct
        && (attempt_budget.tokens.is_some() || attempt_budget.usd.is_some())
    {
        return Err(SettingsError::new(
            "limits.attempt",
            "with endpoint.mode=direct nobody counts tokens or money while an agent works. Of an attempt only minutes can be \
             limited, and tokens and money of the episode and of the run between attempts",
        ));
    }
    Ok(())
}
