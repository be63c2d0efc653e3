//! The one way to take a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, also after another holder of it panicked. Whoever uses it leaves a valid state after every change under the
/// lock, so there is nothing to recover from.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_taken_after_another_holder_panicked() {
        let counter = Mutex::new(1);
        let panicked = std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                *lock(&counter) += 1;
                let _held = lock(&counter);
                panic!("while the lock is held");
            });
            holder.join().is_err()
        });
        assert!(panicked && counter.is_poisoned());
        assert_eq!(*lock(&counter), 2);
    }
}
