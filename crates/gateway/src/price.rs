//! Prices of models: an editable table, `data/prices.toml`. A copy in the configuration folder of the user replaces it.
//!
//! ```toml
//! [models."some-model"]
//! input = 1.0      # US dollars for a million tokens
//! cached = 0.1     # read from the cache; default: input
//! cache_write = 1.25 # written to the cache, where the endpoint counts it; default: input
//! output = 2.0
//! ```
//!
//! The cost of a model that is not in the table is unknown. Prices are looked up by the name of the model, and then without the
//! provider in front of it (`openrouter/openai/x` → `openai/x` → `x`), ignoring case.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Deserialize;

use crate::error::GatewayError;
use crate::settings::Price;

/// The table that is shipped with the program.
const SHIPPED_TABLE: &str = include_str!("../../../data/prices.toml");
/// Most bytes of the table of the user.
const FILE_CAP: u64 = 1 << 20;

/// Prices by model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    models: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    models: BTreeMap<String, Price>,
}

impl PriceTable {
    /// Parses a table. Errors name `place`.
    pub fn parse(text: &str, place: &str) -> Result<Self, GatewayError> {
        let invalid =
            |reason: String| GatewayError::Settings { setting: format!("price table {place}"), reason };
        let File { models } = toml::from_str(text).map_err(|error| invalid(error.to_string()))?;
        for (model, price) in &models {
            if price.per_hour.is_some() {
                return Err(invalid(format!(
                    "{model} has a price per hour, which is of a machine and not of a model; give it to a run \
                     (`endpoint.price.per_hour`)"
                )));
            }
            let fields = [Some(price.input), price.cached, price.cache_write, Some(price.output)];
            if fields.into_iter().flatten().any(|usd| !usd.is_finite() || usd < 0.0) {
                return Err(invalid(format!("a price of {model} is not a number of dollars of at least 0")));
            }
        }
        Ok(Self { models })
    }

    /// The table that is shipped with the program.
    pub fn shipped() -> Result<Self, GatewayError> {
        Self::parse(SHIPPED_TABLE, "data/prices.toml")
    }

    /// The table of the user, or the shipped one if there is none. It is a regular file of at most 1 MiB.
    pub fn load(file: &Path) -> Result<Self, GatewayError> {
        let place = file.display().to_string();
        let wrong =
            |reason: String| GatewayError::Settings { setting: format!("price table {place}"), reason };
        match files::confined_path::read_named_file(file, FILE_CAP) {
            Ok(bytes) => {
                let text =
                    String::from_utf8(bytes).map_err(|_| wrong("the file is not UTF-8 text".to_owned()))?;
                Self::parse(&text, &place)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::shipped(),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Writes the table of the user atomically.
    pub fn save(&self, file: &Path) -> Result<(), GatewayError> {
        let write = || -> std::io::Result<()> {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder {
                std::fs::create_dir_all(folder)?;
            }
            let draft = file.with_extension(format!("{}.draft", std::process::id()));
            let mut out = std::fs::File::create(&draft)?;
            out.write_all(self.to_toml().as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&draft, file)
        };
        write().map_err(|error| GatewayError::Settings {
            setting: format!("price table {}", file.display()),
            reason: error.to_string(),
        })
    }

    /// The text of the file.
    pub fn to_toml(&self) -> String {
        let mut text =
            "# US dollars for a million tokens. A model that is not here has no known cost.\n".to_owned();
        for (model, price) in &self.models {
            // TOML's basic strings allow all escapes of JSON strings.
            text.push_str(&format!("\n[models.{}]\n", serde_json::Value::from(model.as_str())));
            let fields = [
                ("input", Some(price.input)),
                ("cached", price.cached),
                ("cache_write", price.cache_write),
                ("output", Some(price.output)),
            ];
            for (field, usd) in fields {
                if let Some(usd) = usd {
                    text.push_str(&format!("{field} = {usd:?}\n"));
                }
            }
        }
        text
    }

    /// The price of a model. `None` = unknown.
    pub fn price(&self, model: &str) -> Option<Price> {
        let named = |name: &str| {
            self.models.get(name).copied().or_else(|| {
                self.models
                    .iter()
                    .find(|(model, _)| model.eq_ignore_ascii_case(name))
                    .map(|(_, price)| *price)
            })
        };
        let mut name = model;
        loop {
            if let Some(price) = named(name) {
                return Some(price);
            }
            name = name.split_once('/')?.1;
        }
    }

    /// All prices, by model.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Price)> {
        self.models.iter().map(|(model, price)| (model.as_str(), *price))
    }

    /// Sets a price.
    pub fn put(&mut self, model: String, price: Price) {
        self.models.insert(model, price);
    }

    /// Removes a price, which is unknown from then on. Returns whether it existed.
    pub fn remove(&mut self, model: &str) -> bool {
        self.models.remove(model).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "[models.\"some-model\"]\ninput = 1\ncached = 0.1\noutput = 2\n\n[models.\"org/Other\"]\ninput = 3.5\noutput = 4\n";

    #[test]
    fn prices_are_found_with_and_without_the_provider() {
        let table = PriceTable::parse(TABLE, "test").unwrap();
        for (name, input) in [
            ("some-model", Some(1.0)),
            ("Some-Model", Some(1.0)),
            ("openai/some-model", Some(1.0)),
            ("openrouter/openai/some-model", Some(1.0)),
            ("org/other", Some(3.5)),
            ("other", None),
            ("some-model-2", None),
            ("", None),
        ] {
            assert_eq!(table.price(name).map(|price| price.input), input, "{name}");
        }
    }

    #[test]
    fn a_written_table_reads_back() {
        let mut table = PriceTable::parse(TABLE, "test").unwrap();
        table.put("a \"quoted\"\\ \u{7} name".to_owned(), Price { output: 1e-7, ..Price::default() });
        assert_eq!(PriceTable::parse(&table.to_toml(), "test").unwrap(), table);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/prices.toml");
        assert_eq!(PriceTable::load(&file).unwrap(), PriceTable::shipped().unwrap());
        table.save(&file).unwrap();
        assert_eq!(PriceTable::load(&file).unwrap(), table);
        assert!(table.remove("some-model") && !table.remove("some-model"));
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_table_that_is_a_giant_or_a_device_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("prices.toml");
        std::fs::write(&file, format!("{TABLE}#{}", "x".repeat(1 << 20))).unwrap();
        let error = PriceTable::load(&file).unwrap_err().to_string();
        assert!(error.contains("prices.toml") && error.contains("1048576 bytes"), "{error}");
        // It has no end.
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        let error = PriceTable::load(&file).unwrap_err().to_string();
        assert!(error.contains("prices.toml") && error.contains("regular file"), "{error}");
        // A link to a table is a table.
        let linked = folder.path().join("table.toml");
        std::fs::write(&linked, TABLE).unwrap();
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&linked, &file).unwrap();
        assert_eq!(PriceTable::load(&file).unwrap(), PriceTable::parse(TABLE, "test").unwrap());
    }

    #[test]
    fn an_invalid_table_names_the_file() {
        for text in [
            "[models.a]\ninput = 1",
            "[models.a]\ninput = -1\noutput = 1",
            "[models.a]\ninput = 1\noutput = nan",
            "[models.a]\ninput = 1\noutput = 1\nprice = 2",
            "[models.a]\ninput = 0\noutput = 0\nper_hour = 2",
            "x =",
        ] {
            let error = PriceTable::parse(text, "prices.toml").unwrap_err().to_string();
            assert!(error.contains("prices.toml"), "{error}");
        }
    }
}
