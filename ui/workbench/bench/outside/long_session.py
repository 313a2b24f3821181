#!/usr/bin/env python3
"""Repeat the one turn that a seed run left in HERMES_HOME until a session holds MESSAGES messages, and take the seed away.

usage: long_session.py HERMES_BIN
HERMES_HOME and MESSAGES come from the environment, as the measuring tool sets them.
"""
import copy
import json
import os
import subprocess
import sys

EXE = sys.argv[1]
PAIRS = int(os.environ.get("MESSAGES", "2000")) // 2


def hermes(*args):
    r = subprocess.run([EXE, *args], capture_output=True, text=True, timeout=120)
    if r.returncode:
        sys.exit("hermes %s: %s" % (" ".join(args), r.stderr or r.stdout))
    return r.stdout


def main():
    d = json.loads(hermes("sessions", "export", "last", "--format", "json"))
    user, said = (next(m for m in d["messages"] if m["role"] == role) for role in ("user", "assistant"))
    seed = d["session"]["uid"]
    d["session"]["uid"] = seed[:-4] + "long"
    d["messages"] = []
    for k in range(PAIRS):
        for m in (user, said):
            m = copy.deepcopy(m)
            m["session"] = d["session"]["uid"]
            if m["role"] == "user":
                m["text"] = "show me sample %d" % k
            d["messages"].append(m)
    path = os.path.join(os.environ["HOME"], "long.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(d, f)
    hermes("sessions", "import", path)
    hermes("sessions", "rm", seed, "--yes")


main()
