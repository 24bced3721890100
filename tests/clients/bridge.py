"""Streamable HTTP on one side and the server's stdio on the other: the conformance tests speak nothing but HTTP.

As thin as can be, since what is tested is behind it. A session of an older revision has a server of its own; those of
2026-07-28 have no sessions, so they share one, in which requests are numbered anew.
"""

import itertools
import json
import queue
import secrets
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from driven import PATIENCE

# The conformance tests call tools by the names that the SDKs' test servers give them. These do what is wanted there.
STAND_INS = {
    "test_simple_text": ("list_clients", {}),
    "test_image_content": ("get_client_qrcode", {"clientId": 1}),
    "test_error_handling": ("get_client", {"clientId": 77}),
    "test_elicitation": ("delete_client", {"clientId": 1}),
    "test_input_required_result_elicitation": ("delete_client", {"clientId": 1}),
    "test_input_required_result_request_state": ("delete_client", {"clientId": 1}),
    "test_input_required_result_tampered_state": ("delete_client", {"clientId": 1}),
}

# The HTTP status that 2026-07-28 wants beside an error's code.
STATUS = {-32601: 404, -32600: 400, -32602: 400, -32022: 400}


class Server:
    """A server process. What it sends goes to the exchange that it belongs to."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.open = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self._lock:
                if "method" in message:
                    # A question or a notification, on the way to the latest answer.
                    exchange = next(reversed(self.open.values()), None)
                else:
                    exchange = self.open.pop(message.get("id"), None)
            if exchange:
                exchange.put(message)

    def send(self, message):
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def exchange(self, request):
        """What comes back for a request, its answer last."""
        number, exchange = next(self._numbers), queue.Queue()
        with self._lock:
            self.open[number] = exchange
        self.send(request | {"id": number})
        while True:
            message = exchange.get(timeout=PATIENCE)
            if "method" not in message:
                yield message | {"id": request["id"]}
                return
            yield message

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


class Bridge(ThreadingHTTPServer):
    """Listens on a free port of the loopback interface."""

    daemon_threads = True

    def __init__(self, command, environment):
        super().__init__(("127.0.0.1", 0), Handler)
        self.start = lambda: Server(command, environment)
        self.shared = self.start()
        self.sessions = {}
        self.url = f"http://127.0.0.1:{self.server_port}/mcp"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        for server in [self.shared, *self.sessions.values()]:
            server.end()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        # No stream beside the answers.
        self.plain(405)

    def do_DELETE(self):
        server = self.server.sessions.pop(self.headers.get("Mcp-Session-Id"), None)
        if server:
            server.end()
        self.plain(200 if server else 404)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parameters = message.get("params") or {}
        if message.get("method") == "tools/call" and parameters.get("name") in STAND_INS:
            parameters["name"], parameters["arguments"] = STAND_INS[parameters["name"]]
        headers = {}
        session = self.headers.get("Mcp-Session-Id")
        if message.get("method") == "initialize":
            session = secrets.token_hex()
            self.server.sessions[session] = self.server.start()
            headers["Mcp_Session_Id"] = session
        if session is None:
            server = self.server.shared
        elif (server := self.server.sessions.get(session)) is None:
            return self.plain(404)
        if "id" not in message or "method" not in message:
            server.send(message)
            return self.plain(202)
        messages = server.exchange(message)
        first = next(messages)
        if "method" not in first:
            status = STATUS.get(first.get("error", {}).get("code"), 200) if session is None else 200
            return self.plain(status, json.dumps(first).encode(), Content_Type="application/json", **headers)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for message in itertools.chain([first], messages):
            self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
            self.wfile.flush()
