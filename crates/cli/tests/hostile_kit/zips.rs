//! Zips whose entries lie.

use std::fs;
use std::io::Write as _;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::is_harmless;
use crate::hostile_kit::outside::Outside;

/// A zip of empty, stored entries; `begin` says where an entry claims to lie, by where it lies.
fn zip_of_names(names: impl Iterator<Item = String>, begin: impl Fn(usize) -> usize) -> Vec<u8> {
    let (mut out, mut list, mut count) = (Vec::new(), Vec::new(), 0_u64);
    for name in names {
        let length = u16::try_from(name.len()).expect("a short name").to_le_bytes();
        let fields = [&[20, 0, 0, 8, 0, 0, 0, 0, 0, 0][..], &[0; 12], &length, &[0; 2]].concat();
        let offset = u32::try_from(begin(out.len())).expect("a small zip").to_le_bytes();
        out.extend([b"PK\x03\x04", &fields[..], name.as_bytes()].concat());
        list.extend([b"PK\x01\x02\x14\x03", &fields[..], &[0; 10], &offset, name.as_bytes()].concat());
        count += 1;
    }
    let (begins, length) = (out.len() as u64, list.len() as u64);
    out.extend(list);
    let end = out.len() as u64;
    out.extend(b"PK\x06\x06");
    for (number, bytes) in
        [(44, 8), (45, 2), (45, 2), (0, 4), (0, 4), (count, 8), (count, 8), (length, 8), (begins, 8)]
    {
        out.extend(&u64::to_le_bytes(number)[..bytes]);
    }
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(end.to_le_bytes());
    out.extend([1, 0, 0, 0]);
    out.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    out
}

#[test]
// docs/security.md: The hostile kit
fn hostile_zips_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let zips = [
        (
            "names of many folders",
            zip_of_names((0..60_000).map(|n| format!("{n:x}/{}f", "a/".repeat(28))), |offset| offset),
        ),
        (
            "long names of folders",
            zip_of_names(
                (0..2_500).map(|n| format!("{n}/{}f", "long-name-of-a-folder-/".repeat(28))),
                |offset| offset,
            ),
        ),
        ("very many entries", zip_of_names((0..200_000).map(|n| format!("{n:x}")), |offset| offset)),
        (
            "entries that lie nowhere",
            zip_of_names((0..100_000).map(|n| format!("{n:x}/a")), |offset| offset + (1 << 30)),
        ),
        ("entries in one place", zip_of_names((0..100_000).map(|n| format!("{n:x}/a")), |_| 0)),
        (
            "names that lead out",
            zip_of_names((0..1000).map(|n| format!("../{n}/home/.profile")), |offset| offset),
        ),
    ];
    for (label, bytes) in zips {
        let path = test_home.path("hostile.zip");
        fs::File::create(&path).and_then(|mut file| file.write_all(&bytes)).expect("a zip");
        let ran = run(&test_home, &["ingest", "hostile.zip"]);
        is_harmless(label, &ran, &outside);
        assert!(!ran.status.success(), "{label}: there are no results in it");
    }
}
