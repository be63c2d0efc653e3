//! Files that are said to carry a figure.

use std::fs;

use crate::app::TestHome;
use crate::hostile_kit::bounded_run::run;
use crate::hostile_kit::is_harmless;
use crate::hostile_kit::outside::Outside;

/// A Parquet file whose schema has these elements, and nothing else.
fn parquet(schema: &[&[u8]]) -> Vec<u8> {
    // The version, the schema, the number of rows, no row groups.
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    let mut count = schema.len();
    while count > 0x7f {
        footer.push(count as u8 | 0x80);
        count >>= 7;
    }
    footer.push(count as u8);
    footer.extend(schema.concat());
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = u32::try_from(footer.len()).expect("a small footer").to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

#[test]
// docs/security.md: The hostile kit
fn hostile_figures_do_no_harm() {
    let test_home = TestHome::new();
    let outside = Outside::new(&test_home);
    let (begin, end) = ("# Stamina Lab figure spec: begin", "# Stamina Lab figure spec: end");
    let ones = format!("version = 1\nx = [{}1]\n", "1,".repeat(15 << 20));
    let few_ones = format!("version = 1\nx = [{}1]\n", "1,".repeat(1 << 20));
    // An element without a type that states one child, and one that states two billion.
    let nested: &[u8] = &[0x35, 0, 0x18, 0, 0x15, 2, 0];
    let wide: &[u8] = &[0x48, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0];
    let keys = (0..200_000).fold(String::new(), |keys, n| keys + &format!("a.b.c{n}={n}\n"));
    let files: [(&str, &str, Vec<u8>); 9] = [
        ("millions of numbers", "a.toml", ones.clone().into_bytes()),
        ("a million numbers", "b.toml", few_ones.into_bytes()),
        ("very many keys", "c.toml", format!("version = 1\n{keys}").into_bytes()),
        ("deep keys", "d.toml", format!("version = 1\n{}b = 1\n", "a.".repeat(1 << 20)).into_bytes()),
        ("a picture of numbers", "e.svg", format!("<svg>\n{begin}\n{ones}\n{end}\n</svg>").into_bytes()),
        (
            "lines of comments",
            "f.tex",
            format!("\n% {begin}\n{}\n% {end}\n", "\n".repeat(40 << 20)).into_bytes(),
        ),
        ("a hundred thousand levels", "g.parquet", parquet(&vec![nested; 100_000])),
        ("two billion columns", "h.parquet", parquet(&[wide])),
        ("a giant", "i.toml", vec![b'\n'; 65 << 20]),
    ];
    for (label, name, bytes) in files {
        let path = test_home.path(name);
        fs::write(&path, bytes).expect("a file");
        let ran = run(&test_home, &["figure", &path.display().to_string(), "--out", "again.svg"]);
        is_harmless(label, &ran, &outside);
        assert!(!ran.status.success() && ran.output.contains("spec"), "{label}: {}", ran.output);
        fs::remove_file(&path).expect("it is removed");
    }
}
