"""The image, as the people who use it start it. Run by tests/container/run, which provides an engine."""

import json
import os
import pathlib
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest

from mcp import Session

IMAGE = os.environ["IMAGE"]
URL = os.environ["WG_EASY_URL"]
USERNAME = os.environ["WG_EASY_USERNAME"]
PASSWORD = os.environ["WG_EASY_PASSWORD"]
HERE = pathlib.Path(__file__).resolve().parent
SECCOMP = HERE.parent.parent / "policy" / "seccomp.json"

HARDENED = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", f"--security-opt=seccomp={SECCOMP}"]
OLD, NEWER, NEW = "2025-06-18", "2025-11-25", "2026-07-28"
YES = {"action": "accept", "content": {"confirm": True}}
NO = {"action": "decline"}
GUARDED_AND_NOT = 11


def docker(*arguments, check=True):
    return subprocess.run(["docker", *arguments], check=check, capture_output=True, text=True).stdout


def credentials():
    """The environment of a client, and the options that hand it on without showing it."""
    values = {"WG_EASY_URL": URL, "WG_EASY_USERNAME": USERNAME, "WG_EASY_PASSWORD": PASSWORD}
    return {**os.environ, **values}, [part for name in values for part in ("-e", name)]


def run(*options, revision=NEWER, network="host", capabilities=None, secrets=True):
    """A client's `docker run`."""
    environment, pass_on = credentials() if secrets else (None, [])
    command = ["docker", "run", "--rm", "-i", f"--network={network}", *pass_on, *options, IMAGE]
    return Session(command, revision, capabilities, environment)


def containers():
    return docker("ps", "--all", "--quiet").split()


