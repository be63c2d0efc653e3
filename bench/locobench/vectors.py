"""Makes crates/analysis/tests/golden/locobench.json: sessions of our own, with the nine metrics that the ORIGINAL program
computes for them.

    git clone https://github.com/SalesforceAIResearch/LoCoBench-Agent && git -C LoCoBench-Agent checkout 1abacfd
    python3 bench/locobench/vectors.py LoCoBench-Agent

Only the standard library is needed: the nine metrics use nothing else, so the program's other imports are replaced by empty
modules. Nothing of the program is copied; the file holds our inputs and its figures. `mutants.py` shows that these vectors
tell the rules from every single-rule change of them.
"""

import json
import logging
import pathlib
import random
import sys
import types

TARGET = pathlib.Path(__file__).resolve().parents[2] / "crates/analysis/tests/golden/locobench.json"

METHODS = [
    "execution_success_rate",
    "multi_session_memory_retention",
    "cross_file_consistency",
    "dependency_traversal",
    "solution_usability",
    "runtime_efficiency",
    "memory_efficiency",
    "information_coverage",
    "long_range_dependency_resolution",
]


def original(checkout):
    """The program's evaluator, without what it imports."""

    class Anything:
        def __init__(self, *args, **kwargs):
            pass

    def module(name, **names):
        made = types.ModuleType(name)
        made.__dict__.update(names)
        sys.modules[name] = made
        return made

    package = module("locobench")
    package.__path__ = []
    evaluation = module("locobench.evaluation")
    evaluation.__path__ = [str(pathlib.Path(checkout) / "locobench/evaluation")]
    module("locobench.evaluation.revised_metrics", RevisedMetricsCalculator=Anything, MetricResult=Anything)
    module("locobench.evaluation.human_validation_framework", HumanValidationFramework=Anything, ValidationResult=Anything)
    module("locobench.core").__path__ = []
    module("locobench.core.metrics", EvaluationMetrics=Anything)
    from locobench.evaluation.bias_free_evaluator import BiasFreEvaluator  # so it is spelled there

    logging.disable(logging.CRITICAL)
    return BiasFreEvaluator()


def call(function, path=None, **parameters):
    if path is not None:
        parameters["path"] = path
    return {"turn": 1, "phase": "p", "tool_call": {"tool_name": "file_system", "function_name": function, "parameters": parameters}}


def calls(*functions):
    return {"tool_usage_log": [call(function) for function in functions]}


def talk(*messages):
    """Messages: a letter for the role (a, u, t, s), a colon and the text; without a letter an answer."""
    roles = {"a": "assistant", "u": "user", "t": "tool", "s": "system"}
    split = [m.split(":", 1) if m[1:2] == ":" and m[0] in roles else ["a", m] for m in messages]
    return {"conversation_history": [{"role": roles[role], "content": text} for role, text in split]}


def files(**texts):
    return {"modified_files": {name.replace("__", "."): text for name, text in texts.items()}}


def one(text, name="a.py"):
    return {"modified_files": {name: text}}


def touched(modified, *log, **more):
    return {"modified_files": {path: "x" for path in modified}, "tool_usage_log": list(log), **more}


def tools():
    yield "no call", {}
    yield "one call", calls("read_file")
    yield "same end", calls("read_file", "write_file", "open_file")
    yield "short ends", calls("go_to", "come_to", "to", "a_b", "x_a_b")
    yield "ends of two and three", calls("read_it", "use_it", "read_all", "use_all", "it")
    yield "four parts", calls("read_it_to", "write_it_to", "go_to", "it_to")
    yield "wide letters in an end", calls("lese_äö", "write_äö", "a_äöü", "b_äöü")
    yield "no underscore", calls("echo", "repeat", "Echo", "echo", "")
    yield "underscores at ends", calls("a_", "b_", "_a", "_abc", "__", "_")
    yield "many alike", calls(*["read_file"] * 40)
    yield "at the floor", calls(*["a_b"] * 60)
    yield "ends of three", calls("x_all", "y_all", *["z_all"] * 12)
    yield "many different", calls(*[f"kind{n}" for n in range(30)])
    yield "some of many", calls(*["read_file"] * 9, *[f"do_thing{n}" for n in range(5)])
    yield "google", calls("system_copy_140_read_file", "system_copy_141_read_file", "system_copy_7_list_directory")


