//! Runs: the form, the checks before one begins, playing, watching and steering it.

use crate::Workbench;
use crate::api::{
    ApiError, BuildImages, CleanLeftovers, ControlRun, FormSettings, ImageList, JobRef, KeyKnown, KeyName,
    LaunchForm, LeftoverList, LiveLog, LiveLogRequest, LiveRunDetail, LiveRuns, LoadSettings, LoadedSettings,
    Nothing, Preflight, PreflightRequest, PriceTable, ResumeRun, RunFolder, SaveSettings, SavedFile,
    SetPrices, SettingsCheck, StartRun, StartedRun, StoreKey, TestImages,
};

fn not_yet<T>() -> Result<T, ApiError> {
    Err(ApiError::new("run.not_built_yet", "This build can not play runs yet"))
}

#[allow(missing_docs)]
impl Workbench {
    pub fn launch_form(&self, _: Nothing) -> Result<LaunchForm, ApiError> {
        not_yet()
    }
    pub fn check_settings(&self, _: FormSettings) -> Result<SettingsCheck, ApiError> {
        not_yet()
    }
    pub fn load_settings(&self, _: LoadSettings) -> Result<LoadedSettings, ApiError> {
        not_yet()
    }
    pub fn save_settings(&self, _: SaveSettings) -> Result<SavedFile, ApiError> {
        not_yet()
    }
    pub fn get_prices(&self, _: Nothing) -> Result<PriceTable, ApiError> {
        not_yet()
    }
    pub fn set_prices(&self, _: SetPrices) -> Result<PriceTable, ApiError> {
        not_yet()
    }
    pub fn preflight_run(&self, _: PreflightRequest) -> Result<Preflight, ApiError> {
        not_yet()
    }
    pub fn start_run(&self, _: StartRun) -> Result<StartedRun, ApiError> {
        not_yet()
    }
    pub fn resume_run(&self, _: ResumeRun) -> Result<StartedRun, ApiError> {
        not_yet()
    }
    pub fn list_live_runs(&self, _: Nothing) -> Result<LiveRuns, ApiError> {
        Ok(LiveRuns { runs: Vec::new(), live: 0 })
    }
    pub fn get_live_run(&self, _: RunFolder) -> Result<LiveRunDetail, ApiError> {
        not_yet()
    }
    pub fn control_run(&self, _: ControlRun) -> Result<LiveRunDetail, ApiError> {
        not_yet()
    }
    pub fn live_log(&self, _: LiveLogRequest) -> Result<LiveLog, ApiError> {
        not_yet()
    }
    pub fn list_images(&self, _: Nothing) -> Result<ImageList, ApiError> {
        not_yet()
    }
    pub fn build_images(&self, _: BuildImages) -> Result<JobRef, ApiError> {
        not_yet()
    }
    pub fn test_images(&self, _: TestImages) -> Result<JobRef, ApiError> {
        not_yet()
    }
    pub fn key_known(&self, _: KeyName) -> Result<KeyKnown, ApiError> {
        not_yet()
    }
    pub fn store_key(&self, _: StoreKey) -> Result<KeyKnown, ApiError> {
        not_yet()
    }
    pub fn list_leftovers(&self, _: Nothing) -> Result<LeftoverList, ApiError> {
        not_yet()
    }
    pub fn clean_leftovers(&self, _: CleanLeftovers) -> Result<LeftoverList, ApiError> {
        not_yet()
    }
}
