#!/usr/bin/env python3
"""Reads a tidy table into SQLite with pandas and sqlite3: the yardstick of `npm run bench -- --only tables`.

One table, as it stands, with the index that asking for an episode needs; stamina is not computed.

    pip install pandas
    python_table.py TABLE DATABASE
"""

import json
import sqlite3
import sys

import pandas


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    db = sqlite3.connect(sys.argv[2])
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
    attempts = 0
    for chunk in pandas.read_csv(sys.argv[1], chunksize=200_000):
        chunk.to_sql("attempt", db, if_exists="append", index=False)
        attempts += len(chunk)
    db.execute("CREATE INDEX attempt_episode ON attempt (run, scenario, turn)")
    db.commit()
    db.close()
    print(json.dumps({"attempts": attempts}))


if __name__ == "__main__":
    main()
