//! Timestamps of records.

use std::time::SystemTime;

/// Now, RFC 3339 in UTC with milliseconds.
pub fn now() -> String {
    model::timestamp::to_the_millisecond(SystemTime::now())
}
