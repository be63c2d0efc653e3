//! Answers that cost work, kept until something changes in the library.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::api::{
    ApiError, CompareRequest, Comparison, Matrix, MatrixRequest, Member, Retries, RetriesRequest,
};
use crate::compare::disagreements::Table;
use crate::failures::Digests;

/// Answers of each kind that are kept.
const KEPT: usize = 16;

/// The answers that are kept.
#[derive(Debug, Default)]
pub(crate) struct AnswerCache {
    /// Of `compare_runs`.
    pub(crate) comparisons: LatestAnswers<CompareRequest, Comparison>,
    /// Of `list_disagreements`: every turn of some members.
    pub(crate) turns: LatestAnswers<Vec<Member>, Table>,
    /// Of `get_matrix`.
    pub(crate) matrices: LatestAnswers<MatrixRequest, Matrix>,
    /// Of `get_retries`.
    pub(crate) retries: LatestAnswers<RetriesRequest, Retries>,
    /// Failed attempts, run by run.
    pub(crate) failures: Digests,
}

/// The latest answers to requests, each with the change of the library that it was made from.
#[derive(Debug)]
pub(crate) struct LatestAnswers<Q, A>(Mutex<VecDeque<(Q, u64, Arc<A>)>>);

impl<Q, A> Default for LatestAnswers<Q, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Q: Clone + PartialEq, A> LatestAnswers<Q, A> {
    /// The answer to a request as of a change of the library; made if it is not there.
    ///
    /// Nothing is locked while it is made: two callers at once may both make it.
    pub(crate) fn get(
        &self,
        change: u64,
        request: &Q,
        make: impl FnOnce() -> Result<A, ApiError>,
    ) -> Result<Arc<A>, ApiError> {
        let lock = || model::lock(&self.0);
        if let Some((_, _, answer)) = lock().iter().find(|(q, c, _)| *c == change && q == request) {
            return Ok(Arc::clone(answer));
        }
        let answer = Arc::new(make()?);
        let mut kept = lock();
        kept.retain(|(q, c, _)| *c == change && q != request);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((request.clone(), change, Arc::clone(&answer)));
        Ok(answer)
    }
}
