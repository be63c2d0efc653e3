//! An answer about the whole library that costs work, kept until something changes in the library.

use std::sync::{Arc, Mutex};

use model::lock;

use crate::{Result, Store};

/// The latest answer to a question, with the change of the library that it was made from.
#[derive(Debug)]
pub(crate) struct LatestAnswer<T>(Mutex<Option<(u64, Arc<T>)>>);

impl<T> Default for LatestAnswer<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl Store {
    /// The kept answer, if nothing has changed in the library since it was found; else a new one.
    ///
    /// Nothing is locked while it is found: two callers at once may both look.
    pub(crate) fn answer<T>(
        &self,
        latest: &LatestAnswer<T>,
        find: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        // Before the library is read: what is written meanwhile has a later number.
        let change = self.last_change()?;
        if let Some((made_from, answer)) = &*lock(&latest.0)
            && *made_from == change
        {
            return Ok(Arc::clone(answer));
        }
        let answer = Arc::new(find()?);
        *lock(&latest.0) = Some((change, Arc::clone(&answer)));
        Ok(answer)
    }
}
