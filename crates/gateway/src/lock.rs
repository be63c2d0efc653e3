//! One way to take a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, also after a panic of another holder: every change under a lock in this crate leaves a valid state.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