def memory():
    for phrase in ["previously", "earlier", "before", "as mentioned", "as discussed", "recall", "remember", "we did", "we discussed"]:
        yield f"looks back: {phrase}", talk("u:q", f"So {phrase} it", "u:q", "plain")
    yield "inside a word", talk("u:q", "Beforehand and RECALLED", "u:q")
    yield "two messages", talk("u:q", "an answer")
    yield "two phrases in a message", talk(*(["earlier and before"] + ["plain words only"] * 23))
    yield "three messages", talk("u:q", "an answer", "u:next")
    yield "no answer", talk("u:q", "u:earlier words stand here", "s:before", "t:recall")
    yield "only the user looks back", talk("u:as mentioned", "an answer", "u:before")
    for answers in (3, 5, 6, 9, 15, 18, 21, 24):
        yield f"one look back in {answers}", talk(*(["earlier"] + ["plain words only"] * (answers - 1)))
        yield f"two looks back in {answers}", talk(*(["earlier", "before"] + ["plain words only"] * (answers - 2)))
    yield "six looks back in 24", talk(*(["earlier"] * 6 + ["plain words only"] * 18))
    yield "words of four and five", talk("four fiver other", "x", "y", "four fiver again", "x", "y", "seven fiver other")
    yield "sampled by place", talk("u:q", "common words appear", "t:r", "u:q", "common words appear", "t:r", "common words vanish")
    yield "sixth sample", talk(*sum([[f"alpha{n // 5} bravo charlie", "x", "y"] for n in range(8)], []))
    yield "distant samples", talk("alpha bravo", "before", "recall", "tiny", "x", "y", "alpha bravo", "x", "y", "alpha gamma")
    yield "upper case", talk("ALPHA Bravo", "x", "y", "alpha bRAVO")
    yield "wide blanks", talk("alpha\u2003bravo\u2003gamma", "x", "y", "alpha\u1680bravo\u2028delta")
    yield "separators", talk("alpha\u001fbravo\u001cgamma", "x", "y", "alpha bravo\u0085omega")
    yield "no blank", talk("alpha\u200bbravo gamma", "x", "y", "alpha bravo gamma")
    yield "letters, not bytes", talk("äöü漢字 aäöü bravo", "before", "y", "äöüé bravo")
    yield "final sigma", talk("ΛΌΓΟΣ bravo", "x", "y", "λόγος bravo")
    yield "empty answers", talk("", "", "", "", "")
    yield "null", {"conversation_history": [{"role": "assistant", "content": None} for _ in range(4)]}
    yield "whole words count once", talk("alpha alpha alpha bravo", "x", "y", "alpha bravo bravo")


