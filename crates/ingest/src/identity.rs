//! What tells an episode from all others and is the same for its copies, wherever they lie.

use files::Stamp;

/// The identity of an episode that its source gives an id, made of the parts that name it.
pub fn of_id(parts: &[&str]) -> String {
    let stamp = parts.iter().fold(Stamp::new(), |stamp, part| stamp.text(part)).finish();
    format!("id-{stamp:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_between_parts_count() {
        assert_eq!(of_id(&["a", "b"]), of_id(&["a", "b"]));
        assert_ne!(of_id(&["a", "b"]), of_id(&["ab"]));
    }
}
