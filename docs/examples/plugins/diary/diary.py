"""A memory provider of Hermes in Python's standard library: a diary, searched by words.

The manifest names two of its tools. `recall` is asked before a turn: its text stands with the
person's message. `keep` is told after a turn what was said and what was answered. Both have a time
limit, and the turn goes on without them.
"""
import json
import os
import re
import sys
import time

FILE = os.path.join(os.environ["HERMES_PLUGIN_DATA"], "diary.jsonl")
MOST = json.loads(os.environ["HERMES_PLUGIN_SETTINGS"])["most"]


def words(text):
    return {w for w in re.findall(r"\w+", text.lower()) if len(w) > 3}


def pages():
    if not os.path.exists(FILE):
        return []
    with open(FILE, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def found(text):
    """The pages that share most words with a text, the newest first among equals."""
    asked = words(text)
    ranked = [(len(asked & words(p["user"] + " " + p["assistant"])), i, p) for i, p in enumerate(pages())]
    return [p for n, _, p in sorted(ranked, key=lambda r: r[:2], reverse=True) if n > 0][:MOST]


def told(page):
    return f'{page["day"]}, the person said: {page["user"][:300]}\n  answered: {page["assistant"][:300]}'


def recall(args):
    return "\n".join(told(p) for p in found(args["query"]) if p["session"] != args["session_id"])


def keep(args):
    if args.get("foreign"):  # strangers' words were read: nothing of that is kept
        return ""
    page = {"day": time.strftime("%Y-%m-%d"), "session": args["session_id"], "user": args["user"], "assistant": args["assistant"]}
    with open(FILE, "a", encoding="utf-8") as f:
        f.write(json.dumps(page) + "\n")
    return ""


def show(args):
    """The command /diary."""
    return "\n".join(told(p) for p in found(args.get("argument") or "")) or f"{len(pages())} pages"


CALLS = {"recall": recall, "keep": keep, "show": show}
TOOLS = [{"name": name, "description": f.__doc__ or name, "inputSchema": {"type": "object"}} for name, f in CALLS.items()]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "diary", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            text, failed = CALLS[params["name"]](params.get("arguments") or {}), False
        except Exception as e:
            text, failed = repr(e), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:  # the rest are notifications
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