def consistency():
    yield "one file", one("snake_case camelCase\nimport os\nfrom . import a")
    yield "snake and camel", files(a__py="some_name other_name", b__py="someName otherName")
    yield "two to one", files(a="some_name", b="other_name", c="camelCase")
    yield "majority in a file", files(a="some_name other_name camelCase", b="camelCase some_name", c="camelCase")
    yield "none votes", files(a="plain", b="words", c="1_2 _a A_B a_ aB aBc2 é_a")
    yield "too short for a camel", files(a="aB xY", b="some_name")
    yield "a digit behind a camel", files(a="camelCase2", b="some_name")
    yield "a wide letter before a camel", files(a="écamelCase", b="some_name")
    yield "modules with dots", files(a__py="import a.b\nimport c\n", b__py="x")
    yield "capitals and digits", files(a="some_name2 some_Name", b="camelCase2 camel_Case", c="aBc abC")
    yield "wide letters at a border", files(a="ésome_name some_nameé", b="camelCase", c="some_name")
    yield "marks at a border", files(a="some_name\u0301", b="camelCase\u093e", c="other_name")
    yield "underscores", files(a="a__b a_b_ _a_b __a", b="abCd aBCd abc")
    yield "imports mixed", files(a__py="import os\nfrom . import a\nfrom .b import c\n", b__py="import os\nimport sys\nimport re\n")
    yield "imports relative", files(a__py="from . import a\nfrom .b import c\n", b__py="import os\n")
    yield "imports elsewhere", files(a__js="import os\nfrom . import a", b__py="import os\nfrom . import b\n", c__pyx="from . import c\n")
    yield "imports indented", files(a__py="  import os\n\tfrom . import a\n\u2003from . import b", b__py="importing\nfrom\n")
    yield "from in a comment", files(a__py="import a  # from .b\nimport c\n", b__py="x = 1\n")
    yield "sizes", files(a="1\n2\n3", b="1\n2\n3\n4\n5\n6\n7\n8\n9\n10")
    yield "sizes at the floor", files(a="1", **{f"f{n}": "1" for n in range(8)}, z="\n" * 400)
    yield "all at the floor", files(a__py="some_name\nfrom . import a" + "\n" * 500, b__py="camelCase\nimport b", c="x", d="y", e="z")
    yield "one line ending", files(a="1\n", b="1", c="1\r\n2\r3")
    yield "not text", {"modified_files": {"a": None, "b": "some_name\n\n"}}
    yield "none is text", {"modified_files": {"a": None, "b": 5}}


def traversal():
    yield "only one, not text", {"modified_files": {"a.py": None}}
    yield "empty text", one("")
    for name in ["print", "len", "str", "int", "float", "list", "dict", "set"]:
        yield f"built in: {name}", one(f"{name}(1)\nother(2)\n")
    yield "tuple is none", one("tuple(1)\nlen(2)\n")
    yield "no bracket behind a name", one("def helper\nhelper(1)")
    yield "defined elsewhere", files(a="def helper (x):\n    pass\n", b="helper(1)\nunknown(2)\nhelper (3)")
    yield "not a definition", one("undef helper(x)\ndefhelper(y)\ndef\thelp(z)\nhelp(1)")
    yield "across lines", one("def\n  over\n  (x):\nover(1)\nother\n(2)")
    yield "wide letters", one("def größe(x):\n  größe(1)\n  漢字(2)\n  e\u0301(3)\n")
    yield "wide blanks", one("def\u2003spread\u2003(x)\nspread\u001f(1)\nspread\u200b(2)\n")
    yield "keywords are calls", one("if (a):\n  for (b) in c(d):\n    while(e): pass\n")
    yield "imports", one("import os\nfrom a import b\nimport {a} from 'b'\nfrom\u2003x import y\n  import  c\n")
    yield "import of signs", one("import -a\nfrom .b import c\nimport *\nfrom 漢 import d\nimport \u0301\n")
    for line in (9, 10, 11):
        yield f"import in line {line}", one("import os\n" + "x\n" * (line - 2) + "import sys\n")
    yield "late imports only", one("\n" * 30 + "import os\nfrom a import b\n")
    yield "rust", one("use std::io;\nfn add(a: i32) -> i32 { a }\nfn main() { add(1); }\n", "a.rs")
    yield "at the floor", one("\n" * 12 + "import {a}\nfrom {b}\nunknown(1)\n", "a.js")
    yield "mean of two", files(a="import os\nfoo(1)", b="x = 1", c=None)


