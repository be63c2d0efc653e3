//! Slugs.
