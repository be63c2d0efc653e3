//! Settings out of the record of a run.

use settings::ConfigFile;

use super::check::check;
use super::resolve::resolve;
use super::{RunSettings, SettingsError};

/// Whether settings that a record holds are what a configuration gives. A record is a file in the results folder, and somebody
/// else may have written it: what no configuration can hold (a key of Docker among those that do nothing, a list that hides an
/// entry in another) is refused as a whole, so that what is shown of a record is all that it does.
pub(crate) fn check_record(recorded: &RunSettings) -> Result<(), SettingsError> {
    check(recorded)?;
    let file = ConfigFile { name: "run.json".to_owned(), text: recorded.to_yaml() };
    let mut read_back = resolve(&[file], &[])?;
    read_back.is_smoke_test = recorded.is_smoke_test;
    if read_back == *recorded {
        return Ok(());
    }
    Err(SettingsError::new("settings", "the record of this run holds settings that no configuration gives"))
}