def usability():
    yield "nothing of it", one("x = 1")
    yield "try without except", one("try:\n  a\ntry:\n  b\n")
    yield "one except of two", one("try:\n  a\nexcept:\n  b\ntry:\n  c\nfinally:\n  d")
    yield "more excepts than tries", one("try:\n  a\nexcept A:\n  b\nexcept B:\n  c\nexcept C:\n  d\nexception")
    yield "except without try", one("except except")
    yield "try in a word", one("entry\ntry:\nexcept\n")
    yield "globals", one("globals()\n")
    yield "line of 100 and a return", one("x" * 100 + "\r\ny")
    for number in (1, 2, 3, 4):
        yield f"{number} functions", one("".join(f"def f{n}():\n    x = {n}\n" for n in range(number)))
    yield "every bonus", one("try:\n  a\nexcept:\n  b\n" + "def f\n" * 3)
    yield "def across lines", one("def\n\nf\ndef\u2003g\nundef h\ndefi i\n")
    for length in (99, 100, 101, 102):
        yield f"line of {length}", one("x" * length + "\ny\n")
        yield f"line of {length} wide letters", one("ä" * length + "\ny\nz\n")
    yield "blanks count in a line", one(" " * 97 + "xyz\n" + " " * 98 + "xyz\n" + "\t\n")
    yield "comments and blanks", one("# a\n  # b\n\n \t\u2003\nx = 1 # c\n#" + "x" * 120)
    yield "only comments", one("# a\n\n   # b")
    for per in (9, 10, 11, 29, 30, 31, 45, 89, 90, 91, 120):
        yield f"{per} lines a function", one("def f():\n" + "  x\n" * (per - 1))
        yield f"{per} lines a function of three", one(("def f():\n" + "  x\n" * (per - 1)) * 3)
    for word in ["os", "sys", "json", "re", "pathlib", "typing", "dataclasses"]:
        yield f"word {word}", one(f"{word}\neval(a)\n")
    yield "inside words", one("close presentation\neval(x)")
    yield "three words", one("os sys json eval(a)")
    yield "four words", one("os sys json typing eval(a)")
    yield "no bad word", one("os sys")
    for count in (1, 2, 3, 4):
        yield f"global {count}", one("global a\n" * count)
    yield "eval and exec", one("eval(a) exec(b) medieval(c) globals")
    yield "low", one(("x" * 150 + "\n") * 3 + "global a\nglobal b\nglobal c\ntry:\n")
    yield "lowest", one("def f" + "\n" + ("y" * 150 + "\n") * 300 + "global a\n" * 4)
    yield "mean of three", files(a="def f():\n  x", b="# c", c="eval(a)", d=None)
    yield "none is text", {"modified_files": {"a": 1}}


def runtime():
    for depth in (1, 2, 3, 4, 5):
        yield f"{depth} loops in a row", one("for a in b:\n" * depth + "x\n")
        yield f"{depth} heads of while", one("while a:\n" * depth)
    yield "a line between", one("for a in b:\n  x\n  for c in d:\n    for e in f:\n      y\n      for g in h:\n")
    yield "two lines between", one("for a in b:\nfor a in b:\nx\nx\nx\nfor a in b:\nfor a in b:\n")
    yield "one line takes one away", one("for a in b:\nfor a in b:\nfor a in b:\nx\nfor a in b:\nfor a in b:\n")
    yield "blank lines do not", one("for a in b:\n\n  \t\nfor c in d:\n\u2003\nfor e in f:\n\n\nfor g in h:\n")
    yield "return", one("for a in b:\nfor c in d:\nreturn 1\nfor e in f:\nfor g in h:\n")
    yield "lines before loops", one("x\nx\nx\nfor a\nfor b\nfor c\n")
    yield "brackets behind while", one("while(a)\nwhile(b)\nwhile(c)\n")
    yield "settings", one("settings\nx in list\nset(1)\n")
    yield "the first is worst", files(a="for a\nfor b\nfor c\nfor d\n", b="x")
    yield "no blank behind", one("for\nfor(a)\nforeach a\nwhile(b)\nwhile\n")
    for word in ["set(", "dict", "heapq", "bisect"]:
        yield f"good {word}", one(f"{word} x\nx in list\nreset({word}\n")
    yield "in list", one("a in list(b)\nwithin listed\n")
    yield "for twice", one("for a in b: for c in d\nx\ninformation to perform\nforfor\nfofor f or\nset(1)")
    yield "for once", one("for a in b\nbefore\n")
    yield "for thrice is one line", one("for for for\ndict dict dict")
    yield "worst counts", files(a="dict", b="in list\ndict", c="for a\nfor b\nfor c\n")
    yield "worst of parts", files(a="in list in list", b="for a\nfor b\nfor c\nfor d\n")
    for rate in (0.0, 0.05, 0.2, 0.5, 1.0, 1.5):
        yield f"error rate {rate}", {**one("dict set( dict dict in list"), "error_rate": rate}
    yield "not text", {"modified_files": {"a": None}, "error_rate": 0.1}


