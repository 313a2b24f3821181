"""A plugin of Hermes in Python's standard library: notes in a file.

It reads JSON-RPC messages from standard input, one a line, and answers on standard output. Whatever
else it wants to say goes to standard error: `hermes plugins logs notes` shows it.
"""
import json
import os
import sys

FILE = os.path.join(os.environ["HERMES_PLUGIN_DATA"], "notes.txt")
SETTINGS = json.loads(os.environ["HERMES_PLUGIN_SETTINGS"])

WORD = {"type": "object", "properties": {"word": {"type": "string"}}}
TOOLS = [
    {"name": "add", "description": "Keep a short note for later sessions.",
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "find", "description": "List the kept notes that hold a word.", "inputSchema": WORD,
     "annotations": {"readOnlyHint": True}},
    {"name": "show", "description": "The command /notes.", "inputSchema": {"type": "object"}},
]


def notes(word=""):
    if not os.path.exists(FILE):
        return []
    with open(FILE, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if word.lower() in line.lower()][-SETTINGS["most"]:]


def call(name, args):
    if name == "add":
        with open(FILE, "a", encoding="utf-8") as f:
            f.write(" ".join(args["text"].split()) + "\n")
        return "kept"
    return "\n".join(notes(args.get("word") or args.get("argument") or "")) or "no notes"


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            text, failed = call(params["name"], params.get("arguments") or {}), False
        except Exception as e:
            text, failed = repr(e), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:  # the rest are notifications
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
