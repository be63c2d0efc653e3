//! Whether the model endpoint answers: key, price, and one cheap call.

use gateway::Upstream;
use gateway::keys::{self, KeyError, KeySource};
use runner::settings::{EndpointSettings, RunSettings};

use super::abilities::{self, AskedEndpoint, KeptAbilities};
use crate::api::{Check, CheckState, EndpointAbilities, Fix, FixAction};

/// What a preflight asks of a model endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointCall {
    /// Nothing: what was found out before counts.
    Nothing,
    /// Something cheap, and what it is not known to be able to do.
    Missing,
    /// Something cheap, and all that it can do, whatever was found out before.
    Anew,
}

fn check(state: CheckState, value: impl Into<String>, sentence: Option<String>) -> Check {
    Check {
        id: "endpoint".to_owned(),
        title: "Endpoint and key".to_owned(),
        state,
        value: value.into(),
        sentence,
        fix: None,
    }
}

/// Endpoint, model, abilities and price; and what the endpoint can do, where one is asked through the gateway.
pub(super) async fn checks(
    settings: &RunSettings,
    call: EndpointCall,
    kept_abilities: KeptAbilities<'_>,
) -> (Vec<Check>, Option<EndpointAbilities>) {
    match &settings.endpoint {
        EndpointSettings::Oracle => (vec![check(CheckState::Ok, "simulated model, free", None)], None),
        EndpointSettings::Direct => (vec![direct(settings)], None),
        EndpointSettings::Gateway { base_url, key } => {
            let route = super::harness_of(settings).map(|harness| abilities::route_of(harness.api));
            let is_called = call != EndpointCall::Nothing;
            let (check, asked_endpoint) =
                through_gateway(settings, base_url, key, is_called, route.clone()).await;
            let asked_endpoint = asked_endpoint
                .map(|endpoint| AskedEndpoint { is_anew: call == EndpointCall::Anew, ..endpoint });
            let mut checks = vec![check];
            let mut found = EndpointAbilities::default();
            if let Ok(route) = route {
                let (ability_checks, reported) =
                    abilities::checks(settings, base_url, route, asked_endpoint, kept_abilities).await;
                checks.extend(ability_checks);
                found = reported;
            }
            checks.extend(price(settings));
            (checks, Some(found))
        }
    }
}

/// Direct mode: what the container will be given.
fn direct(settings: &RunSettings) -> Check {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let missing: Vec<&str> = settings
        .env_vars
        .iter()
        .filter(|entry| !entry.contains('='))
        .map(String::as_str)
        .filter(|name| !set(name))
        .collect();
    if !missing.is_empty() {
        return check(
            CheckState::Fail,
            "variable missing",
            Some(format!(
                "docker.env_vars names {}, which is not set here. Set it before beginning.",
                missing.join(", ")
            )),
        );
    }
    let found = runner::AWS_CHAIN.iter().filter(|name| set(name)).count();
    let named = settings.env_vars.len();
    let mut api_error = "In direct mode the agents hold the key, and their own counts of tokens are taken. Whether the endpoint \
                    answers is seen at the first turn."
        .to_owned();
    let b = &settings.budgets;
    let is_counted = [b.episode, b.run].iter().any(|budget| budget.tokens.is_some() || budget.usd.is_some());
    if is_counted {
        api_error.push_str(
            " Budgets of tokens and dollars are looked at between attempts, by what the agents' programs tell. An attempt \
             may go over by any amount, and what a program does not tell is not limited. Budgets of minutes hold.",
        );
    }
    let state = if found + named == 0 || is_counted { CheckState::Warn } else { CheckState::Unknown };
    let variables = model::counted(found as u64, "AWS variable");
    check(state, format!("direct, {variables}, {}", model::counted(named as u64, "other")), Some(api_error))
}

fn price(settings: &RunSettings) -> Option<Check> {
    let known = settings.price.or_else(|| super::prices::price_of(settings.model.as_deref()));
    let new = |state, value: String, sentence: Option<String>| {
        Some(Check { id: "price".to_owned(), title: "Price".to_owned(), state, value, sentence, fix: None })
    };
    let Some(price) = known else {
        let b = &settings.budgets;
        let limited = [b.attempt.usd, b.episode.usd, b.run.usd].iter().any(Option::is_some);
        let model = settings.model.as_deref().unwrap_or("the model");
        return if limited {
            new(
                CheckState::Fail,
                "unknown".to_owned(),
                Some(format!(
                    "A budget in dollars cannot be kept without the price of {model}. Give the price, or limit tokens."
                )),
            )
        } else {
            new(
                CheckState::Warn,
                "unknown".to_owned(),
                Some(format!("The price of {model} is not known, so the cost will be unknown.")),
            )
        };
    };
    if let Some(per_hour) = price.per_hour {
        return new(CheckState::Ok, format!("${per_hour} per hour of the machine"), None);
    }
    let cached = price.cached.map_or_else(String::new, |cached| format!(", {cached} cached"));
    new(CheckState::Ok, format!("${} in{cached}, ${} out per M tokens", price.input, price.output), None)
}

