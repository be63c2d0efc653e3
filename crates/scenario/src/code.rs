//! Writes a turn as code, for people and for other tools.
//!
//! Both writers fill one `String` from top to bottom. The code is readable: it uses the names of the schema, has every rule
//! where an engineer looks for it, and has no unused parts. It is valid Python for any schema or suite, valid or not. Parts
//! with unknown keys are left out.
//!
//! There is no template engine. Fixed parts of some length are files (`pytest/helpers.py`). Of the rest almost every line depends on the
//! schema: which names are free is known only while the file is written, and the head of the server lists what the routes
//! turned out to call. A template would have to be given all these decisions, so the code beside it would stay as long. A
//! pack of 20 scenarios with 100 turns has 2,000 servers and as many suites within the 10 s of `npm run bench`, of which the
//! engine would take its part; how much was not measured, because nothing would become shorter.

mod flask;
mod pytest;
mod python;
#[cfg(test)]
mod tests;

use crate::ir::Schema;
use crate::suite::Suite;

/// A Flask server of the schema, as one Python file. It imports only Flask and the standard library. It is written entity by
/// entity, as a careful engineer would write it, and is not an interpreter of data. It listens on `PORT`.
pub fn flask(schema: &Schema) -> String {
    flask::write(schema)
}

/// The suite as one pytest file, which needs `pytest` and `requests`. It has one test per case, named after the id of the
/// case ([`test_name`]), and tests the server at `BASE_URL`. The verdict of each case is that of `validation::client`.
pub fn pytest(suite: &Suite) -> String {
    pytest::write(suite)
}

/// The pytest files of the turns of a scenario, in order, for the files `turn_1.py`, `turn_2.py` and so on of one folder. The
/// first is the file of [`pytest`]. Each later file imports the tests of the file before, and has the new and changed tests.
#[derive(Debug, Default)]
pub(crate) struct PytestFiles(pytest::Files);

impl PytestFiles {
    /// The file of the next suite. pytest collects the same tests from it as from [`pytest`] of that suite, in another order.
    /// `equals` has an entry for each case of the suite: the index of an equal case in the suite before, if there is one. Equal
    /// cases differ at most in the mark, and use equal builders.
    pub(crate) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> &str {
        self.0.next(suite, equals)
    }
}

/// The name of the test function of a case: `orders.create.minimal` → `test_orders__create__minimal`. Keys never have two
/// `_` in a row, so the name determines the id.
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
