"""Writes crates/analysis/src/locobench/word.rs: the characters beyond ASCII that `\\w` of this Python's `re` matches.

    python3 bench/locobench/word_ranges.py
"""

import pathlib
import re

TARGET = pathlib.Path(__file__).resolve().parents[2] / "crates/analysis/src/locobench/word.rs"
WIDTH = 108


def main():
    ranges = []
    for code in range(0x80, 0x110000):
        if 0xD800 <= code < 0xE000 or not re.match(r"\w", chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    lines, line = [], "   "
    for first, last in ranges:
        pair = f" (0x{first:x}, 0x{last:x}),"
        if len(line + pair) > WIDTH:
            lines.append(line)
            line = "   "
        line += pair
    lines.append(line)
    head, _ = TARGET.read_text(encoding="utf-8").split("pub(super) const RANGES")
    body = f"pub(super) const RANGES: [(u32, u32); {len(ranges)}] = [\n" + "\n".join(lines) + "\n];\n"
    TARGET.write_text(head + body, encoding="utf-8")


main()