/// The check of key and answer; and the endpoint, where it was asked.
async fn through_gateway(
    settings: &RunSettings,
    base_url: &str,
    source: &KeySource,
    call: bool,
    route: Result<gateway::Route, String>,
) -> (Check, Option<AskedEndpoint>) {
    let key_result = {
        let source = source.clone();
        // The keychain may ask the person at the screen.
        tokio::task::spawn_blocking(move || keys::find(&source)).await
    };
    let secret = match key_result {
        Ok(Ok(secret)) => secret,
        Ok(Err(error)) => {
            let value = match &error {
                KeyError::NotSet { name } => format!("{name} not set"),
                KeyError::NotStored { name } => format!("no key {name}"),
                KeyError::NoKeychain { .. } => "no keychain".to_owned(),
                KeyError::Invalid { .. } => "no key".to_owned(),
            };
            let mut failed = check(CheckState::Fail, value, Some(error.to_string()));
            if let KeyError::NotStored { name } = error {
                failed.fix =
                    Some(Fix { label: "Store the key…".to_owned(), action: FixAction::StoreKey { name } });
            }
            return (failed, None);
        }
        Err(error) => {
            return (check(CheckState::Unknown, "could not be asked", Some(error.to_string())), None);
        }
    };
    if !call {
        let value = if secret.is_some() { "key found, not called" } else { "no key, not called" };
        return (check(CheckState::Unknown, value, None), None);
    }
    let route = match route {
        Ok(route) => route,
        Err(reason) => return (check(CheckState::Fail, "unknown harness", Some(reason)), None),
    };
    let model = settings.model.clone().unwrap_or_default();
    let upstream = Upstream::Http { base_url: base_url.to_owned(), key: secret.clone(), model: None };
    let answer = gateway::check_endpoint(&upstream, route, &model).await;
    // A model that the endpoint does not know is looked for in its list.
    let is_worth_asking = answer.as_ref().err().is_none_or(|e| e.problem == gateway::EndpointProblem::Model);
    let asked_endpoint = is_worth_asking.then(|| AskedEndpoint {
        base_url: base_url.to_owned(),
        key: secret,
        answers: answer.is_ok(),
        is_anew: false,
    });
    (judged(answer), asked_endpoint)
}

/// The check that an endpoint's answer, or its problem, makes.
fn judged(answer: Result<gateway::UsableEndpoint, gateway::UnusableEndpoint>) -> Check {
    use gateway::EndpointProblem as T;
    match answer {
        Ok(answer) => {
            let value = format!("1 call, {:.1} s", answer.latency.as_secs_f64());
            if answer.reports_usage {
                check(CheckState::Ok, value, None)
            } else {
                let reported = "The endpoint answers, and does not say how many tokens it used: tokens and cost will be unknown.";
                check(CheckState::Warn, value, Some(reported.to_owned()))
            }
        }
        Err(error) => {
            let (state, value) = match error.problem {
                T::Address => (CheckState::Fail, "no such address"),
                T::Name => (CheckState::Fail, "unknown host"),
                T::Refused => (CheckState::Fail, "nothing listens"),
                T::Secure => (CheckState::Fail, "no secure connection"),
                T::Unreachable => (CheckState::Fail, "not reachable"),
                T::Key => (CheckState::Fail, "key refused"),
                T::Account => (CheckState::Fail, "nothing left to spend"),
                T::Model => (CheckState::Fail, "unknown model"),
                T::Api => (CheckState::Fail, "another API"),
                // A run waits for these and tries again.
                T::Silent => (CheckState::Warn, "silent"),
                T::Busy => (CheckState::Warn, "busy"),
                T::Fault => (CheckState::Warn, "has a fault"),
                T::Request => (CheckState::Warn, "did not take the trial request"),
            };
            check(state, value, Some(error.to_string()))
        }
    }
}
