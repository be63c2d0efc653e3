//! Numbers in figures.

/// A number with this number of decimals, separated thousands, and a minus sign (−).
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    if value.abs() >= 1e15 {
        return format!("{value:.1e}").replace('-', "−");
    }
    // Numbers of this size would take too much room.
    if value.abs() >= 1e7 {
        return amount(value);
    }
    in_full(value, decimals)
}

/// The same for any size, for tables.
pub(crate) fn in_full(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(w, r)| (w, Some(r)));
    let mut out = String::new();
    // A number that rounds to zero has no sign.
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    out.push_str(&thousands(whole));
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A whole number with separated thousands: `84,000`.
pub(crate) fn whole(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", thousands(&number.unsigned_abs().to_string()))
}

/// The digits of a whole number, with separated thousands.
pub fn thousands(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A measured amount with three significant digits: `0.0042`, `4.20`, `42.0`, `4,200`, `2.31 M`.
pub(crate) fn amount(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 || !value.is_finite() {
        return decimal(value, 0);
    }
    for (least, unit) in [(1e12, "T"), (1e9, "G"), (1e6, "M")] {
        if size >= 0.9995 * least {
            return format!("{} {unit}", three(value / least));
        }
    }
    three(value)
}

fn three(value: f64) -> String {
    let size = value.abs();
    let decimals = if size == 0.0 || size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else {
        // 0.0042: two significant digits, at most six decimals.
        (1.0 - size.log10().floor()).clamp(2.0, 6.0) as usize
    };
    decimal(value, decimals)
}

/// An interval in brackets: `[−4.20, −0.84]`; `[2.33, n/a]` of a ratio that is unbounded; `[n/a]` where there is none.
pub(crate) fn interval(low: Option<f64>, high: Option<f64>, decimals: usize) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("[{}, {}]", decimal(low, decimals), decimal(high, decimals)),
        (Some(low), None) => format!("[{}, n/a]", decimal(low, decimals)),
        _ => "[n/a]".to_owned(),
    }
}

/// A p value in the style of papers: `p = 0.032`, `p < 0.001`; `n/a` without one. `pValue` of the pages has the same words.
pub fn p_value(p: Option<f64>) -> String {
    let text = p_number(p);
    match text.chars().next() {
        Some('n') => text,
        Some('<' | '>') => format!("p {text}"),
        _ => format!("p = {text}"),
    }
}

/// The same under the head of its column: `0.032`, `< 0.001`.
pub fn p_number(p: Option<f64>) -> String {
    match p {
        None => "n/a".to_owned(),
        Some(p) if !(0.0..=1.0).contains(&p) => "n/a".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) if p > 0.995 && p < 1.0 => "> 0.99".to_owned(),
        Some(p) if p >= 0.1 => format!("{p:.2}"),
        Some(p) => format!("{p:.3}"),
    }
}

/// A share in percent: `34 %`. A share that rounds to 0 or 100, but is not exact, shows this.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "n/a".to_owned();
    }
    let value = part as f64 / whole as f64 * 100.0;
    if part > 0 && value < 0.5 {
        "< 1 %".to_owned()
    } else if part < whole && value > 99.5 {
        "> 99 %".to_owned()
    } else {
        format!("{value:.0} %")
    }
}

/// A share with two decimals. A share that rounds to 0 or 1, but is not exact, shows this.
pub(crate) fn share(value: f64) -> String {
    if value > 0.0 && value < 0.005 {
        "< 0.01".to_owned()
    } else if (0.995..1.0).contains(&value) {
        "> 0.99".to_owned()
    } else {
        format!("{value:.2}")
    }
}

/// A share alive with its band: `0.36 (0.18–0.54)`.
pub(crate) fn share_with_band(value: f64, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} ({}–{})", share(value), share(low), share(high)),
        _ => share(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_whole_numbers_stand_apart() {
        assert_eq!([0, 999, 1000, -1_234_567].map(whole), ["0", "999", "1,000", "−1,234,567"]);
    }

    #[test]
    fn rounding_never_turns_something_into_nothing() {
        assert_eq!([0.0, 0.004, 0.36, 0.996, 1.0].map(share), ["0.00", "< 0.01", "0.36", "> 0.99", "1.00"]);
    }

    #[test]
    fn amounts_keep_three_figures() {
        let words =
            [0.0, 0.0042, 0.42, 4.2, 42.0, 420.0, 4_200.0, 84_213.0, 2_310_000.0, 4.5e9, -3.145].map(amount);
        assert_eq!(
            words,
            ["0", "0.0042", "0.42", "4.20", "42.0", "420", "4,200", "84,213", "2.31 M", "4.50 G", "−3.15"]
        );
        assert_eq!([999_999.0, 0.99999, 1e-9, 1e300].map(amount), ["1.00 M", "1.00", "0.000000", "1.0e300"]);
    }

    #[test]
    fn signs_and_intervals() {
        assert_eq!(decimal(-0.004, 2), "0.00");
        assert_eq!(decimal(-1234.5, 1), "−1,234.5");
        assert_eq!(interval(Some(-4.2), Some(-0.84), 2), "[−4.20, −0.84]");
        assert_eq!(interval(None, Some(1.0), 2), "[n/a]");
        assert_eq!(interval(Some(2.333), None, 2), "[2.33, n/a]");
        assert_eq!(
            [Some(0.000_04), Some(0.0321), Some(0.5), Some(0.999), Some(1.0), None].map(p_value),
            ["p < 0.001", "p = 0.032", "p = 0.50", "p > 0.99", "p = 1.00", "n/a"]
        );
        // Ends of ranges, and halves, which are rounded to even.
        assert_eq!(
            [0.000_999, 0.001, 0.0999, 0.1, 0.9951, 0.0625, 0.125, 0.375].map(|p| p_value(Some(p))),
            [
                "p < 0.001",
                "p = 0.001",
                "p = 0.100",
                "p = 0.10",
                "p > 0.99",
                "p = 0.062",
                "p = 0.12",
                "p = 0.38"
            ]
        );
        assert_eq!([1.5, f64::NAN].map(|p| p_value(Some(p))), ["n/a", "n/a"]);
        assert_eq!(
            [percent(1, 1000), percent(34, 100), percent(999, 1000), percent(0, 5), percent(0, 0)],
            ["< 1 %", "34 %", "> 99 %", "0 %", "n/a"]
        );
    }
}
