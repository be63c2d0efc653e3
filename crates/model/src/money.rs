//! Amounts of money for people.

/// US dollars as a person reads them: `$12.35`, and what cents cannot say with two significant digits, or with one below
/// `$0.0095`: `$0.050`, `$0.003`.
pub fn dollars(usd: f64) -> String {
    format!("${}", amount_in_dollars(usd))
}

/// The same without its sign of currency.
pub fn amount_in_dollars(usd: f64) -> String {
    let size = usd.abs();
    if size == 0.0 || size >= 0.0995 || !size.is_finite() {
        return format!("{usd:.2}");
    }
    // Below that, one digit would say the same as a cent.
    let further = usize::from(size >= 0.0095);
    let rounded = format!("{usd:.further$e}");
    let exponent = rounded.rsplit_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    if let Some(exponent @ -6..) = exponent {
        let decimals = further + exponent.unsigned_abs() as usize;
        format!("{usd:.decimals$}")
    } else {
        rounded
    }
}

/// What something cost, for people: a simulated model has no cost, whatever its source counts; else as `words` writes the dollars,
/// or `unknown`. `costInWords` of the pages follows the same rule.
pub fn cost_in_words(usd: Option<f64>, simulated: bool, words: impl FnOnce(f64) -> String) -> String {
    match usd {
        _ if simulated => "no cost".to_owned(),
        Some(usd) => words(usd),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_amount_is_not_nothing() {
        let amounts = [0.0, 0.003, 0.002_991, 0.05, 0.0999, 1.5, 12.345, 0.000_000_4];
        assert_eq!(
            amounts.map(dollars),
            ["$0.00", "$0.003", "$0.003", "$0.050", "$0.10", "$1.50", "$12.35", "$4e-7"]
        );
        // The test of the pages has the same amounts.
        let edges = [0.000_000_96, 0.000_96, 0.0094, 0.0096, 0.009_96, 0.01, 0.0994];
        assert_eq!(
            edges.map(dollars),
            ["$0.000001", "$0.001", "$0.009", "$0.0096", "$0.010", "$0.010", "$0.099"]
        );
        assert_eq!(amount_in_dollars(0.003), "0.003");
    }

    #[test]
    fn a_simulated_model_has_no_cost_whatever_is_counted() {
        let costs = [(None, true), (Some(0.2), true), (None, false), (Some(1.5), false)];
        assert_eq!(
            costs.map(|(usd, simulated)| cost_in_words(usd, simulated, dollars)),
            ["no cost", "no cost", "unknown", "$1.50"]
        );
    }
}
