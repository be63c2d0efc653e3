//! What a container prints: the head and the tail are kept, the middle is counted and dropped, so that a gigabyte of output
//! costs no more memory than a line.

use std::collections::VecDeque;

/// One stream of a container.
pub(crate) struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes for each of head and tail.
    half: usize,
    total: u64,
}

impl KeptOutput {
    /// Keeps `cap` bytes: the first half and the last half of them.
    pub(crate) fn new(cap: u64) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            half: usize::try_from(cap / 2).unwrap_or(usize::MAX),
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Of a piece longer than the tail only its end can stay.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Bytes that came in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Head and tail; between them, where something is missing, a line that says how much.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let dropped = self.total - (self.head.len() + self.tail.len()) as u64;
        let mut all = self.head;
        if dropped > 0 {
            all.extend_from_slice(format!("\n[{dropped} bytes dropped here]\n").as_bytes());
        }
        all.extend(self.tail);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_and_total(cap: u64, pieces: &[&[u8]]) -> (String, u64) {
        let mut kept = KeptOutput::new(cap);
        for piece in pieces {
            kept.push(piece);
        }
        let total = kept.total();
        (String::from_utf8(kept.into_bytes()).unwrap(), total)
    }

    #[test]
    fn what_fits_is_kept_whole() {
        assert_eq!(text_and_total(8, &[b"abc", b"defgh"]), ("abcdefgh".to_owned(), 8));
        assert_eq!(text_and_total(8, &[]), (String::new(), 0));
    }

    #[test]
    fn the_middle_goes_and_is_counted() {
        assert_eq!(
            text_and_total(8, &[b"abcdef", b"ghi", b"jklmnop"]),
            ("abcd\n[8 bytes dropped here]\nmnop".to_owned(), 16)
        );
        assert_eq!(text_and_total(4, &[b"0123456789"]), ("01\n[6 bytes dropped here]\n89".to_owned(), 10));
    }

    #[test]
    fn memory_stays_within_the_cap() {
        let mut kept = KeptOutput::new(1 << 16);
        let piece = vec![b'x'; 100_000];
        for _ in 0..1_000 {
            kept.push(&piece);
        }
        assert_eq!(kept.total(), 100_000_000);
        assert!(kept.head.capacity() <= 1 << 17 && kept.tail.capacity() <= 1 << 17);
    }
}
