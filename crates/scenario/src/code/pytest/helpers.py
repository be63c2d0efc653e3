import importlib
import json
import os
import re
import sys

import pytest
import requests

BASE_URL = os.environ["BASE_URL"].rstrip("/")
HEADERS = {"Content-Type": "application/json"}
# No body; in `like` a key that is left out.
NOTHING = object()

session = requests.Session()
# Neither proxies nor credentials of this machine have anything to do with the server.
session.trust_env = False

# By name: the answers that a test has kept.
kept = {}
# RECORDS of the file that runs: a test may be taken over from that of an earlier turn.
records = {}


def in_order(turn, file):
    """Imports the turns before that of a file, the first first: each takes over the tests of the one before it."""
    if os.path.dirname(os.path.abspath(__file__)) != os.path.dirname(os.path.abspath(file)):
        raise ImportError(f"{__file__} is of another scenario than {file}: run pytest once for each scenario")
    if f"turn_{turn - 1}" not in sys.modules:
        for number in range(1, turn):
            importlib.import_module(f"turn_{number}")


@pytest.fixture(autouse=True)
def fresh_data(request):
    """Every test begins with a server without records."""
    kept.clear()
    records.clear()
    records.update(request.module.RECORDS)
    method, path = request.module.RESET
    answer = session.request(method, BASE_URL + path, timeout=10, allow_redirects=False)
    assert answer.status_code < 400


class the:
    """A value of an answer that was kept: `the("orders_1.id")`."""

    def __init__(self, path):
        self.path = path

    def value(self):
        name, *steps = self.path.split(".")
        found = kept[name]
        for step in steps:
            found = found[int(step)] if isinstance(found, list) else found[step]
        return found


def filled(value):
    """The same with every `the` replaced by its value."""
    if isinstance(value, the):
        return value.value()
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    return [filled(item) for item in value] if isinstance(value, list) else value


def spelled(text):
    """The same with every `{orders_1.id}` replaced by its value."""
    values = (filled(the(path)) for path in re.findall(r"\{([A-Za-z0-9_.]+)\}", text))
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return re.sub(r"\{[A-Za-z0-9_.]+\}", lambda _: texts.pop(0), text)


def address(path):
    """A path in full: `orders` stands for that of a collection, `orders_1` for that of a record."""
    name, slash, rest = path.partition("/")
    if name in records:
        path = records[name][0] + slash + rest
    elif name:
        path = records[name.rpartition("_")[0]][0] + "/{" + name + ".id}" + slash + rest
    return BASE_URL + spelled(path)


def send(method, path, body, status, checks, query, keep):
    """Sends a request, holds the answer against what is expected, keeps its JSON under a name."""
    answer = session.request(
        method,
        address(path),
        params=[(name, spelled(value)) for name, value in query],
        data=None if body is NOTHING else json.dumps(filled(body)),
        headers=None if body is NOTHING else HEADERS,
        timeout=10,
        allow_redirects=False,
    )
    assert answer.status_code == status, f"{method} {answer.url}: {answer.status_code} {answer.text[:500]}"
    given = NOTHING
    if answer.content:
        try:
            given = answer.json()
        except ValueError:
            assert not checks, f"{method} {answer.url}: no JSON: {answer.text[:500]}"
    for check in checks:
        check(given)
    if keep:
        kept[keep] = None if given is NOTHING else given


def get(path, status, *checks, query=(), keep=None):
    send("GET", path, NOTHING, status, checks, query, keep)


def delete(path, status, *checks, query=(), keep=None):
    send("DELETE", path, NOTHING, status, checks, query, keep)


def post(path, body, status, *checks, query=(), keep=None):
    send("POST", path, body, status, checks, query, keep)


def put(path, body, status, *checks, query=(), keep=None):
    send("PUT", path, body, status, checks, query, keep)


def patch(path, body, status, *checks, query=(), keep=None):
    send("PATCH", path, body, status, checks, query, keep)


def like(name, /, **changes):
    """The body that a record is made with, changed."""
    entity, _, number = name.rpartition("_")
    bodies = records[entity][2]
    body = {**bodies[(int(number) - 1) % len(bodies)], **changes}
    return {key: value for key, value in body.items() if value is not NOTHING}


def make(*names, **changes):
    """Makes records and keeps them under their names; the changes are those of the last."""
    for place, name in enumerate(names, 1):
        path, status, _ = records[name.rpartition("_")[0]]
        post(path, like(name, **(changes if place == len(names) else {})), status, keep=name)


def at(body, pointer):
    """The value at a place in a body; an exception where nothing is."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        body = body[int(step)] if isinstance(body, list) else body[step]
    return body


def same(given, wanted):
    """Equality of JSON: numbers may differ by 1e-6, booleans are no numbers, lists are compared in order."""
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    if isinstance(given, (int, float)) and isinstance(wanted, (int, float)):
        return abs(given - wanted) <= 1e-6
    if isinstance(given, dict) and isinstance(wanted, dict):
        return given.keys() == wanted.keys() and all(same(given[key], wanted[key]) for key in wanted)
    if isinstance(given, list) and isinstance(wanted, list):
        return len(given) == len(wanted) and all(map(same, given, wanted))
    return type(given) is type(wanted) and given == wanted


def includes(given, wanted):
    """Whether an object has at least these keys with these values."""
    return isinstance(given, dict) and all(
        key in given and same(given[key], value) for key, value in wanted.items()
    )


def pair_up(given, wanted):
    """Whether every wanted row can have an object of its own that includes it."""
    return not wanted or any(
        includes(row, wanted[0]) and pair_up(given[:place] + given[place + 1 :], wanted[1:])
        for place, row in enumerate(given)
    )


def equal(place, value):
    """The value at a place is this."""

    def check(body):
        assert same(at(body, place), filled(value))

    return check


def has(place="", /, **fields):
    """The object at a place has at least these keys with these values."""

    def check(body):
        assert includes(at(body, place), filled(fields))

    return check


def absent(place):
    """Nothing is at a place."""

    def check(body):
        try:
            given = at(body, place)
        except (LookupError, TypeError, ValueError):
            return
        assert given is NOTHING

    return check


def a_text(place):
    """A text that is not empty is at a place."""

    def check(body):
        given = at(body, place)
        assert isinstance(given, str) and given != ""

    return check


def an_id(place):
    """An integer of at least 1 is at a place."""

    def check(body):
        given = at(body, place)
        assert isinstance(given, int) and not isinstance(given, bool) and given >= 1

    return check


def column(place, key, values):
    """The list at a place has, in this order, objects with these values under a key."""

    def check(body):
        given, wanted = at(body, place), filled(values)
        assert isinstance(given, list) and len(given) == len(wanted)
        assert all(includes(row, {key: value}) for row, value in zip(given, wanted))

    return check


def rows(place, wanted):
    """The list at a place has exactly these objects, in any order; they may have more keys."""

    def check(body):
        given = at(body, place)
        assert isinstance(given, list) and len(given) == len(wanted)
        assert pair_up(given, filled(wanted))

    return check
