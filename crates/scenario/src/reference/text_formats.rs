//! Forms of text: date-times and patterns, checked by hand (as fast as they come, without a regex engine).

use crate::ir::Pattern;

/// `YYYY-MM-DDTHH:MM:SSZ`, and a date and time that exist.
pub(super) fn is_date_time(text: &str) -> bool {
    if !looks_like_date_time(text) {
        return false;
    }
    let number = |start: usize, end: usize| text.get(start..end).and_then(|part| part.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (number(11, 13), number(14, 16), number(17, 19)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    year >= 1 && (1..=days).contains(&day) && hour < 24 && minute < 60 && second < 60
}

/// Digits and signs in their places.
pub(super) fn looks_like_date_time(text: &str) -> bool {
    const FORM: &[u8; 20] = b"0000-00-00T00:00:00Z";
    text.len() == FORM.len()
        && text.bytes().zip(FORM).all(|(b, form)| match form {
            b'0' => b.is_ascii_digit(),
            _ => b == *form,
        })
}

/// Whether the whole text has the form; the same as [`Pattern::regex`].
pub(super) fn matches(pattern: Pattern, text: &str) -> bool {
    let all = |text: &str, allowed: fn(u8) -> bool| text.bytes().all(allowed);
    let digits = |text: &str| all(text, |b| b.is_ascii_digit());
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match pattern {
        Pattern::Code => text.split_once('-').is_some_and(|(letters, number)| {
            letters.len() == 3
                && all(letters, |b| b.is_ascii_uppercase())
                && number.len() == 4
                && digits(number)
        }),
        Pattern::Slug => text.split('-').all(|word| !word.is_empty() && all(word, lower)),
        Pattern::Email => text.split_once('@').is_some_and(|(user, host)| {
            host.split_once('.').is_some_and(|(name, top)| {
                !user.is_empty()
                    && all(user, |b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.')
                    && !name.is_empty()
                    && all(name, lower)
                    && (2..=6).contains(&top.len())
                    && all(top, |b| b.is_ascii_lowercase())
            })
        }),
        Pattern::Phone => {
            text.strip_prefix('+').is_some_and(|number| (7..=12).contains(&number.len()) && digits(number))
        }
        Pattern::Color => text.strip_prefix('#').is_some_and(|hex| {
            hex.len() == 6 && all(hex, |b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        }),
        Pattern::PostalCode => text.len() == 5 && digits(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_match_and_counterexamples_do_not() {
        for pattern in Pattern::ALL {
            for n in [1, 42, 999] {
                let sample = pattern.sample(n);
                assert!(matches(pattern, &sample), "{sample}");
                assert!(!matches(pattern, &format!("{sample}\n")), "{sample} and a line");
                assert!(!matches(pattern, &format!(" {sample}")), "a space and {sample}");
            }
            assert!(!matches(pattern, pattern.counterexample()));
            assert!(!matches(pattern, ""));
        }
        for text in
            ["ann@example.org.uk", "a@b@c.de", "ann@.org", "@b.de", "ann@example.o", "Ann@example.org"]
        {
            assert!(!matches(Pattern::Email, text), "{text}");
        }
        for text in ["a--b", "-a", "a-", "é"] {
            assert!(!matches(Pattern::Slug, text), "{text}");
        }
    }

    #[test]
    fn only_real_dates_in_one_form_are_date_times() {
        for text in ["2024-02-29T00:00:00Z", "2000-02-29T23:59:59Z", "1999-12-31T12:30:00Z"] {
            assert!(is_date_time(text), "{text}");
        }
        for text in [
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2024-04-31T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T00:00:00+00:00",
            "2024-01-01T00:00:00.000Z",
            "2024-01-01T00:00:00",
            "2024-01-01",
            "tomorrow",
            "",
        ] {
            assert!(!is_date_time(text), "{text}");
        }
    }
}
