"""Shows that the vectors of `vectors.py` tell the rules from every single-rule change of them.

    python3 bench/locobench/mutants.py

`restated.py` agrees with the original's figures on all vectors; each change below, made to it alone, does not on at least one.
Exit code 1 if a change is not told.
"""

import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = json.loads((HERE.parents[1] / "crates/analysis/tests/golden/locobench.json").read_text(encoding="utf-8"))["vectors"]
SOURCE = (HERE / "restated.py").read_text(encoding="utf-8")

# What stands in restated.py, and what a wrong build may have instead.
CHANGES = [
    # M1
    ("        return 0.5\n    kinds", "        return 1.0\n    kinds"),
    ("len(parts[-1]) > 2", "len(parts[-1]) > 1"), ("len(parts[-1]) > 2", "len(parts[-1]) > 3"),
    ("len(parts[-1]) > 2", "len(parts[-1].encode()) > 2"), ('"_".join(parts[-2:])', "parts[-1]"),
    ('"_".join(parts[-2:])', '"_".join(parts[-3:])'), ('"_".join(parts[-2:])', '"_".join(parts)'),
    ("math.log(len(log) + 1) + 1", "math.log(len(log) + 1)"), ("math.log(len(log) + 1) + 1", "math.log(len(log)) + 1"),
    ("math.log(len(log) + 1)", "math.log2(len(log) + 1)"), ("+ 1), 0.2, 1.0)", "+ 1), 0.0, 1.0)"),
    ("+ 1), 0.2, 1.0)", "+ 1), 0.2, 9.0)"), ("kinds = set()", "kinds = set(['file'])"),
    # M2
    ("len(history) < 3", "len(history) < 4"), ("len(history) < 3", "len(history) < 2"),
    *[(f'"{p}"' + c, "") for p, c in [("previously", ", "), ("earlier", ", "), ("before", ", "), ("as mentioned", ", "), ("as discussed", ", "),
                                      ("recall", ", "), ("remember", ", "), ("we did", ", ")]],
    (', "we discussed"', ""), ("hits = sum(any(", "hits = sum(sum("), ("len(answers) // 3, 5", "len(answers) // 2, 5"), ("len(answers) // 3, 5", "len(answers) // 3, 4"),
    ("len(answers) // 3, 5", "len(answers) // 3, 6"), ("len(answers) // 3", "len(answers) / 3"), ("len(answers) // 3", "len(history) // 3"),
    ("min(1.0, hits /", "(hits /"), ("if answers else 0.5", "if answers else 0.0"), ("if answers else 0.5", "if answers else 1.0"),
    ("i % 3 == 0", "i % 2 == 0"), ("i % 3 == 0", "i % 3 == 1"), ("[:5]", "[:4]"), ("[:5]", "[:6]"), ("[:5]", ""),
    ("enumerate(history) if i", "enumerate([m for m in history if m['role'] == 'assistant']) if i"),
    ("len(w) > 4", "len(w) > 3"), ("len(w) > 4", "len(w) > 5"), ("len(w) > 4", "len(w.encode()) > 4"), ("a.split()", "a.split(' ')"),
    ("a.split()", "a.encode().split()"), ("a.split()", "re.findall(r'[^ \\t\\n\\r\\f\\v]+', a)"), 
    ("len(a | b)", "max(len(a), len(b))"), ("if a and b]", "if a or b]"), ("zip(vocabularies, vocabularies[1:])", "zip(vocabularies, vocabularies[2:])"),
    ("mean(pairs, 0.5)", "mean(pairs, 1.0)"), ("mean(pairs, 0.5)", "mean(pairs, 0.0)"), ("0.5 * references + 0.5", "0.6 * references + 0.4"),
    ("mean(pairs, 0.5), 0.3", "mean(pairs, 0.5), 0.0"), ('answers = [str(m["content"]).lower()', 'answers = [str(m["content"])'),
    ('sample = [str(m["content"]).lower()', 'sample = [str(m["content"])'),
    # M3
    ("len(files) < 2", "len(files) < 1"), ("len(files) < 2", "len(files) < 3"), (r"\b[a-z]+_[a-z_]+\b", r"[a-z]+_[a-z_]+"),
    (r"\b[a-z]+_[a-z_]+\b", r"(?a:\b)[a-z]+_[a-z_]+(?a:\b)"), (r"\b[a-z]+_[a-z_]+\b", r"\b[a-z]+_[a-z]+\b"), (r"\b[a-z]+_[a-z_]+\b", r"\b\w+_\w+\b"),
    (r"\b[a-z][a-zA-Z]+[A-Z][a-zA-Z]*\b", r"\b[a-z][a-zA-Z]*[A-Z][a-zA-Z]*\b"), (r"\b[a-z][a-zA-Z]+[A-Z][a-zA-Z]*\b", r"\b[a-z]+[A-Z]\w*\b"),
    (r"\b[a-z][a-zA-Z]+[A-Z][a-zA-Z]*\b", r"(?a:\b)[a-z][a-zA-Z]+[A-Z][a-zA-Z]*(?a:\b)"),
    ("if snake != camel:", "if True:"), ("/ len(votes) if votes else 1.0", "/ len(texts(session)) if votes else 1.0"), ("votes else 1.0", "votes else 0.5"),
    ('name.endswith(".py")', "True"), ('name.endswith(".py")', '".py" in name'), ('"from ." in l', 'l.startswith("from .")'), ('"from ." in l', '"." in l'),
    ("max(relative, len(found) - relative)", "relative"), ("max(relative, len(found) - relative)", "(len(found) - relative)"), ("found else 1.0\n    sizes", "found else 0.0\n    sizes"),
    ("statistics.stdev", "statistics.pstdev"), ("statistics.mean(sizes) / 2)", "statistics.mean(sizes))"), ("max(0.3, 1 - statistics", "max(0.0, 1 - statistics"),
    ("alike = max(0.3, 1", "alike = (1"), ("if len(sizes) > 1 else 1.0", "if len(sizes) > 1 else 0.3"), ("0.4 * naming + 0.3 * imports + 0.3 * alike", "0.3 * naming + 0.4 * imports + 0.3 * alike"),
    ("0.4 * naming + 0.3 * imports + 0.3 * alike", "0.4 * naming + 0.2 * imports + 0.4 * alike"), ('len(lines(t)) for t', 'len(t.splitlines()) for t'), ("line.strip().startswith((\"import", "line.startswith((\"import"),
    ('("import ", "from ")', '("import", "from ")'), ('("import ", "from ")', '("import ", "from")'), ('("import ", "from ")', '("import ",)'),
    # M4
    ("        return 0.7\n    defined", "        return 1.0\n    defined"), (r"def\s+(\w+)\s*\(", r"def (\w+)\("), (r"def\s+(\w+)\s*\(", r"\bdef\s+(\w+)\s*\("), (r"def\s+(\w+)\s*\(", r"(?a:def\s+(\w+)\s*\()"),
    (r"def\s+(\w+)\s*\(", r"def\s+(\w+)"), (r"(\w+)\s*\(", r"(\w+)\("), ('re.findall(r"(\\w+)\\s*\\(", text)', 're.findall(r"(?a:(\\w+)\\s*\\()", text)'),
    (r"^(import|from)\s+[\w.]+", r"^(import|from)\s+\w+"), (r"^(import|from)\s+[\w.]+", r"^(import|from) [\w.]+"), (r"^(import|from)\s+[\w.]+", r"^(?a:(import|from)\s+[\w.]+)"), (r"^(import|from)\s+[\w.]+", r"^import\s+[\w.]+"),
    *[(f'"{name}"' + (", " if name != "set" else ""), "") for name in ["print", "len", "str", "int", "float", "list", "dict"]], (', "set"]', "]"),
    ("c in defined or c", "c"), ("c in defined or c in BUILT_IN", "c in defined"), ("i < 10", "i < 9"), ("i < 10", "i < 11"), ("i < 10", "i < len(lines(text)) / 4"),
    ("called else 1.0", "called else 0.0"), ("0.40 * mean(looks, 1.0) + 0.35 * mean(calls, 1.0)", "0.35 * mean(looks, 1.0) + 0.40 * mean(calls, 1.0)"),
    ("0.35 * mean(calls, 1.0) + 0.25 * mean(order, 1.0)", "0.25 * mean(calls, 1.0) + 0.35 * mean(order, 1.0)"), ("mean(calls, 1.0) +", "mean(calls, 0.0) +"),
    ("mean(looks, 1.0) +", "mean(looks, 0.0) +"), ("mean(order, 1.0), 0.3", "mean(order, 1.0), 0.0"), ("mean(order, 1.0), 0.3", "mean(order, 0.5), 0.3"),
    # M5
    ("        return 0.7\n    maintainable", "        return 1.0\n    maintainable"), (r'r"def\s+\w+"', r'r"def \w+"'), (r'r"def\s+\w+"', r'r"\bdef\s+\w+"'), (r'r"def\s+\w+"', r'r"def\s+\w+\s*\("'),
    (r'r"def\s+\w+"', r'r"(?a:def\s+\w+)"'), ('count("try:")', 'count("try")'), ('count("except")', 'count("except:")'), ('min(text.count("except") / tries, 1)', 'text.count("except") / tries'),
    ("if tries else 0", "if tries else 0.15"), ("0.15 if functions >= 3", "0.15 if functions >= 2"), ("0.15 if functions >= 3", "0.15 if functions >= 4"), ("else 0.05 if", "else 0.15 if"), ("else 0.05 if functions >= 1", "else 0.05 if functions >= 2"),
    ("min(1, 0.7 + handled", "min(1, 0.6 + handled"), ("len(l) > 100", "len(l) > 99"), ("len(l) > 100", "len(l) > 101"), ("len(l) > 100", "len(l.encode()) > 100"), ("len(l) > 100", "len(l.strip()) > 100"),
    ('if l.strip() and not l.strip().startswith("#")', "if l.strip()"), ('if l.strip() and not l.strip().startswith("#")', 'if not l.strip().startswith("#")'), ('if l.strip() and not l.strip().startswith("#")', 'if l.strip() and not l.startswith("#")'),
    ("short = 1 - 0.5 *", "short = 1 -"), ("small = 0.7 if", "small = 0.8 if"), ("0.8 if per < 10", "0.8 if per <= 10"), ("0.8 if per < 10", "0.8 if per < 9"), ("0.8 if per < 10", "0.7 if per < 10"), ("1.0 if per <= 30", "1.0 if per <= 31"),
    ("(per - 30) / 100", "(per - 30) / 50"), ("(per - 30) / 100", "(per - 31) / 100"), ("max(0.4, 1 - (per", "max(0.3, 1 - (per"), ("max(0.4, 1 - (per", "max(0.5, 1 - (per"), ("readable.append(1.0)", "readable.append(0.7)"), ("(short + small) / 2", "short * small"),
    *[(f'"{word}"' + (", " if word != "dataclasses" else ""), "") for word in ["os", "sys", "json", "re", "pathlib", "typing"]], (', "dataclasses"]', "]"), ("m in text for m", "m in text.split() for m"),
    ("0.05 * sum(m", "0.04 * sum(m"), ("MODULES), 0.15)", "MODULES), 0.10)"), ("MODULES), 0.15)", "MODULES), 0.20)"), ('text.count("global ")', 'text.count("global")'), ('text.count("global ") + ', ""), (' + text.count("exec(")', ""), ('text.count("eval(") + ', ""),
    ("min(0.1 * bad, 0.3)", "min(0.1 * bad, 0.2)"), ("min(0.1 * bad, 0.3)", "min(0.1 * bad, 0.4)"), ("if bad else base + 0.15", "if bad else base"), ("0.40 * mean(maintainable, 0.7) + 0.35 * mean(readable, 0.7)", "0.35 * mean(maintainable, 0.7) + 0.40 * mean(readable, 0.7)"),
    ("mean(maintainable, 0.7)", "mean(maintainable, 1.0)"), ("mean(readable, 0.7)", "mean(readable, 1.0)"), ("mean(practical, 0.7)", "mean(practical, 1.0)"), ("0.35 * mean(readable, 0.7) + 0.25 *", "0.25 * mean(readable, 0.7) + 0.35 *"),
    # M6
    ("        return 0.65\n    nesting", "        return 0.5\n    nesting"), ('("for ", "while ")', '("for ",)'), ('("for ", "while ")', '("for", "while ")'), ('("for ", "while ")', '("for ", "while")'), ("stripped = line.strip()", "stripped = line"),
    ("elif stripped:", "else:"), ("depth = max(0, depth - 1)", "depth = 0"), ("depth = max(0, depth - 1)", "depth -= 1"), ("depth = max(0, depth - 1)", "pass"), ("if deepest <= 2", "if deepest <= 1"), ("if deepest <= 2", "if deepest <= 3"), ("else 0.7 if deepest == 3", "else 0.7 if deepest <= 4"), ("else 0.7 if deepest == 3", "else 0.4 if deepest == 3"), ("== 3 else 0.4)", "== 3 else 0.3)"),
    ('text.count("set(") + ', ""), ('text.count("dict") + ', ""), ('text.count("heapq") + ', ""), (' + text.count("bisect")', ""), ('count("dict")', 'count("dict(")'), ('count("set(")', 'count("set")'), ('text.count("in list") + ', ""), ('count("in list")', 'count("in list(")'),
    ('l.count("for") > 1', 'l.count("for ") > 1'), ('l.count("for") > 1', 'l.count("for") > 2'), ('sum(l.count("for") > 1 for', 'sum(max(0, l.count("for") - 1) for'), (" + sum(l.count(\"for\") > 1 for l in lines(text))", ""),
    ("patterns = min(patterns, good", "patterns = (good"), ("nesting = min(nesting, ", "nesting = ("), ("max(0, 1 - rate)", "max(0.5, 1 - rate)"), ("max(0, 1 - rate)", "1"), ("0.4 * nesting + 0.3 * patterns", "0.3 * nesting + 0.4 * patterns"), ("- rate), 0.70, 1.00", "- rate), 0.60, 1.00"),
    # M7
    ("        return 0.65\n    space", "        return 0.5\n    space"), ('text.count(".readlines()") + ', ""), ('count(".readlines()")', 'count(".readlines")'), (' + text.count("list(")', ""), ('text.count("[") + ', ""), ("max(0, 1 - 2 * heavy", "max(0, 1 - heavy"), 
    ('count("yield ")', 'count("yield")'), ('text.count("yield ") + ', ""), ('text.count("itertools") + ', ""), (' + text.count("generator")', ""), ("0.5 + 0.5 * light", "0.4 + 0.5 * light"), ("0.5 + 0.5 * light", "0.5 + light"),
    ('count("open(")', 'count(" open(")'), ('text.count("with ") / opened', 'text.count("with") / opened'), ("if opened:", "if True:\n            opened = opened or 1"), ("space = min(space, ", "space = ("), ("resources = min(resources, ", "resources = ("), ("patterns = min(patterns, min", "patterns = (min"), ("resources, 0.70", "resources, 0.60"), ("len(lines(text))))", "max(1, len(text.splitlines()))))"), ("0.4 * space + 0.3 * patterns", "0.3 * space + 0.4 * patterns"), ("0.3 * patterns + 0.3 * resources", "0.2 * patterns + 0.4 * resources"),
    # M8, M9
    ("        return 0.65\n    read =", "        return 0.5\n    read ="), ("        return 0.65\n    read, written", "        return 0.5\n    read, written"), ('"read_file", ', ""), ('"list_directory", ', ""), ('"grep", ', ""), (', "search"]', "]"), ('"read_file"', '"read"'), ('"search"', '"search_files"'), ('function_name"].lower()', 'function_name"]'),
    ("any(part in entry", "any(part == entry"), ('given.get("path") or ', ""), (' or given.get("target_file")', ""), (' or given.get("file_path")', ""), ('given.get("target_file") or given.get("file_path")', 'given.get("file_path") or given.get("target_file")'), ('given.get("path") or given.get("target_file")', 'given.get("target_file") or given.get("path")'),
    ('given.get("path") or given.get("target_file")', 'given.get("path", given.get("target_file"))'), ('named(e, READS) and path_of(e) != "."', "named(e, READS)"), ("len(read & files) / len(files), 0.00, 0.30", "len(read & files) / len(files), 0.00, 1.00"), ("len(read & files) / len(files), 0.00, 0.30", "len(read & files) / (len(files) + 1), 0.00, 0.30"),
    ("len(read & files)", "len({p.replace('//', '/') for p in read if p} & {p.replace('//', '/') for p in files})"), ('if path and path != ".":', "if path:"), ('"write_file", ', ""), ('"edit_file", ', ""), (', "create_file"]', "]"), ("elif named(entry, WRITES)", "if named(entry, WRITES)"), ("written.append(path)", "written.append(path)\n                read.append('')"), ("read.append(path)\n", "read.append(path)\n                written.append('')\n"),
    ("read.index(f) < written.index(f)", "read.index(f) <= written.index(f)"), ("read.index(f) < written.index(f)", "True"), ("f in read and f in written and read.index(f) < written.index(f)", "f in written and (f not in read or read.index(f) < written.index(f))"), ("f in read and f in written and read.index(f) < written.index(f)", "f in read and (f not in written or read.index(f) < written.index(f))"), ("proper / len(files), 0.00, 0.30", "proper / len(files), 0.00, 1.00"),
    ("0.40 + 0.50 *", "0.40 + 0.60 *"), ("(clamp(raw, low, high) - low)", "(raw - low)"), ('text.split("\\n")', "text.splitlines()"), ("text.split(\"\\n\")", "re.split('\\r?\\n', text)"),
    # white space of ASCII only
    ("line.strip().startswith((\"import", "line.strip(' \\t\\r\\n').startswith((\"import"), ("stripped = line.strip()", "stripped = line.strip(' \\t\\r\\n')"), ('if l.strip() and not', "if l.strip(' \\t\\r\\n') and not"), ("(i, l.strip())", "(i, l)"),
]


def difference(source):
    names = {}
    exec(compile(source, "restated.py", "exec"), names)
    told = []
    for vector in VECTORS:
        for metric, expected in zip(names["METRICS"], vector["metrics"]):
            try:
                found = metric(vector["session"])
            except (ValueError, ZeroDivisionError, TypeError, IndexError):
                found = float("inf")
            if abs(found - expected) > 1e-9:
                told.append((vector["name"], metric.__name__, found, expected))
    return told


def main():
    agrees = difference(SOURCE)
    assert not agrees, agrees[:5]
    survived = []
    for old, new in CHANGES:
        assert old in SOURCE, f"not in restated.py: {old}"
        changed = SOURCE.replace(old, new, 1)
        assert changed != SOURCE, old
        if not difference(changed):
            survived.append((old, new))
    for old, new in survived:
        print(f"not told: {old!r} -> {new!r}")
    print(f"{len(CHANGES) - len(survived)} of {len(CHANGES)} changes told by {len(VECTORS)} vectors")
    raise SystemExit(bool(survived))


main()
