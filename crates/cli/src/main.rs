//! stamina
fn main() {}
