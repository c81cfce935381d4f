"""A model with scripted moves, behind the two interfaces that agents speak to: Anthropic's messages and OpenAI's responses, both streamed.

It keeps no state: the results in the conversation that the client sends say how far the task is, as they do for a model. A tool that
the client offers only after a search is searched for.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The name of a model that Claude Code knows.
NAME = "claude-sonnet-4-6"
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class Script:
    """The calls of the task, each a tool and its arguments, and what the client sent to the model."""

    def __init__(self, steps: list[tuple[str, dict]], server: str, done: str) -> None:
        self.steps, self.server, self.done = steps, server, done
        self.received: list[bytes] = []
        self.results: list[str] = []

    def next(self, offered: dict, results: list[str]) -> tuple:
        """The next move: ("call", the client's name of the tool, arguments) or ("say", the last words)."""
        if len(results) >= len(self.results):
            self.results = results
        if results and results[-1].startswith("DENY"):
            return "say", f"The guard refuses {self.steps[len(results) - 1][0]}: {results[-1]}"
        if len(results) == len(self.steps):
            return "say", self.done
        tool, arguments = self.steps[len(results)]
        if tool in offered:
            return "call", offered[tool], arguments
        if "ToolSearch" in offered:
            return "call", offered["ToolSearch"], {"query": f"select:mcp__{self.server}__{tool}", "max_results": 1}
        return "say", f"The tool {tool} is not offered."


def words(content: str | list) -> str:
    parts = [content] if isinstance(content, str) else [part.get("text", f"({part['type']})") for part in content]
    # Each client adds words of its own: how long a call took, how many tokens are left.
    ours = [part.partition("<system-reminder>")[0].rstrip() for part in parts if not part.startswith("Wall time: ")]
    return "\n".join(part for part in ours if part)


class Messages:
    """Anthropic's interface."""

    @staticmethod
    def read(request: dict) -> tuple[dict, list[str]]:
        offered = {tool["name"].rpartition("__")[2]: tool["name"] for tool in request.get("tools", [])}
        lists = [message["content"] for message in request["messages"] if isinstance(message["content"], list)]
        parts = [part for content in lists for part in content]
        called = {part["id"]: part["name"] for part in parts if part["type"] == "tool_use"}
        answers = [part for part in parts if part["type"] == "tool_result"]
        results = [words(part["content"]) for part in answers if called[part["tool_use_id"]].startswith("mcp__")]
        return offered, results

    @staticmethod
    def write(move: tuple, number: int) -> list[dict]:
        match move:
            case "call", name, arguments:
                block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
                delta, why = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use"
            case _, text:
                block, delta, why = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn"
        begun = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": NAME, "content": [], "usage": USAGE}
        return [{"type": "message_start", "message": begun | {"stop_reason": None, "stop_sequence": None}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": USAGE},
                {"type": "message_stop"}]


class Responses:
    """OpenAI's interface."""

    @staticmethod
    def read(request: dict) -> tuple[dict, list[str]]:
        offered = {}
        for tool in request["tools"]:
            if tool["type"] == "namespace":
                offered |= {one["name"]: (tool["name"], one["name"]) for one in tool["tools"]}
        answers = [item for item in request["input"] if item["type"] == "function_call_output"]
        return offered, [words(item["output"]) for item in answers]

    @staticmethod
    def write(move: tuple, number: int) -> list[dict]:
        match move:
            case "call", (space, name), arguments:
                item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "namespace": space,
                        "name": name, "arguments": json.dumps(arguments)}
            case _, text:
                said = [{"type": "output_text", "text": text}]
                item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": said}
        response = {"id": f"resp_{number}"}
        return [{"type": "response.created", "response": response},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response | {"usage": USAGE}}]


def serve(script: Script) -> str:
    """Serves the model on this machine, and returns the address."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            interface = {"/v1/messages": Messages, "/v1/responses": Responses}.get(self.path.partition("?")[0])
            if interface is None:
                return self.send_error(404)
            script.received.append(body)
            move = script.next(*interface.read(json.loads(body)))
            events = interface.write(move, len(script.received))
            stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(stream)))
            self.end_headers()
            self.wfile.write(stream)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
