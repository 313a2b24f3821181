#!/usr/bin/env python3
"""Judge the results of a measurement from outside: one row a goal, exit code 1 when one is missed.

usage: goals.py RESULTS.json   (written by tuibench --out, with the profiles hermes, codex and opencode)
"""
import json
import sys


def at(r, path):
    for p in path.split("."):
        r = r.get(p) if isinstance(r, dict) else None
    return r


# what, field, unit and scale, goal in words, limit from (codex, opencode)
MIB = 1 / 1024
GOALS = [
    ("cold start: prompt seen", "cold.ready_seen", "ms", 1, "before codex", lambda c, o: c),
    ("cold start: settled, takes keys", "cold.ready_settled", "ms", 1, "before codex", lambda c, o: c),
    ("idle memory, PSS", "idle.mem_pss", "MiB", MIB, "1/4 of codex", lambda c, o: c / 4),
    ("idle CPU per 10 s", "idle.idle_cpu_s_per_10s", "s", 1, "at most codex", lambda c, o: c),
    ("idle output per 10 s", "idle.idle_bytes_per_10s", "bytes", 1, "nothing", lambda c, o: 0),
    ("key to paint, idle, p50", "idle.key_ms.p50", "ms", 1, "at most opencode", lambda c, o: o),
    ("key to paint, idle, p99", "idle.key_ms.p99", "ms", 1, "1/2 of codex", lambda c, o: c / 2),
    ("key to paint, streaming, p99", "steady.key_ms.p99", "ms", 1, "1/20 of codex and under 33 ms", lambda c, o: min(c / 20, 33)),
    ("CPU per 100 kB, fast", "fast.cpu_s_per_100kB", "s", 1, "1/2 of codex", lambda c, o: c / 2),
    ("CPU per 100 kB, steady", "steady.cpu_s_per_100kB", "s", 1, "1/2 of codex", lambda c, o: c / 2),
    ("terminal bytes per 100 kB, fast", "fast.pty_bytes_per_100kB", "", 1, "at most codex", lambda c, o: c),
    ("terminal bytes per 100 kB, steady", "steady.pty_bytes_per_100kB", "", 1, "at most codex", lambda c, o: c),
    ("end of stream to screen, fast", "fast.end_lag_ms", "ms", 1, "under 100 ms", lambda c, o: 100),
    ("end of stream to screen, steady", "steady.end_lag_ms", "ms", 1, "under 100 ms", lambda c, o: 100),
    ("2,000 messages: load", "scroll.load_ms", "ms", 1, "1/10 of codex", lambda c, o: c / 10),
    ("2,000 messages: memory, PSS", "scroll.mem_pss", "MiB", MIB, "1/4 of codex", lambda c, o: c / 4),
    ("2,000 messages: page-up, p50", "scroll.scroll_ms.p50", "ms", 1, "1/2 of codex", lambda c, o: c / 2),
    ("2,000 messages: page-up, p99", "scroll.scroll_ms.p99", "ms", 1, "1/2 of codex", lambda c, o: c / 2),
]


def show(v, scale):
    if v is None:
        return "n/a"
    v *= scale
    return "%.0f" % v if abs(v) >= 100 or v == 0 else "%.3g" % v


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        results = json.load(f)["results"]
    missed = 0
    print("| metric | hermes | codex | opencode | goal | limit | met |")
    print("| --- | ---: | ---: | ---: | --- | ---: | --- |")
    for what, path, unit, scale, goal, limit in GOALS:
        ours, codex, opencode = (at(results.get(p, {}), path) for p in ("hermes", "codex", "opencode"))
        most = None
        try:
            most = limit(codex, opencode)
            met = "yes" if ours <= most else "NO"
        except TypeError:
            met = "not measured"
        missed += met != "yes"
        cells = [what + (" (%s)" % unit if unit else "")] + [show(v, scale) for v in (ours, codex, opencode)]
        print("| %s |" % " | ".join(cells + [goal, show(most, scale), met]))
    sys.exit(1 if missed else 0)


main()
