//! Which runs are the same run.

use std::collections::BTreeMap;

use crate::RunId;

/// Sets of runs that are the same run, each represented by its least number.
#[derive(Default)]
pub(super) struct SameRuns {
    /// A smaller number in the same set, or the number itself.
    parents: BTreeMap<RunId, RunId>,
}

impl SameRuns {
    /// The least number of the set of a run.
    pub(super) fn root(&mut self, run: RunId) -> RunId {
        let mut root = run;
        while let Some(parent) = self.parents.get(&root).copied().filter(|parent| *parent != root) {
            root = parent;
        }
        // The next search takes one step.
        let mut current = run;
        while let Some(parent) = self.parents.insert(current, root).filter(|parent| *parent != root) {
            current = parent;
        }
        root
    }

    /// Says that two runs are the same.
    pub(super) fn join(&mut self, a: RunId, b: RunId) {
        let (a, b) = (self.root(a), self.root(b));
        let root = a.min(b);
        for run in [a, b] {
            self.parents.insert(run, root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sameness_of_runs_is_transitive() {
        let mut same = SameRuns::default();
        for (a, b) in [(5, 4), (2, 3), (4, 3), (7, 7)] {
            same.join(a, b);
        }
        assert_eq!([2, 3, 4, 5].map(|run| same.root(run)), [2; 4]);
        assert_eq!([7, 9].map(|run| same.root(run)), [7, 9]);
    }
}
