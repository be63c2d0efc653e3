//! A schema in a file of its own, outside a pack: what the simulated model writes down for `stamina serve-reference`.

use super::{SCHEMA_VERSION, Schema};
use crate::pack::yaml;

/// The largest file that is read as a schema, in bytes. That of a hundredth turn has about 200 kB.
pub const SCHEMA_CAP: u64 = 8 << 20;
/// What the versions of all schemas begin with.
const SCHEMA_FAMILY: &str = "stamina-schema/";

/// Why a text is no schema.
#[derive(Debug, thiserror::Error)]
pub enum SchemaFileError {
    /// It is no YAML, or not in the form of a schema.
    #[error("It is no schema: {0}")]
    Form(String),
    /// It does not call itself a schema of any version. It may be any file, so nothing of it is quoted.
    #[error("It is no schema of a turn: it does not state a version of the kind {SCHEMA_VERSION}")]
    Foreign,
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
        if !text.contains(SCHEMA_FAMILY) {
            return Err(SchemaFileError::Foreign);
        }
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
        assert!(matches!(Schema::from_yaml(&text.replace("turn:", "torn:")), Err(SchemaFileError::Form(_))));
    }

    #[test]
    // docs/security.md: A file that is loaded as settings
    fn nothing_of_a_file_that_is_no_schema_is_quoted() {
        for text in [
            "hunter2",
            "hunter2: 1\n",
            "root:x:0:0:hunter2:/root\n",
            "- hunter2\n",
            "a: hunter2: b\n",
            "\"hunter2",
        ] {
            let error = Schema::from_yaml(text).expect_err("it is none").to_string();
            assert!(error.starts_with("It is no schema of a turn") && !error.contains("hunter2"), "{error}");
        }
    }
}
