//! What results are called whose folder was zipped.

/// The ending of zips, the only archives that are opened.
const ENDING: &str = ".zip";

/// The name of what was zipped, by that of the zip: without its ending. A name that is nothing else stays as it is.
///
/// Only for zips: a folder may be called `x.zip`, which is its name.
pub fn zipped_name(zip: &str) -> &str {
    let parts = zip.len().checked_sub(ENDING.len()).and_then(|end| zip.split_at_checked(end));
    match parts {
        Some((name, ending)) if ending.eq_ignore_ascii_case(ENDING) && !name.is_empty() => name,
        _ => zip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ending_of_a_zip_is_left_out_and_only_once() {
        for (zip, name) in [
            ("evo.zip", "evo"),
            ("evo.ZIP", "evo"),
            ("evo.v2.zip", "evo.v2"),
            ("evo.zip.zip", "evo.zip"),
            (".zip", ".zip"),
            ("evo", "evo"),
            ("zip", "zip"),
            ("", ""),
            ("evo.tar", "evo.tar"),
            ("größe", "größe"),
        ] {
            assert_eq!(zipped_name(zip), name, "{zip}");
        }
    }
}
