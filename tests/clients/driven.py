"""A client library, in a process of its own, that does as it is told (see drivers/)."""

import json
import queue
import subprocess
import threading

# How long anything may take on a busy machine.
PATIENCE = 60


class ProtocolError(Exception):
    """The call was answered with a JSON-RPC error."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]


class Driven:
    """A client that has started a server and is connected to it."""

    def __init__(self, driver, server, environment, revision, form):
        self.process = subprocess.Popen(driver, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.said = ""
        self._answers = queue.Queue()
        self._heard = threading.Condition()
        self._readers = [threading.Thread(target=reader, daemon=True) for reader in (self._read, self._listen)]
        for reader in self._readers:
            reader.start()
        hello = {"do": "connect", "command": server, "environment": environment, "revision": revision, "form": form}
        try:
            self.revision = self._command(hello)["revision"]
        except Exception:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for reader in self._readers:
            reader.join(PATIENCE)

    def _read(self):
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put(None)

    def _listen(self):
        # The server speaks here as well: a client hands its own stderr down.
        for line in self.process.stderr:
            with self._heard:
                self.said += line
                self._heard.notify_all()

    def _command(self, command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        try:
            line = self._answers.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"{command['do']} took too long; on stderr:\n{self.said}") from None
        if line is None:
            self._readers[1].join(PATIENCE)
            raise AssertionError(f"the client is gone; on stderr:\n{self.said}")
        answer = json.loads(line)
        if "error" in answer:
            raise ProtocolError(answer["error"])
        return answer

    def list(self):
        return self._command({"do": "list"})["tools"]

    def call(self, name, arguments, answer=None):
        """The result, and the questions that a person answered with `answer` on the way."""
        said = self._command({"do": "call", "name": name, "arguments": arguments, "answer": answer})
        return said["result"], said["asked"]

    def unknown(self, name):
        """Calls a tool that does not exist."""
        try:
            answer = self.call(name, {})
        except ProtocolError as error:
            assert error.code == -32602, error
        else:
            raise AssertionError(f"it was answered: {answer}")

    def ask(self, name, arguments):
        """Begins a call and leaves it with the person; the question."""
        return self._command({"do": "ask", "name": name, "arguments": arguments})["question"]

    def cancel(self):
        """Cancels the call that was left; what came of it."""
        return self._command({"do": "cancel"})

    def wait_for(self, text):
        """Waits until the server has said this on stderr."""
        with self._heard:
            assert self._heard.wait_for(lambda: text in self.said, PATIENCE), f"never said: {text}\n{self.said}"

    def close(self):
        """Ends the client, and the server with it: the pipe they share has to close."""
        self._command({"do": "close"})
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        assert code == 0, f"the client ended with {code}:\n{self.said}"
        self._readers[1].join(PATIENCE)
        assert not self._readers[1].is_alive(), "the server lives on without its client"
