"""The nine metrics restated from docs/metrics.md, as a second implementation that `mutants.py` changes rule by rule."""

import math
import re
import statistics


def clamp(x, a, b):
    return max(a, min(b, x))


def rescaled(raw, low, high):
    return 0.40 + 0.50 * (clamp(raw, low, high) - low) / (high - low)


def lines(text):
    return text.split("\n")


def texts(session):
    return [t for t in session.get("modified_files", {}).values() if isinstance(t, str)]


def is_import(line):
    return line.strip().startswith(("import ", "from "))


def mean(values, otherwise):
    return sum(values) / len(values) if values else otherwise


def path_of(entry):
    given = entry["tool_call"].get("parameters") or {}
    return given.get("path") or given.get("target_file") or given.get("file_path") or None


def named(entry, parts):
    return any(part in entry["tool_call"]["function_name"].lower() for part in parts)


READS = ["read_file", "list_directory", "grep", "search"]
WRITES = ["write_file", "edit_file", "create_file"]


def m1(session):
    log = session.get("tool_usage_log", [])
    if not log:
        return 0.5
    kinds = set()
    for entry in log:
        parts = entry["tool_call"]["function_name"].split("_")
        kinds.add(parts[-1] if len(parts) == 1 or len(parts[-1]) > 2 else "_".join(parts[-2:]))
    return clamp(len(kinds) / (math.log(len(log) + 1) + 1), 0.2, 1.0)


PHRASES = ["previously", "earlier", "before", "as mentioned", "as discussed", "recall", "remember", "we did", "we discussed"]


