"""An MCP client over a child process's pipes, as small as can be: one line of JSON each way."""

import json
import queue
import subprocess
import threading
import time

# How long an answer may take on a busy machine.
PATIENCE = 60

# The client can show a dialog.
FORM = {"elicitation": {"form": {}}}


class Session:
    """A server process, and a conversation with it in one of the two eras of the protocol."""

    def __init__(self, command, revision, capabilities=None, environment=None):
        self.started = time.monotonic()
        self.revision = revision
        self.capabilities = FORM if capabilities is None else capabilities
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = []
        self._lines = queue.Queue()
        self._next = 0
        self._readers = [threading.Thread(target=reader, daemon=True) for reader in (self._read, self._listen)]
        for reader in self._readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _listen(self):
        for line in self.process.stderr:
            self.said.append(line.decode(errors="replace"))

    @property
    def stderr(self):
        """What the server has said beside the protocol."""
        return "".join(self.said)

    def send(self, message):
        """Sends a message as it is."""
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message, whatever it is."""
        line = self._lines.get(timeout=PATIENCE)
        if line is None:
            raise AssertionError(f"the server is gone; it said: {self.stderr}")
        return json.loads(line)

    def ask(self, method, parameters=None, answer=None):
        """A request and its result. A question that comes before it is answered with `answer`."""
        self._next += 1
        number = self._next
        parameters = dict(parameters or {})
        if self.revision >= "2026":
            parameters["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientInfo": {"name": "container-test", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            }
        self.send({"id": number, "method": method, "params": parameters})
        while True:
            message = self.receive()
            if message.get("method") == "elicitation/create":
                assert answer is not None, f"not to be asked: {message}"
                self.send({"id": message["id"], "result": answer})
            elif message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def open(self):
        """Says hello as this era does; the server's name for itself."""
        if self.revision >= "2026":
            return self.ask("server/discover")
        hello = self.ask("initialize", {
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "container-test", "version": "0"},
        })
        self.send({"method": "notifications/initialized"})
        return hello

    def tools(self):
        """The names of the tools on offer."""
        return [tool["name"] for tool in self.ask("tools/list")["tools"]]

    def call(self, tool, arguments, answer=None):
        """Calls a tool; where a person is asked, `answer` is what the person says, in either era."""
        request = {"name": tool, "arguments": arguments}
        result = self.ask("tools/call", request, answer)
        if result.get("resultType") == "input_required":
            assert answer is not None, f"not to be asked: {result}"
            responses = {key: answer for key in result["inputRequests"]}
            request |= {"inputResponses": responses, "requestState": result["requestState"]}
            result = self.ask("tools/call", request)
        return result

    def end(self, within=10):
        """Closes the input, as a client that is done does; the exit code."""
        self.process.stdin.close()
        return self.process.wait(timeout=within)
