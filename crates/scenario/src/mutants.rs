//! Mutants: servers that are wrong in one way. A suite is worth what it notices.
