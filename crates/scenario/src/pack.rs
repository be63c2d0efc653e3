//! Packs: generated scenarios in a folder or a zip, with a manifest; written, and read lazily in place.
