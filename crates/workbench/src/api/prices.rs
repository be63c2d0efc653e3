//! The table of prices of models.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A price in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelPrice {
    /// The model's name.
    pub model: String,
    /// Input that was not cached.
    pub input: f64,
    /// Input that was; `None` = as input.
    pub cached: Option<f64>,
    /// Input written to the cache, where the endpoint counts it; `None` = as input.
    pub cache_write: Option<f64>,
    /// Output.
    pub output: f64,
}

/// The whole price table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct PriceTable {
    /// Known prices, by model.
    pub prices: Vec<ModelPrice>,
    /// The file that holds them.
    pub path: String,
}

/// Puts prices into the table, or takes them out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct SetPrices {
    /// New or changed ones.
    pub put: Vec<ModelPrice>,
    /// Models whose price is unknown from now on.
    pub remove: Vec<String>,
}
