"""The inspector's two command lines: one starts a server for each call, the other keeps it in a daemon."""

import json
import os
import secrets
import subprocess
import tempfile

from driven import PATIENCE

# Exit codes: the call was answered with isError, and the tool does not exist.
IS_ERROR = 5


class CommandLine:
    """Runs a command that answers in JSON, with a home of its own."""

    def __init__(self, command, revision):
        self.command = command
        self.revision = revision
        self.era = "legacy" if revision < "2026" else "modern"
        self.home = tempfile.TemporaryDirectory()
        self.environment = {**os.environ, "HOME": self.home.name, "MCP_INSPECTOR_SECRET_STORE": "memory"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.home.cleanup()

    def run(self, *arguments, codes=(0,)):
        """What it prints on stdout; or the code and name of its own error."""
        done = subprocess.run([*self.command, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in codes, f"{arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return json.loads(done.stdout) if done.stdout else done.stderr

    def close(self):
        pass


class Inspector(CommandLine):
    """`mcp-inspector --cli --strict`, which has no dialog."""

    def __init__(self, bin, server, environment, revision, form):
        super().__init__([f"{bin}/mcp-inspector", "--cli"], revision)
        variables = [part for variable in environment.items() for part in ("-e", "=".join(variable))]
        self.command += [*variables, server, "--format", "json", "--protocol-era", self.era]

    def list(self):
        # A schema that does not travel well is exit 6.
        return self.run("--method", "tools/list", "--strict")["result"]["tools"]

    def call(self, name, arguments, answer=None):
        called = self.run("--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments),
                          codes=(0, IS_ERROR))
        return called["result"], []

    def unknown(self, name):
        said = self.run("--method", "tools/call", "--tool-name", name, codes=(1, IS_ERROR))
        assert "tool_not_found" in said, said


class McpDo(CommandLine):
    """`mcpdo`, whose person answers from the shell."""

    def __init__(self, bin, server, environment, revision, form):
        super().__init__([f"{bin}/mcpdo", "--format", "json", "--connection", "wg"], revision)
        self.environment["MCP_INSPECTOR_DAEMON_DIR"] = self.home.name
        self.environment["MCP_INSPECTOR_DAEMON_TOKEN"] = secrets.token_hex()
        variables = [part for variable in environment.items() for part in ("-e", "=".join(variable))]
        try:
            elicit = "form" if form else "off"
            made = self.run("connect", "--era", self.era, "--elicit", elicit, *variables, "--", server)
            assert made["protocolEra"] == self.era, made
        except Exception:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.run("daemon", "stop")
        super().__exit__()

    def list(self):
        return self.run("tools/list")["tools"]

    def call(self, name, arguments, answer=None):
        said, asked = self.run("tools/call", name, json.dumps(arguments), codes=(0, IS_ERROR)), []
        while pending := said.get("elicitationPending"):
            asked.append(pending)
            answers = {"decline": ["--decline"], "cancel": ["--cancel"]}.get(answer["action"])
            answers = answers or [json.dumps(answer["content"])]
            said = self.run("elicitation/respond", pending["elicitationId"], *answers, codes=(0, IS_ERROR))
        return said, asked

    def close(self):
        self.run("disconnect", "wg")
