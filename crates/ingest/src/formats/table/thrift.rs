//! The compact protocol of Thrift, as far as the heads in Parquet need it: structs are walked by what their fields have to be.

/// The kind on the wire that ends a struct.
const STOP: u8 = 0;

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// An `i32`; the visitor gets it under this name, 0 = not at all.
    Number(u8),
    /// An `i64`.
    Long,
    /// An `i8`.
    Byte,
    /// A `bool`.
    Flag,
    /// A `binary` or `string`.
    Bytes,
    /// A struct.
    Struct(&'static Spec),
}

/// The fields of a struct: number and kind.
#[derive(Debug)]
pub(super) struct Spec(pub(super) &'static [(i16, Kind)]);

/// A walk over bytes. Once something is not as it has to be, the walk is broken and nothing more is read.
#[derive(Debug)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    broken: bool,
}

impl<'a> Thrift<'a> {
    /// From their begin on.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, broken: false }
    }

    /// Whether something was not as it has to be, or the bytes ended.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Bytes that are not walked over.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Walks over a struct and tells its named numbers. A field that the struct does not have, or of another kind, breaks the
    /// walk.
    pub(super) fn structure(&mut self, spec: &'static Spec, tell: &mut dyn FnMut(u8, i64)) {
        let mut last = 0;
        loop {
            let Some((id, wire)) = self.field(last) else {
                self.broken = true;
                return;
            };
            if wire == STOP {
                return;
            }
            let Some((_, kind)) = spec.0.iter().find(|(known, _)| *known == id) else {
                self.broken = true;
                return;
            };
            if self.value(*kind, wire, tell).is_none() {
                self.broken = true;
            }
            if self.broken {
                return;
            }
            last = id;
        }
    }

    fn value(&mut self, kind: Kind, wire: u8, tell: &mut dyn FnMut(u8, i64)) -> Option<()> {
        match (kind, wire) {
            (Kind::Number(name), 5) => {
                // As the library takes it.
                let number = i64::from(self.number()? as i32);
                if name != 0 {
                    tell(name, number);
                }
            }
            (Kind::Long, 6) => {
                self.number()?;
            }
            (Kind::Byte, 3) => {
                self.byte()?;
            }
            (Kind::Flag, 1 | 2) => {}
            (Kind::Bytes, 8) => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.bytes = self.bytes.get(length..)?;
            }
            (Kind::Struct(spec), 12) => self.structure(spec, tell),
            _ => return None,
        }
        Some(())
    }

    /// The next field of a struct, by the number of the one before: its number and its kind on the wire, which is [`STOP`] at
    /// the end of the struct.
    pub(super) fn field(&mut self, last: i16) -> Option<(i16, u8)> {
        let head = self.byte()?;
        let wire = head & 0xf;
        if wire == STOP {
            return Some((last, STOP));
        }
        let id = match head >> 4 {
            0 => self.number()? as i16,
            delta => last.checked_add(i16::from(delta))?,
        };
        Some((id, wire))
    }

    /// The head of a list: the kind of its elements on the wire, and how many.
    pub(super) fn list(&mut self) -> Option<(u8, u32)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => u32::try_from(self.varint()?).ok()?,
            few => u32::from(few),
        };
        Some((head & 0xf, count))
    }

    /// A number with a sign.
    pub(super) fn number(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: Spec = Spec(&[(1, Kind::Number(2)), (2, Kind::Bytes)]);
    const OUTER: Spec = Spec(&[(1, Kind::Number(1)), (3, Kind::Struct(&INNER)), (20, Kind::Flag)]);

    fn walked(bytes: &[u8]) -> Option<Vec<(u8, i64)>> {
        let mut visited = Vec::new();
        let mut thrift = Thrift::new(bytes);
        thrift.structure(&OUTER, &mut |name, number| visited.push((name, number)));
        (!thrift.is_broken()).then_some(visited)
    }

    #[test]
    fn a_struct_is_walked_by_the_kinds_of_its_fields() {
        // 1: 150, 3: {1: -1, 2: "ab"}, 20: true.
        let bytes = [0x15, 0xac, 0x02, 0x2c, 0x15, 0x01, 0x18, 2, b'a', b'b', 0, 0x01, 40, 0];
        assert_eq!(walked(&bytes), Some(vec![(1, 150), (2, -1)]));
        for cut in 0..bytes.len() {
            assert_eq!(walked(&bytes[..cut]), None, "{cut}");
        }
        // A text where a number has to be, a field that is not known, a text that is longer than what there is.
        assert_eq!(walked(&[0x18, 1, b'a', 0]), None);
        assert_eq!(walked(&[0x25, 2, 0]), None);
        assert_eq!(walked(&[0x3c, 0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), None);
    }
}
