//! The price table: the one that comes with the program, or the user's in its place.

use std::path::{Path, PathBuf};

use gateway::{GatewayError, Price, PriceTable as Table};
use runner::settings::RunSettings;

use crate::Workbench;
use crate::api::{ApiError, ModelPrice, Nothing, PriceTable, SetPrices};

fn file() -> Result<PathBuf, ApiError> {
    dirs::config_dir().map(|folder| folder.join("stamina-lab").join("prices.toml")).ok_or_else(|| {
        ApiError::new("prices.no_folder", "The user's configuration folder is unknown")
            .hint("Set XDG_CONFIG_HOME or HOME")
    })
}

fn wrong(error: GatewayError) -> ApiError {
    ApiError::new("prices.table", error.to_string())
        .hint("Mend the file, or delete it to use the shipped prices")
}

fn table() -> Result<Table, ApiError> {
    match file() {
        Ok(file) => Table::load(&file),
        Err(_) => Table::shipped(),
    }
    .map_err(wrong)
}

/// The price of a model; `None` = unknown, also where the table cannot be read, which [`priced`] tells.
pub(super) fn price_of(model: Option<&str>) -> Option<Price> {
    table().ok()?.price(model?)
}

/// Puts the price of the table into settings that have none, so that a run keeps the price it began with.
pub fn priced(settings: &mut RunSettings) -> Result<(), ApiError> {
    if settings.price.is_none() && !settings.is_simulated() {
        let table = table()?;
        settings.price = settings.model.as_deref().and_then(|model| table.price(model));
    }
    Ok(())
}

/// What a resume changes, with the price of the table where the run began without one: it may be known by now.
pub fn priced_changes(folder: &Path, mut changes: Vec<String>) -> Result<Vec<String>, ApiError> {
    let run = runner::live::read(folder).map_err(super::errors::run_error)?;
    let is_changed = changes.iter().any(|change| change.trim_start().starts_with("endpoint.price."));
    if run.price.is_some() || run.simulated || is_changed {
        return Ok(changes);
    }
    let Some(price) =
        run.model.as_deref().and_then(|model| table().map(|table| table.price(model)).transpose())
    else {
        return Ok(changes);
    };
    let Price { input, cached, cache_write, output, per_hour: _ } = price?;
    let parts =
        [("input", Some(input)), ("cached", cached), ("cache_write", cache_write), ("output", Some(output))];
    let parts = parts.into_iter().filter_map(|(name, usd)| Some(format!("endpoint.price.{name}={}", usd?)));
    changes.extend(parts);
    Ok(changes)
}

impl Workbench {
    /// The prices of models.
    pub fn get_prices(&self, _: Nothing) -> Result<PriceTable, ApiError> {
        let prices = table()?
            .iter()
            .map(|(model, price)| ModelPrice {
                model: model.to_owned(),
                input: price.input,
                cached: price.cached,
                cache_write: price.cache_write,
                output: price.output,
            })
            .collect();
        Ok(PriceTable { prices, path: file()?.display().to_string() })
    }

    /// Changes the prices of models.
    pub fn set_prices(&self, request: SetPrices) -> Result<PriceTable, ApiError> {
        let mut changed = table()?;
        for model in &request.remove {
            changed.remove(model);
        }
        for price in request.put {
            let model = price.model.trim().to_owned();
            let all = [Some(price.input), price.cached, price.cache_write, Some(price.output)];
            let is_named = !model.is_empty() && !model.contains(char::is_control);
            if !is_named || all.into_iter().flatten().any(|usd| !usd.is_finite() || usd < 0.0) {
                return Err(ApiError::new(
                    "prices.value",
                    format!(
                        "The price of \"{}\" is not taken: a model has a name without control characters, and \
                         dollars from 0 up",
                        model.replace(char::is_control, "\u{fffd}")
                    ),
                ));
            }
            let (input, cached, output) = (price.input, price.cached, price.output);
            changed
                .put(model, Price { input, cached, cache_write: price.cache_write, output, per_hour: None });
        }
        changed.save(&file()?).map_err(wrong)?;
        self.get_prices(Nothing {})
    }
}
