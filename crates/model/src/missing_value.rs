//! Words that programs write where a table has no value.

/// As R, pandas, Python, polars and databases write a value that is missing. Words of people (`unknown`, `none`) are none of
/// them.
const MISSING: [&str; 8] = ["NA", "NaN", "nan", "<NA>", "NaT", "None", "null", "NULL"];

/// Whether a text is what a program writes where there is no value: R's `write.csv` has `NA` in each cell that was empty.
pub fn is_missing_value(text: &str) -> bool {
    MISSING.contains(&text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_people_are_values() {
        for text in ["NA", " NaN ", "<NA>", "None", "NULL"] {
            assert!(is_missing_value(text), "{text}");
        }
        for text in ["", "none", "na", "unknown", "NA: wrong image", "-"] {
            assert!(!is_missing_value(text), "{text}");
        }
    }
}
