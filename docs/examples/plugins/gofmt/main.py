"""A plugin of Hermes in Python's standard library: two hooks.

A hook is a tool that the manifest names. Its arguments are what a hook of the settings reads from
standard input, its text is what such a hook prints: docs/hooks.md.
"""
import json
import os
import subprocess
import sys


def path_of(event):
    path = (event.get("tool_input") or {}).get("path") or ""
    return os.path.join(event.get("cwd") or "", os.path.expanduser(path))


def guard(event):
    """Says no to files that a program writes."""
    path = path_of(event)
    if path.endswith(".go") and os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as f:
            if "DO NOT EDIT" in f.readline():
                return {"decision": "block", "reason": os.path.basename(path) + " is generated: change what generates it"}
    return {}


def format_file(event):
    """Runs gofmt over the file that was written."""
    path = path_of(event)
    if not path.endswith(".go") or event.get("tool_response", {}).get("is_error"):
        return {}
    before = open(path, "rb").read()
    done = subprocess.run(["gofmt", "-w", path], capture_output=True, text=True, timeout=15)
    if done.returncode != 0:
        return {"context": "gofmt: " + done.stderr[:2000]}
    if open(path, "rb").read() != before:
        return {"context": "gofmt changed " + os.path.basename(path) + ": read it again before you edit it"}
    return {}


HOOKS = {"guard": guard, "format": format_file}
TOOLS = [{"name": name, "description": f.__doc__, "inputSchema": {"type": "object"}} for name, f in HOOKS.items()]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "gofmt", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            text, failed = json.dumps(HOOKS[params["name"]](params.get("arguments") or {})), False
        except Exception as e:
            text, failed = repr(e), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:  # the rest are notifications
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
