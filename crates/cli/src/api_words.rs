//! Words of the application's types as values of arguments.

use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads one of these words (`stamina pass-rate`), with dashes where the type of the application has underscores.
pub(crate) fn api_word<T>(words: &'static str) -> ValueParser
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let words = PossibleValuesParser::new(words.split(' '));
    ValueParser::new(words.try_map(|word| serde_json::from_value::<T>(Value::String(word.replace('-', "_")))))
}