class Image(unittest.TestCase):
    def setUp(self):
        self.assertEqual(containers(), [], "something was left over before the test began")

    def tearDown(self):
        left = containers()
        if left:
            # One that is being removed already is no fault.
            docker("rm", "--force", *left, check=False)
            self.gone()

    def gone(self, within=10):
        """No container is left, soon."""
        end = time.monotonic() + within
        while containers():
            self.assertLess(time.monotonic(), end, "a container is left behind")
            time.sleep(0.1)

    def session(self, session):
        """A whole conversation: hello, the tools, a read, a question answered no, and one answered yes."""
        with session:
            session.open()
            self.assertEqual(len(session.tools()), GUARDED_AND_NOT)
            before = session.call("list_clients", {})["structuredContent"]["total"]
            self.assertGreater(before, 0)
            name = f"made in a container {time.monotonic_ns()}"
            refused = session.call("create_client", {"name": name}, answer=NO)
            self.assertTrue(refused["isError"])
            self.assertEqual(session.call("list_clients", {})["structuredContent"]["total"], before)
            made = session.call("create_client", {"name": name}, answer=YES)
            self.assertNotEqual(made.get("isError"), True, made)
            number = made["structuredContent"]["clientId"]
            found = session.call("get_client", {"clientId": number})["structuredContent"]
            self.assertIn(name, json.dumps(found))
            deleted = session.call("delete_client", {"clientId": number}, answer=YES)
            self.assertEqual(deleted["structuredContent"], {"deleted": number})
            self.assertEqual(session.end(), 0)
        self.gone()

    # Sessions

    def test_a_session_with_a_guarded_call_in_every_revision(self):
        for revision in (OLD, NEWER, NEW):
            with self.subTest(revision):
                self.session(run(*HARDENED, revision=revision))

    def test_it_runs_under_any_numeric_user(self):
        for user in ("12345:54321", "2147483647:1", "0:0"):
            with self.subTest(user):
                self.session(run(*HARDENED, "--user", user))

    def test_it_runs_with_nothing_but_the_engines_own_hardening(self):
        self.session(run())

    def test_its_tools_can_be_listed_without_a_network_or_a_configuration(self):
        for revision in (OLD, NEWER, NEW):
            with self.subTest(revision), run(*HARDENED, revision=revision, network="none", secrets=False) as session:
                session.open()
                self.assertEqual(len(session.tools()), GUARDED_AND_NOT)
                answer = session.call("list_clients", {})
                self.assertTrue(answer["isError"])
                self.assertIn("WG_EASY_URL", json.dumps(answer))
                self.assertEqual(session.end(), 0)

    def test_without_a_network_a_call_says_so_and_the_session_lives_on(self):
        with run(*HARDENED, network="none") as session:
            session.open()
            self.assertTrue(session.call("list_clients", {})["isError"])
            self.assertEqual(len(session.tools()), GUARDED_AND_NOT)

    def test_32_mebibytes_one_processor_and_twenty_processes_are_enough(self):
        if docker("info", "--format", "{{.MemoryLimit}}").strip() != "true":
            self.skipTest("this machine cannot limit memory")
        self.session(run(*HARDENED, "--memory=32m", "--memory-swap=32m", "--pids-limit=20", "--cpus=1"))

    def test_secrets_can_be_files(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, value in (("username", USERNAME), ("password", PASSWORD)):
                path = pathlib.Path(directory, name)
                path.write_text(value + "\n")
                path.chmod(0o444)
            os.chmod(directory, 0o755)
            self.session(run(
                *HARDENED, "--mount", f"type=bind,source={directory},target=/run/secrets,readonly",
                "-e", f"WG_EASY_URL={URL}", "-e", "WG_EASY_USERNAME_FILE=/run/secrets/username",
                "-e", "WG_EASY_PASSWORD_FILE=/run/secrets/password", secrets=False))

    # Others who start it

    def test_the_flags_of_the_docker_mcp_gateway(self):
        # It asks for a revision of its own, older than all of ours, and takes what is offered.
        options = ["--init", "--security-opt", "no-new-privileges", "--cpus", "1", "--memory", "2Gb",
                   "--pull", "never", "-l", "docker-mcp=true", "-l", "docker-mcp-tool-type=mcp",
                   "-l", "docker-mcp-name=wg-easy", "-l", "docker-mcp-transport=stdio"]
        with run(*options, revision="2024-11-05") as session:
            self.assertIn(session.open()["protocolVersion"], (OLD, NEWER))
            self.assertEqual(len(session.tools()), GUARDED_AND_NOT)
            self.assertFalse(session.call("list_clients", {}).get("isError", False))
            self.assertEqual(session.end(), 0)
        self.gone()
        self.session(run(*options))

    def test_the_flags_of_toolhive(self):
        # It makes the container first and attaches to it, and stops it when it is done.
        environment, pass_on = credentials()
        create = ["docker", "create", "-i", "--network=host", "--cap-drop=ALL", "--security-opt", "label:disable",
                  "--restart=unless-stopped", "--label", "toolhive=true", "--label", "toolhive-transport=stdio",
                  "-e", "MCP_TRANSPORT=stdio", *pass_on, IMAGE]
        name = subprocess.run(create, check=True, capture_output=True, text=True, env=environment).stdout.strip()
        with Session(["docker", "start", "--attach", "--interactive", name], NEWER) as session:
            session.open()
            self.assertEqual(len(session.tools()), GUARDED_AND_NOT)
            self.assertFalse(session.call("list_clients", {}).get("isError", False))
            begun = time.monotonic()
            docker("stop", "--time=10", name)
            self.assertLess(time.monotonic() - begun, 5, "it had to be killed")
        self.assertEqual(docker("inspect", "--format", "{{.State.ExitCode}}", name).strip(), "0")
        docker("rm", name)

    # The end

    def test_nothing_is_left_after_the_input_ends_even_before_a_word(self):
        for hello in (False, True):
            with self.subTest(hello=hello), run(*HARDENED) as session:
                if hello:
                    session.open()
                self.assertEqual(session.end(), 0)
                self.gone()

    def test_nothing_is_left_after_docker_stop(self):
        with run(*HARDENED) as session:
            session.open()
            begun = time.monotonic()
            docker("stop", "--time=10", *containers())
            self.assertLess(time.monotonic() - begun, 5, "it had to be killed")
            self.assertEqual(session.process.wait(10), 0)
            self.gone()

    def test_nothing_is_left_after_docker_stop_while_a_person_is_asked(self):
        with run(*HARDENED) as session:
            session.open()
            session.send({"id": "x", "method": "tools/call",
                          "params": {"name": "create_client", "arguments": {"name": "never"}}})
            while session.receive().get("method") != "elicitation/create":
                pass
            begun = time.monotonic()
            docker("stop", "--time=10", *containers())
            self.assertLess(time.monotonic() - begun, 5, "it had to be killed")
            self.gone()

    def test_nothing_is_left_after_the_client_is_killed(self):
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how), run(*HARDENED) as session:
                session.open()
                session.process.send_signal(how)
                session.process.wait(10)
                self.gone()

    # What is in it

    def test_it_holds_exactly_the_files_it_should(self):
        with tempfile.TemporaryDirectory() as directory:
            archive = os.path.join(directory, "image.tar")
            docker("save", "--output", archive, IMAGE)
            found = {}
            with tarfile.open(archive) as image:
                manifest = json.load(image.extractfile("manifest.json"))
                for layer in manifest[0]["Layers"]:
                    with tarfile.open(fileobj=image.extractfile(layer)) as files:
                        for entry in files:
                            content = files.extractfile(entry).read() if entry.isfile() else None
                            kind = "d" if entry.isdir() else "f" if entry.isfile() else "other"
                            name = entry.name.strip("/")
                            found[name] = (kind, oct(entry.mode & 0o7777), entry.uid, entry.gid)
                            if name == "etc/passwd":
                                self.assertEqual(content, b"wg-easy-mcp:x:65532:65532::/:/nonexistent\n")
        self.assertEqual(found, {
            "etc": ("d", "0o755", 0, 0),
            "etc/passwd": ("f", "0o444", 0, 0),
            "wg-easy-mcp": ("f", "0o555", 0, 0),
        })

    def test_it_is_little_larger_than_the_program(self):
        size = int(docker("image", "inspect", "--format", "{{.Size}}", IMAGE))
        self.assertLess(size, os.path.getsize(os.environ["BINARY"]) + 200 * 1024)

    def test_its_configuration_is_the_program_a_user_and_labels(self):
        config = json.loads(docker("image", "inspect", IMAGE))[0]["Config"]
        self.assertEqual(config["Entrypoint"], ["/wg-easy-mcp"])
        self.assertEqual(config["User"], "65532:65532")
        for absent in ("Cmd", "ExposedPorts", "Volumes", "Healthcheck", "OnBuild", "Shell", "StopSignal"):
            self.assertFalse(config.get(absent), absent)
        self.assertEqual([e for e in config.get("Env") or [] if not e.startswith("PATH=")], [])
        labels = config["Labels"]
        self.assertEqual(labels["io.modelcontextprotocol.server.name"], "io.github.wg-easy-mcp/wg-easy-mcp")
        for label in ("title", "description", "licenses", "source", "url", "documentation", "version", "revision"):
            self.assertTrue(labels["org.opencontainers.image." + label], label)
        self.assertEqual(labels["org.opencontainers.image.version"], os.environ["VERSION"])

    def test_history_and_inspection_show_no_secret(self):
        environment, pass_on = credentials()
        with run(*HARDENED) as session:
            session.open()
            session.call("list_clients", {})
            shown = docker("history", "--no-trunc", "--format", "json", IMAGE) + docker("image", "inspect", IMAGE)
            self.assertNotIn(PASSWORD, shown)
            self.assertNotIn("WG_EASY", shown)
            self.assertNotIn(PASSWORD, session.stderr)
            running = docker("inspect", *containers())
            # What a client passes with -e the engine shows to whoever may ask it; a file it does not.
            self.assertIn(PASSWORD, running)
            self.assertNotIn(PASSWORD, docker("logs", *containers()))

    def test_a_secret_from_a_file_is_not_shown_by_the_engine(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "password")
            path.write_text(PASSWORD)
            path.chmod(0o444)
            os.chmod(directory, 0o755)
            with run(*HARDENED, "-v", f"{directory}:/run/secrets:ro", "-e", f"WG_EASY_URL={URL}",
                     "-e", f"WG_EASY_USERNAME={USERNAME}", "-e", "WG_EASY_PASSWORD_FILE=/run/secrets/password",
                     secrets=False) as session:
                session.open()
                self.assertFalse(session.call("list_clients", {}).get("isError", False))
                self.assertNotIn(PASSWORD, docker("inspect", *containers()))

    @unittest.skipUnless(os.geteuid() == 0, "only root may look into the process of another user")
    def test_its_environment_holds_no_secret_once_it_runs(self):
        with run(*HARDENED) as session:
            session.open()
            process = docker("inspect", "--format", "{{.State.Pid}}", *containers()).strip()
            self.assertNotIn(PASSWORD.encode(), pathlib.Path(f"/proc/{process}/environ").read_bytes())

    def test_there_is_nothing_else_to_run(self):
        for program in ("/bin/sh", "sh", "/bin/busybox", "/bin/ls", "/usr/bin/env"):
            command = ["docker", "run", "--rm", "--network=none", "--entrypoint", program, IMAGE]
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 127, program)

    # The seccomp profile

    def test_the_profile_is_in_force_and_refuses_what_it_does_not_name(self):
        with run(*HARDENED) as session:
            session.open()
            process = docker("inspect", "--format", "{{.State.Pid}}", *containers()).strip()
            status = dict(line.split(":\t", 1) for line in
                          pathlib.Path(f"/proc/{process}/status").read_text().splitlines() if ":\t" in line)
            self.assertEqual(status["Seccomp"], "2")
            self.assertEqual(status["NoNewPrivs"], "1")
            for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(status[capabilities], 16), 0, capabilities)

    def test_a_profile_without_one_call_that_is_made_stops_the_program(self):
        profile = json.loads(SECCOMP.read_text())
        for call in ("epoll_pwait", "connect"):
            with self.subTest(call), tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                less = json.loads(json.dumps(profile))
                for rule in less["syscalls"]:
                    rule["names"] = [name for name in rule["names"] if name != call]
                json.dump(less, file)
                file.flush()
                with run("--security-opt=no-new-privileges", f"--security-opt=seccomp={file.name}") as session:
                    try:
                        session.open()
                        worked = not session.call("list_clients", {}).get("isError", False)
                    except (AssertionError, OSError):
                        worked = False
                    self.assertFalse(worked, f"{call} is not needed after all")


class Figures(unittest.TestCase):
    def test_print_the_figures(self):
        answers = []
        for _ in range(5):
            with run(*HARDENED) as session:
                session.open()
                answers.append(time.monotonic() - session.started)
                process = docker("inspect", "--format", "{{.State.Pid}}", *containers()).strip()
                resident = [line.split()[1] for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
                            if line.startswith("VmRSS")]
                session.end()
        size = docker("image", "inspect", "--format", "{{.Size}}", IMAGE).strip()
        print(f"\nimage {size} bytes; docker run to first answer {min(answers) * 1000:.0f} to {max(answers) * 1000:.0f} ms;"
              f" {resident[0]} KiB resident after it", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
