//! A schema in a file of its own, outside a pack: what the simulated model writes down for `stamina serve-reference`.

use super::{SCHEMA_VERSION, Schema};
use crate::pack::yaml;

/// The largest file that is read as a schema, in bytes. That of a hundredth turn has about 200 kB.
pub const SCHEMA_CAP: u64 = 8 << 20;

/// Why a text is no schema.
#[derive(Debug, thiserror::Error)]
pub enum SchemaFileError {
    /// It is no YAML, or not in the form of a schema.
    #[error("It is no schema: {0}")]
    Form(String),
    /// It has the form of a schema and calls itself something else.
    #[error("Its version is not {SCHEMA_VERSION}")]
    Version,
}

impl Schema {
    /// Written as YAML, as in a pack. Nothing for a schema with numbers that are none.
    pub fn to_yaml(&self) -> Option<String> {
        yaml::to_string(self).ok()
    }

    /// Reads what [`Schema::to_yaml`] wrote, within a budget. The rules of [`crate::check`] are not checked: servers
    /// take schemas that break them.
    pub fn from_yaml(text: &str) -> Result<Self, SchemaFileError> {
        let schema: Self = yaml::from_str(text).map_err(SchemaFileError::Form)?;
        if schema.version == SCHEMA_VERSION { Ok(schema) } else { Err(SchemaFileError::Version) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::example;

    #[test]
    fn what_is_written_is_read_again() {
        let text = example().to_yaml().expect("it can be written");
        assert_eq!(Schema::from_yaml(&text).expect("it is a schema"), example());
        let other = text.replace(SCHEMA_VERSION, "stamina-schema/9");
        assert!(matches!(Schema::from_yaml(&other), Err(SchemaFileError::Version)));
        assert!(matches!(Schema::from_yaml("a: 1"), Err(SchemaFileError::Form(_))));
    }
}
