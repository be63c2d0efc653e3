//! The words that schemas are made of: domain topics with their entities, fields, values and verbs, and other words for
//! each, so that nothing is ever renamed to noise.