def space():
    yield "no bracket", one("x\n" * 20)
    yield "brackets", one("a[1]\n" + "x\n" * 20)
    yield "readlines and list", one("f.readlines()\nlist(a)\n" + "x\n" * 40)
    yield "readlines without call", one("f.readlines\nlist a\n[" + "x\n" * 40)
    for heavy in (1, 5, 9, 10, 11, 15):
        yield f"{heavy} in 20 lines", one("[" * heavy + "\n" * 19)
    for word in ["yield ", "itertools", "generator", "yield(", "generators "]:
        yield f"light {word}", one(f"{word}a\n[\n" + "x\n" * 30)
    yield "light without heavy", one("yield a\n" * 3)
    yield "more light than heavy", one("yield a\n" * 5 + "[\n[\n" + "x\n" * 60)
    yield "half light", one("yield a\n[\n[\n[\n[\n" + "x\n" * 80)
    yield "open alone", one("open(a)\n" + "x\n" * 10)
    yield "open with", one("with open(a) as f\nopen(b)\nopen(c)\n" + "x\n" * 10)
    yield "more with than open", one("with a with b with c open(d)\n")
    yield "with and no open", one("with a\nwithout b\n")
    yield "within", one("within\nopen(a)\n")
    yield "reopen", one("reopen(a) with  b\n")
    yield "worst by part", files(a="[\n" + "x\n" * 30, b="open(a)\n", c="[" * 8 + "\n" * 30, d=None)
    yield "crlf", one("a[1]\r\nb\r\nc\r\nd\r\ne\r\nf\r\n")


def coverage():
    names = [f"src/f{n}" for n in range(10)]
    for read in (0, 1, 2, 3, 4, 10):
        yield f"{read} of 10 read", touched(names, *[call("read_file", path) for path in names[:read]])
    for function in ["read_file", "list_directory", "grep", "search", "READ_FILE", "grep_all", "research", "open_file", "reader", "read"]:
        yield f"read by {function}", touched(["a", "b", "c", "d", "e"], call(function, "a"))
    for key in ["path", "target_file", "file_path", "filepath", "file"]:
        yield f"path in {key}", touched(["a", "b", "c", "d", "e"], call("read_file", **{key: "a"}))
    yield "first of paths", touched(["a", "b", "c", "d", "e"], call("read_file", path="", target_file="a", file_path="zz"))
    yield "path before target", touched(["a", "b", "c", "d", "e"], call("read_file", path="zz", target_file="a", file_path="b"))
    yield "target before file", touched(["a", "b", "c", "d", "e"], call("read_file", target_file="zz", file_path="b"))
    yield "slashes", touched(["src//a", "b", "c", "d", "e"], call("read_file", "src/a"), call("read_file", "./b"))
    yield "the folder", touched([".", "b", "c", "d", "e"], call("list_directory", "."), call("read_file", "."))
    yield "read twice", touched(["a", "b", "c", "d", "e", "f", "g"], *[call("read_file", "a")] * 3)
    yield "no parameters", touched(["a"], {"tool_call": {"function_name": "read_file", "parameters": None}})
    yield "nothing modified", touched([], call("read_file", "a"))


