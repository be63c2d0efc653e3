//! Texts that are kept within bounds.

/// A text of at most about `cap` bytes: its head and its end, and between them how much was left out.
pub(crate) fn head_and_tail(bytes: &[u8], cap: usize) -> Vec<u8> {
    if bytes.len() <= cap {
        return bytes.to_vec();
    }
    let half = cap / 2;
    // Cut at lines where there are any nearby.
    let head_end = bytes[..half].iter().rposition(|b| *b == b'\n').filter(|index| *index + 4096 > half);
    let head = &bytes[..head_end.map_or(half, |index| index + 1)];
    let tail_start = bytes.len() - half;
    let tail_begin = bytes[tail_start..].iter().position(|b| *b == b'\n').filter(|index| *index < 4096);
    let tail = &bytes[tail_start + tail_begin.map_or(0, |index| index + 1)..];
    let left_out = bytes.len() - head.len() - tail.len();
    let mut out = head.to_vec();
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out.extend_from_slice(format!("… {left_out} bytes are left out here …\n").as_bytes());
    out.extend_from_slice(tail);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_both_ends_and_say_what_is_missing() {
        assert_eq!(head_and_tail(b"short", 10), b"short");
        let long: Vec<u8> = (0..1000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let kept = String::from_utf8(head_and_tail(&long, 200)).unwrap();
        assert!(kept.starts_with("line 0\n") && kept.ends_with("line 999\n"));
        assert!(kept.contains("bytes are left out here") && kept.len() < 300, "{kept}");
        assert!(head_and_tail(&[b'x'; 10_000], 100).len() < 200);
    }
}
