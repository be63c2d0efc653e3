//! Runs: the form, the checks before one begins, playing, watching and steering it.
//!
//! A run is its results folder. What the runner keeps there beside the results tells everything that is shown of a run, so
//! one of this process, one of `stamina run` and one that was killed are the same case; pausing and stopping are control
//! requests in a file. What is here in memory is only what no folder tells yet ([`threads`]).

mod abilities;
mod binds;
mod endpoint;
mod endpoint_words;
mod endpoints;
mod engine;
mod errors;
mod estimate;
mod fields;
mod folder;
mod foreign_sampler;
mod form;
mod images;
mod keys;
mod log;
mod machine;
mod planned_checks;
mod preflight;
mod prices;
mod results_reader;
mod runtime;
mod shutdown;
mod smoke_test;
mod status;
mod threads;
mod trust;
mod trust_rows;

use runner::settings::RunSettings;

pub use self::endpoint::EndpointCall;
pub use self::endpoint_words::endpoint_attempts;
pub use self::endpoints::list as list_endpoints;
pub use self::errors::run_error;
pub use self::form::harnesses;
pub use self::images::{
    ImageNews, build_named, clean, leftovers, list as images, sweep_leftovers, test as test_images,
};
pub use self::machine::{bytes, duration, short};
pub use self::prices::{priced, priced_changes};
pub use self::results_reader::ResultsReader;
pub use self::runtime::runtime;
pub use self::shutdown::InFlight;
pub use self::smoke_test::remove_old_smoke_tests;
pub use self::status::{read_run_detail, send_control_request};
pub(crate) use self::threads::Runs;

/// The form as settings that the app can play; what is wrong with them is one error.
pub(crate) fn settings_of(form: &crate::api::FormSettings) -> Result<RunSettings, crate::api::ApiError> {
    form::settings_of(form).map_err(|errors| errors::invalid_form(&errors))
}

/// What checks ask of a run's harness.
pub(crate) struct RunHarness {
    pub(crate) image: String,
    pub(crate) api: harness::Api,
    /// What says whether an image has it.
    pub(crate) probe: Vec<String>,
    pub(crate) title: String,
    /// What it needs of the endpoint; `None` = unknown.
    pub(crate) needs: Option<harness::Needs>,
}

/// The harness of a run: a built-in one, or one that its file describes. Errors are sentences.
pub(crate) fn harness_of(settings: &RunSettings) -> Result<RunHarness, String> {
    let run_harness = |harness: &dyn harness::Harness| RunHarness {
        image: harness.image().to_owned(),
        api: harness.api(),
        probe: harness.probe(),
        title: harness.title().to_owned(),
        needs: harness.needs(),
    };
    match &settings.harness_file {
        Some(file) => harness::load(&files::confined_path::resolved(file))
            .map(|file_harness| run_harness(&file_harness)),
        None => harness::find(&settings.agent).map(run_harness),
    }
    .map_err(|error| error.to_string())
}