def resolution():
    read, write = (lambda path: call("read_file", path)), (lambda path: call("write_file", path))
    yield "read then write", touched(["a"], read("a"), write("a"))
    yield "other order of writes", touched(["a", "b"], read("a"), read("b"), write("b"), write("a"))
    yield "same order", touched(["a", "b"], read("a"), read("b"), write("a"), write("b"))
    yield "write then read", touched(["a", "b"], write("b"), write("a"), read("a"))
    yield "first occurrences", touched(["a", "b", "c"], read("a"), write("b"), write("b"), write("a"), read("b"), write("c"), read("c"))
    yield "never written", touched(["a", "b"], read("x"), read("a"), call("compile", "a"))
    yield "never read", touched(["a", "b"], write("x"), write("a"))
    for function in ["write_file", "edit_file", "create_file", "WRITE_FILE", "overwrite_files", "writer", "delete_file", "search_write_file"]:
        yield f"written by {function}", touched(["a", "b", "c", "d"], read("a"), call(function, "x"), call(function, "a"))
    yield "the folder", touched(["a", "b"], read("."), read("a"), write("x"), write("a"))
    yield "the folder among writes", touched(["a", "b"], read("a"), write("."), write("a"))
    yield "no path among reads", touched(["a", "b"], call("read_file"), read("a"), write("x"), write("a"))
    yield "other calls do not count", touched(["a", "b"], call("open_file", "x"), read("a"), call("open_file", "y"), write("z"), write("a"))
    names = [f"f{n}" for n in range(10)]
    for proper in (1, 2, 3, 4):
        log = [read(path) for path in names[:proper]] + [write("x")] * proper + [write(path) for path in names]
        yield f"{proper} of 10 proper", touched(names, *log)


def mixtures(count):
    chance = random.Random(18)
    pieces = [
        "import os", "from . import a", "from x import y", "def some_name(a):", "def g (b):", "for a in b:", "while c:", "", "  ",
        "  some_name(a)", "  g(1)", "if (x): camelCase(y)", "try:", "except E:", "yield a", "open(x)", "with open(y) as z:", "a[1] = [2]",
        "list(set(b))", "x in list", "# comment", "x" * 101, "ä" * 100, "global q", "eval(r)", "for a in b for c in d", "漢字(1)", "\u2003import re",
        "dict itertools", "return 1", "json sys", "let someName = otherName(1);", "\u001f", "a\u0301_b e\u0301(2)",
    ]
    said = ["earlier", "alpha bravo charlie delta", "bravo delta echoes", "we did", "nothing", "äöüßé alpha", "before alpha\u2003bravo", ""]
    paths = ["a.py", "src//b.py", "src/b.py", "c.js", ".", "d"]
    functions = ["read_file", "write_file", "list_directory", "search_files", "edit_file", "go_to", "echo", "system_copy_1_read_file", "create_file"]
    for number in range(count):
        modified = {path: "\n".join(chance.choices(pieces, k=chance.randrange(30))) for path in chance.sample(paths, chance.randrange(5))}
        log = [call(chance.choice(functions), chance.choice(paths)) for _ in range(chance.randrange(14))]
        roles = chance.choices(["assistant", "user", "tool"], [3, 2, 1], k=chance.randrange(25))
        talk_ = [{"role": role, "content": " ".join(chance.choices(said, k=3))} for role in roles]
        yield f"mixture {number}", {"tool_usage_log": log, "conversation_history": talk_, "modified_files": modified}


def main():
    evaluator = original(sys.argv[1])
    vectors = []
    for group in (tools, memory, consistency, traversal, usability, runtime, space, coverage, resolution, lambda: mixtures(40)):
        for name, session in group():
            metrics = [getattr(evaluator, "_calculate_" + method)(session) for method in METHODS]
            vectors.append({"name": name, "session": session, "metrics": metrics})
    origin = "metrics: computed by SalesforceAIResearch/LoCoBench-Agent (Apache-2.0), commit 1abacfd, for sessions made by bench/locobench/vectors.py"
    lines = ",\n".join(json.dumps(vector, ensure_ascii=True, separators=(",", ":")) for vector in vectors)
    TARGET.write_text(f'{{"origin": {json.dumps(origin)},\n"vectors": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(vectors)} vectors")


if __name__ == "__main__":
    main()
