//! How names are written: lower-case words joined by `_`, cased for paths and JSON.

/// Names that mean something in every API and cannot be given to a field, parameter, entity or analytic.
pub const RESERVED: [&str; 16] = [
    "id",
    "deleted",
    "sort",
    "page",
    "page_size",
    "limit",
    "offset",
    "include_deleted",
    "analytics",
    "reset",
    "value",
    "groups",
    "key",
    "items",
    "total",
    "error",
];

/// Whether this is a name or key: 1 to 40 characters, lower-case ASCII words joined by single `_`, beginning with a
/// letter; digits only after the first letter of a word; not reserved, and not of the forms that filters take
/// (`min_…`, `max_…`, `…_contains`).
pub fn is_name(name: &str) -> bool {
    name.len() <= 40
        && name.split('_').all(|word| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
        && !RESERVED.contains(&name)
        && !name.starts_with("min_")
        && !name.starts_with("max_")
        && !name.ends_with("_contains")
}

/// `order_item` → `orderItem`.
pub fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, word) in name.split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if index > 0 => out.push(first.to_ascii_uppercase()),
            Some(first) => out.push(first),
            None => {}
        }
        out.push_str(letters.as_str());
    }
    out
}

/// `order_item` → `order-item`.
pub fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// `order_item` → `order item`, for texts.
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_every_case() {
        assert_eq!(camel("order_item_2x"), "orderItem2x");
        assert_eq!(kebab("order_item"), "order-item");
        assert_eq!(words("order_item"), "order item");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in [
            "",
            "_a",
            "a_",
            "a__b",
            "Order",
            "order-item",
            "2nd",
            "min_price",
            "max_price",
            "title_contains",
            "id",
            "page",
        ] {
            assert!(!is_name(name), "{name}");
        }
        for name in ["order", "order_item", "iso2_code", "minimum_price"] {
            assert!(is_name(name), "{name}");
        }
    }
}
