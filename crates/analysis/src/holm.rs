//! Holm's correction of p-values.

/// Holm's correction of p-values for several tests (Holm 1979, Scand. J. Stat. 6:65; `p.adjust` in R).
///
/// An undefined p-value stays `None` and does not count as a test.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| p_values[*i].is_some()).collect();
    let p = |i: usize| p_values[i].unwrap_or(1.0);
    order.sort_by(|a, b| p(*a).total_cmp(&p(*b)));
    let mut adjusted = vec![None; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, i) in order.iter().enumerate() {
        highest = highest.max((order.len() - rank) as f64 * p(*i)).min(1.0);
        adjusted[*i] = Some(highest);
    }
    adjusted
}
