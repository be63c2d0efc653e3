//! Whether a run can begin: the engine, the image, the pack, the endpoint, the folder, the disk.
//!
//! Each check finds out one thing and says it in a few words; where it is not well, a sentence says what that means and
//! what to do. What cannot be found out is unknown, and keeps nobody from beginning.

mod containers;
mod network;
mod room;

use std::time::{Instant, SystemTime};

use runner::settings::RunSettings;
use scenario::pack::Pack;

use self::containers::containers;
use self::network::network;
use self::room::{disk, engine_disk, folder, machine_holds};
use super::abilities::KeptAbilities;
use super::endpoint::EndpointCall;
use super::runtime::runtime;
use super::{binds, endpoint, estimate, planned_checks};
use crate::Workbench;
use crate::api::{
    ApiError, Check, CheckState, FieldError, Fix, FixAction, FormSettings, Preflight, PreflightRequest,
    RunEstimate,
};

impl Check {
    pub(super) fn new(id: &str, title: &str, state: CheckState, value: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            state,
            value: value.into(),
            sentence: None,
            fix: None,
        }
    }

    pub(super) fn with_sentence(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = Some(sentence.into());
        self
    }

    fn fixed_by(mut self, label: impl Into<String>, action: FixAction) -> Self {
        self.fix = Some(Fix { label: label.into(), action });
        self
    }
}

impl Workbench {
    /// Whether a run can begin, and what it will take.
    pub fn preflight_run(&self, request: PreflightRequest) -> Result<Preflight, ApiError> {
        match super::form::settings_of(&request.settings) {
            Ok(settings) => {
                let call = match (request.call, request.anew) {
                    (false, _) => EndpointCall::Nothing,
                    (true, false) => EndpointCall::Missing,
                    (true, true) => EndpointCall::Anew,
                };
                self.run_preflight(&settings, call)
            }
            Err(errors) => {
                let mut preflight = wrong(&errors);
                preflight.estimate = self.estimate_despite(&request.settings, &errors);
                Ok(preflight)
            }
        }
    }

    /// What a run will take by the fields that are right, where these are the ones that it depends on.
    fn estimate_despite(&self, form: &FormSettings, errors: &[FieldError]) -> Option<RunEstimate> {
        let form = super::form::without_errors(form, errors)?;
        let settings = super::form::settings_of(&form).ok()?;
        let (check, pack) = planned_checks::pack(&settings, &self.runs.packs, false);
        let plan = plan(&settings, &check, pack.as_ref()).filter(|plan| plan.turns > 0)?;
        let mut estimate = self.estimate(&settings, &plan, &[]).ok()?;
        estimate.basis.push_str(". Fields to fix count as their defaults");
        Some(estimate)
    }

    /// The same of settings that did not come from the form.
    pub fn run_preflight(&self, settings: &RunSettings, call: EndpointCall) -> Result<Preflight, ApiError> {
        let begun = Instant::now();
        let mut checks = Vec::new();
        // Who lets the endpoint be asked is about to begin.
        let is_beginning = call != EndpointCall::Nothing;
        let (pack_check, pack) = planned_checks::pack(settings, &self.runs.packs, is_beginning);
        let runtime = runtime()?;
        let of_engine = runtime.block_on(containers(settings));
        checks.push(of_engine.check);
        checks.extend(of_engine.images);
        checks.extend(planned_checks::harness(settings));
        let plan = plan(settings, &pack_check, pack.as_ref());
        checks.push(pack_check);
        let mut abilities = None;
        // Players of tasks ask no model.
        if settings.asks_model() {
            let (found, reported) =
                runtime.block_on(endpoint::checks(settings, call, KeptAbilities::new(&self.store)));
            checks.extend(found);
            abilities = reported;
        }
        let estimated = |plan| self.estimate(settings, plan, &of_engine.task_images);
        let mut estimate = plan.as_ref().map(estimated).transpose()?;
        checks.push(folder(&settings.output_dir));
        checks.push(disk(settings, estimate.as_ref()));
        checks.extend(engine_disk(settings, estimate.as_ref(), of_engine.root.as_deref()));
        checks.extend(machine_holds(settings));
        checks.extend(network(settings, of_engine.is_guarded));
        checks.extend(arguments(settings));
        checks.extend(binds::check(settings));
        checks.extend(of_engine.leftovers);
        if let Some(empty_estimate) = estimate.as_mut().filter(|estimate| estimate.turns == 0) {
            "Nothing is to be played".clone_into(&mut empty_estimate.basis);
        }
        Ok(Preflight {
            can_start: checks.iter().all(|check| check.state != CheckState::Fail),
            checks,
            endpoint: abilities,
            estimate,
            checked_at: model::timestamp::to_the_second(SystemTime::now()),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// What is to be played; `None` = a pack or tasks should say it, and cannot be read or are damaged, or scenarios are named that
/// are not there. The bounds of the settings say
/// nothing then: they are as far as anything goes.
fn plan(settings: &RunSettings, check: &Check, pack: Option<&Pack>) -> Option<estimate::RunPlan> {
    let failed = check.state == CheckState::Fail;
    let unknown = settings.tasks.is_some() && failed
        || settings.scenarios_dir.is_some() && (pack.is_none() || failed)
        || runner::check_named(settings).is_err();
    (!unknown).then(|| estimate::plan(settings, pack))
}

/// What of the container arguments is not done.
fn arguments(settings: &RunSettings) -> Option<Check> {
    let ignored = settings.extra.ignored_arguments();
    (settings.use_docker && !ignored.is_empty()).then(|| {
        Check::new("arguments", "Container arguments", CheckState::Warn, ignored.join(" ")).with_sentence(
            "This is not obeyed. Containers run as the user to whom their folders belong. HOME is a folder of the episode, in which \
             the session of the agent continues.",
        )
    })
}

fn wrong(errors: &[FieldError]) -> Preflight {
    let reasons: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let check = Check::new(
        "settings",
        "Settings",
        CheckState::Fail,
        match errors.len() {
            1 => "1 field to fix".to_owned(),
            n => format!("{n} fields to fix"),
        },
    )
    .with_sentence(reasons.join(". "));
    Preflight {
        checks: vec![check],
        endpoint: None,
        estimate: None,
        can_start: false,
        checked_at: model::timestamp::to_the_second(SystemTime::now()),
        seconds: 0.0,
    }
}
