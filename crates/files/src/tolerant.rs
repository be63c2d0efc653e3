//! What other programs write as JSON and strict JSON refuses, put right so that the rest of a file can be read.
//!
//! Python's `json` writes `NaN`, `Infinity`, integers of any length and halves of characters (`"\ud83d"`), and files
//! that were edited or merged have a name twice in one object. A value that is no number, or is beyond 64 bits, becomes
//! `null`: unknown. So does an object or list that lies deeper than the strict parser goes. Half of a character becomes U+FFFD. Of a name that an object has twice the last one counts, as for
//! Python and JavaScript.
//!
//! Only a file that the strict parser refused comes here. It is looked through once ([`Findings::from_reader`]) and then parsed
//! through [`RepairedJson`]; both stream, so memory is bounded by the bounds below, whatever the file holds.

mod bytes;
mod findings;
mod members;

use std::io::{self, Read};
use std::ops::Range;

use self::bytes::JsonRepairer;
pub use self::findings::BEYOND_64_BITS;
pub(super) use self::findings::Findings;
use self::members::Members;

const PIECE: usize = 16 << 10;

impl Findings {
    /// Looks a file through, up to what no parser takes anyway: a file full of harm is not looked at to its end.
    pub(super) fn from_reader(mut reader: impl Read) -> io::Result<Self> {
        let (mut repairer, mut members) = (JsonRepairer::default(), Members::default());
        let (mut piece, mut out) = (vec![0; PIECE], Vec::new());
        loop {
            let read_bytes = reader.read(&mut piece)?;
            if read_bytes == 0 || repairer.is_lost {
                break;
            }
            for byte in &piece[..read_bytes] {
                repairer.take(*byte, &mut out);
                members.take(*byte);
            }
            out.clear();
        }
        repairer.end(&mut out);
        let (repeated, superseded) = members.superseded_ranges();
        Ok(Self { repeated, superseded, ..repairer.found })
    }
}

/// Passes a file on as strict JSON, by what was found in it.
#[derive(Debug)]
pub(super) struct RepairedJson<'a, R> {
    inner: R,
    /// Bytes of `inner` that were read.
    position: u64,
    /// What is still to be left out.
    superseded: &'a [Range<u64>],
    repairer: JsonRepairer,
    piece: Vec<u8>,
    out: Vec<u8>,
    /// Bytes of `out` that were passed on.
    out_position: usize,
    ended: bool,
}

impl<'a, R: Read> RepairedJson<'a, R> {
    /// Reads from `inner` the same bytes in which `findings` were made.
    pub(super) fn new(inner: R, findings: &'a Findings) -> Self {
        Self {
            inner,
            position: 0,
            superseded: &findings.superseded,
            repairer: JsonRepairer::default(),
            piece: vec![0; PIECE],
            out: Vec::new(),
            out_position: 0,
            ended: false,
        }
    }

    fn is_left_out(&mut self) -> bool {
        while self.superseded.first().is_some_and(|range| range.end <= self.position) {
            self.superseded = &self.superseded[1..];
        }
        self.superseded.first().is_some_and(|range| range.contains(&self.position))
    }
}

impl<R: Read> Read for RepairedJson<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.out_position == self.out.len() && !self.ended {
            self.out.clear();
            self.out_position = 0;
            let read_bytes = self.inner.read(&mut self.piece)?;
            for index in 0..read_bytes {
                let byte = self.piece[index];
                if !self.is_left_out() {
                    self.repairer.take(byte, &mut self.out);
                }
                self.position += 1;
            }
            if read_bytes == 0 {
                self.repairer.end(&mut self.out);
                self.ended = true;
            }
        }
        let most = buffer.len().min(self.out.len() - self.out_position);
        buffer[..most].copy_from_slice(&self.out[self.out_position..self.out_position + most]);
        self.out_position += most;
        Ok(most)
    }
}

#[cfg(test)]
mod tests;