def m2(session):
    history = session.get("conversation_history", [])
    if len(history) < 3:
        return 1.0
    answers = [str(m["content"]).lower() for m in history if m["role"] == "assistant"]
    hits = sum(any(p in a for p in PHRASES) for a in answers)
    references = min(1.0, hits / max(min(len(answers) // 3, 5), 1)) if answers else 0.5
    sample = [str(m["content"]).lower() for i, m in enumerate(history) if i % 3 == 0 and m["role"] == "assistant"][:5]
    vocabularies = [{w for w in a.split() if len(w) > 4} for a in sample]
    pairs = [len(a & b) / len(a | b) for a, b in zip(vocabularies, vocabularies[1:]) if a and b]
    return clamp(0.5 * references + 0.5 * mean(pairs, 0.5), 0.3, 1.0)


def m3(session):
    files = session.get("modified_files", {})
    if len(files) < 2:
        return 1.0
    votes = []
    for text in texts(session):
        snake = len(re.findall(r"\b[a-z]+_[a-z_]+\b", text))
        camel = len(re.findall(r"\b[a-z][a-zA-Z]+[A-Z][a-zA-Z]*\b", text))
        if snake != camel:
            votes.append(snake > camel)
    naming = max(votes.count(True), votes.count(False)) / len(votes) if votes else 1.0
    found = [l for name, text in files.items() if name.endswith(".py") and isinstance(text, str) for l in lines(text) if is_import(l)]
    relative = sum("from ." in l for l in found)
    imports = max(relative, len(found) - relative) / len(found) if found else 1.0
    sizes = [len(lines(t)) for t in texts(session)]
    alike = max(0.3, 1 - statistics.stdev(sizes) / statistics.mean(sizes) / 2) if len(sizes) > 1 else 1.0
    return clamp(0.4 * naming + 0.3 * imports + 0.3 * alike, 0.3, 1.0)


BUILT_IN = ["print", "len", "str", "int", "float", "list", "dict", "set"]


def m4(session):
    if not session.get("modified_files"):
        return 0.7
    defined = {name for t in texts(session) for name in re.findall(r"def\s+(\w+)\s*\(", t)}
    looks, calls, order = [], [], []
    for text in texts(session):
        found = [(i, l.strip()) for i, l in enumerate(lines(text)) if is_import(l)]
        looks.append(sum(bool(re.match(r"^(import|from)\s+[\w.]+", l)) for _, l in found) / len(found) if found else 1.0)
        called = re.findall(r"(\w+)\s*\(", text)
        calls.append(sum(c in defined or c in BUILT_IN for c in called) / len(called) if called else 1.0)
        order.append(sum(i < 10 for i, _ in found) / len(found) if found else 1.0)
    return clamp(0.40 * mean(looks, 1.0) + 0.35 * mean(calls, 1.0) + 0.25 * mean(order, 1.0), 0.3, 1.0)


MODULES = ["os", "sys", "json", "re", "pathlib", "typing", "dataclasses"]


def m5(session):
    if not session.get("modified_files"):
        return 0.7
    maintainable, readable, practical = [], [], []
    for text in texts(session):
        functions = len(re.findall(r"def\s+\w+", text))
        tries = text.count("try:")
        handled = 0.15 * min(text.count("except") / tries, 1) if tries else 0
        maintainable.append(min(1, 0.7 + handled + (0.15 if functions >= 3 else 0.05 if functions >= 1 else 0)))
        code = [l for l in lines(text) if l.strip() and not l.strip().startswith("#")]
        if code:
            short = 1 - 0.5 * sum(len(l) > 100 for l in code) / len(code)
            per = len(code) / functions if functions else 0
            small = 0.7 if not functions else 0.8 if per < 10 else 1.0 if per <= 30 else max(0.4, 1 - (per - 30) / 100)
            readable.append((short + small) / 2)
        else:
            readable.append(1.0)
        base = 0.7 + min(0.05 * sum(m in text for m in MODULES), 0.15)
        bad = text.count("global ") + text.count("eval(") + text.count("exec(")
        practical.append(min(1, base * (1 - min(0.1 * bad, 0.3)) if bad else base + 0.15))
    return clamp(0.40 * mean(maintainable, 0.7) + 0.35 * mean(readable, 0.7) + 0.25 * mean(practical, 0.7), 0.3, 1.0)


def m6(session):
    if not session.get("modified_files"):
        return 0.65
    nesting, patterns = 1.0, 1.0
    for text in texts(session):
        depth = deepest = 0
        for line in lines(text):
            stripped = line.strip()
            if stripped.startswith(("for ", "while ")):
                depth += 1
                deepest = max(deepest, depth)
            elif stripped:
                depth = max(0, depth - 1)
        nesting = min(nesting, 1.0 if deepest <= 2 else 0.7 if deepest == 3 else 0.4)
        good = text.count("set(") + text.count("dict") + text.count("heapq") + text.count("bisect")
        bad = text.count("in list") + sum(l.count("for") > 1 for l in lines(text))
        if good + bad:
            patterns = min(patterns, good / (good + bad))
    rate = session.get("error_rate", 0.0)
    return rescaled(0.4 * nesting + 0.3 * patterns + 0.3 * max(0, 1 - rate), 0.70, 1.00)


def m7(session):
    if not session.get("modified_files"):
        return 0.65
    space, patterns, resources = 1.0, 1.0, 1.0
    for text in texts(session):
        heavy = text.count(".readlines()") + text.count("[") + text.count("list(")
        space = min(space, max(0, 1 - 2 * heavy / len(lines(text))))
        light = text.count("yield ") + text.count("itertools") + text.count("generator")
        if heavy:
            patterns = min(patterns, min(1, 0.5 + 0.5 * light / heavy))
        opened = text.count("open(")
        if opened:
            resources = min(resources, min(1, text.count("with ") / opened))
    return rescaled(0.4 * space + 0.3 * patterns + 0.3 * resources, 0.70, 1.00)


def m8(session):
    files = set(session.get("modified_files", {}))
    if not files:
        return 0.65
    read = {path_of(e) for e in session.get("tool_usage_log", []) if named(e, READS) and path_of(e) != "."}
    return rescaled(len(read & files) / len(files), 0.00, 0.30)


def m9(session):
    files = set(session.get("modified_files", {}))
    if not files:
        return 0.65
    read, written = [], []
    for entry in session.get("tool_usage_log", []):
        path = path_of(entry)
        if path and path != ".":
            if named(entry, READS):
                read.append(path)
            elif named(entry, WRITES):
                written.append(path)
    proper = sum(f in read and f in written and read.index(f) < written.index(f) for f in files)
    return rescaled(proper / len(files), 0.00, 0.30)


METRICS = [m1, m2, m3, m4, m5, m6, m7, m8, m9]
