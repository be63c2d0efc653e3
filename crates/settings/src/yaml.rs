//! What a file of YAML may make its reader do. The same budget holds for settings and for packs.

/// Options of the reader: one document, no anchors, bounded in depth and nodes.
pub fn options() -> serde_saphyr::Options {
    serde_saphyr::Options {
        budget: Some(serde_saphyr::Budget {
            max_events: 2_000_000,
            max_nodes: 1_000_000,
            max_depth: 64,
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
            max_documents: 1,
            ..serde_saphyr::Budget::default()
        }),
        ..serde_saphyr::Options::default()
    }
}
