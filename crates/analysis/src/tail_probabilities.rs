//! Tail probabilities and quantiles for tests and intervals. The special functions are those of `statrs`.

use statrs::distribution::{ContinuousCDF as _, StudentsT};
use statrs::function::{beta::checked_beta_reg, erf::erfc, gamma::checked_gamma_ur};

/// P(|Z| ≥ |z|) of the standard normal distribution.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2).clamp(0.0, 1.0)
}

/// P(X ≥ x) of the chi-squared distribution with `df` degrees of freedom. `None` if `df` is 0.
pub(crate) fn chi_squared_above(x: f64, df: u32) -> Option<f64> {
    if df == 0 || x.is_nan() {
        return None;
    }
    if x <= 0.0 {
        return Some(1.0);
    }
    checked_gamma_ur(f64::from(df) / 2.0, x / 2.0).ok().map(|p| p.clamp(0.0, 1.0))
}

/// P(|T| ≥ |t|) of Student's distribution with `df` degrees of freedom.
pub(crate) fn student_two_sided(t: f64, df: u32) -> Option<f64> {
    if df == 0 || t.is_nan() {
        return None;
    }
    if t == 0.0 {
        return Some(1.0);
    }
    let df = f64::from(df);
    checked_beta_reg(df / 2.0, 0.5, df / (df + t * t)).ok().map(|p| p.clamp(0.0, 1.0))
}

/// The 97.5 % quantile of Student's distribution: half the width of a 95 % interval in standard errors.
pub(crate) fn student_975(df: u32) -> Option<f64> {
    if df == 0 {
        return None;
    }
    StudentsT::new(0.0, 1.0, f64::from(df)).ok().map(|t| t.inverse_cdf(0.975))
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "numbers as R prints them")]
mod tests {
    use super::*;

    fn near(actual: Option<f64>, expected: f64) {
        let actual = actual.unwrap();
        assert!((actual - expected).abs() <= 1e-9 * expected.abs(), "{actual} is not {expected}");
    }

    #[test]
    fn r_agrees() {
        // R 4.2: options(digits = 15); pchisq(3.84, 1, lower = FALSE), …
        for (x, df, p) in CHI_SQUARED {
            near(chi_squared_above(x, df), p);
        }
        for (t, df, p) in STUDENT {
            near(student_two_sided(t, df), p);
        }
        for (df, q) in STUDENT_975 {
            near(student_975(df), q);
        }
        for (z, p) in NORMAL {
            near(Some(normal_two_sided(z)), p);
        }
    }

    #[test]
    fn without_degrees_of_freedom_all_is_unknown() {
        assert_eq!(
            (chi_squared_above(1.0, 0), student_two_sided(1.0, 0), student_975(0)),
            (None, None, None)
        );
    }

    const CHI_SQUARED: [(f64, u32, f64); 5] = [
        (0.01, 1, 0.920344325445942),
        (3.84, 1, 0.0500435212487052),
        (12.5, 2, 0.00193045413622771),
        (40.0, 7, 1.25879038737131e-06),
        (120.0, 3, 7.71679035563416e-26),
    ];
    const STUDENT: [(f64, u32, f64); 5] = [
        (0.1, 1, 0.936548965138893),
        (2.5, 4, 0.0667665448119881),
        (-4.0, 19, 0.000766192337228646),
        (12.0, 9, 7.69988622298564e-07),
        (30.0, 200, 5.72416120882784e-76),
    ];
    const STUDENT_975: [(u32, f64); 6] = [
        (1, 12.7062047361747),
        (2, 4.30265272974946),
        (5, 2.57058183563631),
        (19, 2.09302405440831),
        (199, 1.97195654425175),
        (5000, 1.96043855170651),
    ];
    const NORMAL: [(f64, f64); 4] = [
        (0.05, 0.960122388323255),
        (1.5, 0.133614402537716),
        (-3.2, 0.0013742758758317),
        (8.0, 1.24419211485436e-15),
    ];
}
