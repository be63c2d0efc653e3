//! Fields of JSON objects that are not understood: their names made alike, their values kept while they are small.

use model::Extra;
use serde_json::Value;

use crate::readers::json::Node;

/// Most unknown fields that are kept of one object.
pub(super) const EXTRA_CAP: usize = 64;

/// A key in lower case, words joined by `_`.
pub(super) fn normal(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    let mut after_lower = false;
    for c in key.chars().take(80) {
        if c.is_uppercase() && after_lower {
            out.push('_');
        }
        after_lower = c.is_lowercase() || c.is_ascii_digit();
        out.extend(if matches!(c, '-' | ' ' | '.') { '_' } else { c }.to_lowercase());
    }
    out
}

/// An unknown value, kept as it stands while it is small.
pub(super) fn kept_value(node: &Node) -> Value {
    fn size(node: &Node, left: &mut usize) {
        let own = match node {
            Node::Text(text, _) => text.len() / 16,
            _ => 1,
        };
        *left = left.saturating_sub(own.max(1));
        if *left > 0 {
            node.list().iter().for_each(|n| size(n, left));
            node.map().iter().for_each(|(_, n)| size(n, left));
        }
    }
    let mut left = 256;
    size(node, &mut left);
    if left > 0 {
        return node.to_value();
    }
    Value::String(match node {
        Node::Text(text, cut) => {
            let (head, more) = crate::readers::json::cut(text, 2_000);
            format!("{head}… ({} bytes cut)", cut + more)
        }
        Node::List(list) => format!("(a list of {}, not kept)", list.len()),
        _ => format!("(an object of {}, not kept)", node.map().len()),
    })
}

/// Fields of an object that are small, for places where nothing is interpreted.
pub(super) fn plain(node: &Node, skip: &[&str]) -> Extra {
    node.map()
        .iter()
        .filter(|(k, v)| !skip.contains(&normal(k).as_str()) && *v != Node::Null)
        .take(EXTRA_CAP)
        .map(|(k, v)| (k.clone(), kept_value(v)))
        .collect::<serde_json::Map<String, Value>>()
}
