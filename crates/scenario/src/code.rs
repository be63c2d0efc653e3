//! A turn written out as code, for people and for other tools.

use crate::ir::Schema;
use crate::suite::Suite;

/// A Flask server of the schema, as one Python file without imports but Flask and the standard library: written out
/// entity by entity as a careful engineer would write it, not an interpreter of data. Listens on `PORT`.
pub fn flask(_schema: &Schema) -> String {
    todo!("owned by: code")
}

/// The suite as a pytest file (needs `pytest` and `requests`): one test per case, its id kept in the test's id, against
/// the server at `BASE_URL`. Same verdict per case as [`crate::client`].
pub fn pytest(_suite: &Suite) -> String {
    todo!("owned by: code")
}
