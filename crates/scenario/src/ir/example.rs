//! A small schema with one of everything.

use super::Schema;

/// A bicycle workshop: four entities that use every part of a schema. For tests and for trying things out.
///
/// # Panics
/// Never: a test reads what is beside it.
pub fn example() -> Schema {
    serde_saphyr::from_str(include_str!("example.yaml"))
        .unwrap_or_else(|e| panic!("the example is a schema: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_the_same_after_writing_and_reading() {
        let schema = example();
        let text = serde_saphyr::to_string(&schema).expect("it can be written");
        let again: Schema = serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again, schema);
    }
}
