"""The program of the plugin NAME. It reads JSON-RPC messages from standard input, one a line, and
answers on standard output. What else it has to say goes to standard error: hermes plugins logs NAME
"""
import json
import sys

TOOLS = [
    {"name": "count", "description": "Count the words of a text.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "hello", "description": "The command /NAME.", "inputSchema": {"type": "object"}},
]


def call(name, args):
    if name == "count":
        return str(len(args["text"].split()))
    if name == "hello":
        return "Hello, " + (args.get("argument") or "you") + "."
    raise ValueError("there is no tool " + name)


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "NAME", "version": "0.1.0"}}
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
