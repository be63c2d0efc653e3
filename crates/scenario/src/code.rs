//! A turn written out as code, for people and for other tools.
//!
//! Both writers fill one `String` from top to bottom. What they write is meant to be read: names are the schema's own,
//! every rule of the schema stands in the place where an engineer would look for it, and nothing is written that is
//! not used. They write valid Python for any schema or suite, valid or not; parts whose keys lead nowhere are left out.

mod flask;
mod pytest;
mod python;
#[cfg(test)]
mod tests;

use crate::ir::Schema;
use crate::suite::Suite;

/// A Flask server of the schema, as one Python file without imports but Flask and the standard library: written out
/// entity by entity as a careful engineer would write it, not an interpreter of data. Listens on `PORT`.
pub fn flask(schema: &Schema) -> String {
    flask::write(schema)
}

/// The suite as one pytest file (needs `pytest` and `requests`): one test per case, its id kept in the test's name (see
/// [`test_name`]), against the server at `BASE_URL`. Same verdict per case as [`crate::client`].
pub fn pytest(suite: &Suite) -> String {
    pytest::write(suite)
}

/// The pytest files of the turns of a scenario, one after the other, as `turn_1.py`, `turn_2.py` and so on in one folder. The
/// first is that of [`pytest`]; a later one takes over the tests of the one before and writes those that are new or other.
#[derive(Debug, Default)]
pub(crate) struct PytestFiles(pytest::Files);

impl PytestFiles {
    /// The file of the next suite; pytest finds in it the same tests as in [`pytest`] of that suite, in another order.
    /// `equals` says for each of its cases where in the suite before the one stands that it is equal to in everything but
    /// the mark, builders considered.
    pub(crate) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> &str {
        self.0.next(suite, equals)
    }
}

/// The name of the test function of a case: `orders.create.minimal` → `test_orders__create__minimal`. Keys have no two
/// `_` in a row, so that the id can be read back from the name.
pub fn test_name(case: &str) -> String {
    let mut name = String::with_capacity(case.len() + 16);
    name.push_str("test_");
    for c in case.chars() {
        match c {
            '.' => name.push_str("__"),
            _ if c.is_ascii_alphanumeric() => name.push(c),
            _ => name.push('_'),
        }
    }
    name
}
