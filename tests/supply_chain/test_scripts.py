"""The scripts that check the binary, compare images and guard the release."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from test_documents import ROOT, script

BINARY = os.environ["BINARY"]


class Inspection(unittest.TestCase):
    inspect = script("inspect-binary")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.copy = os.path.join(directory.name, "wg-easy-mcp")
        shutil.copy(BINARY, self.copy)
        os.chmod(self.copy, 0o755)

    def patched(self, edit):
        """The faults of a copy whose program headers went through `edit(kind, flags)`, which gives new ones."""
        content = bytearray(pathlib.Path(BINARY).read_bytes())
        offset, size, count = (struct.unpack_from(form, content, at)[0] for form, at in (("<Q", 32), ("<H", 54), ("<H", 56)))
        for number in range(count):
            at = offset + number * size
            struct.pack_into("<II", content, at, *edit(*struct.unpack_from("<II", content, at)))
        pathlib.Path(self.copy).write_bytes(content)
        return self.inspect.faults(self.copy)

    def test_the_binary_is_as_it_should_be(self):
        self.assertEqual(self.inspect.faults(BINARY), [])

    def test_an_executable_stack_is_noticed(self):
        self.assertIn("its stack is executable", self.patched(lambda kind, flags: (kind, flags | 1 if kind == 0x6474e551 else flags)))

    def test_relocations_that_stay_writable_are_noticed(self):
        faults = self.patched(lambda kind, flags: (0 if kind == 0x6474e552 else kind, flags))
        self.assertIn("its relocations stay writable (no RELRO)", faults)

    def test_memory_that_is_writable_and_executable_is_noticed(self):
        faults = self.patched(lambda kind, flags: (kind, 7 if kind == 1 else flags))
        self.assertIn("there is memory that is writable and executable", faults)

    def test_a_binary_without_its_dependencies_is_noticed(self):
        subprocess.run(["objcopy", "--remove-section", ".dep-v0", self.copy], check=True)
        self.assertIn("it does not hold the list of its dependencies", self.inspect.faults(self.copy))

    def test_an_ordinary_program_is_noticed(self):
        faults = self.inspect.faults(os.path.realpath("/bin/ls"))
        self.assertIn("it asks for an interpreter", faults)
        self.assertIn("it needs a shared library", faults)

    def test_a_binary_that_is_too_large_or_names_its_builder_is_noticed(self):
        with open(self.copy, "ab") as file:
            file.write(b"/home/someone" + bytes(self.inspect.LARGEST))
        faults = " ".join(self.inspect.faults(self.copy))
        self.assertIn("bytes, more than", faults)
        self.assertIn("/home/", faults)


@unittest.skipUnless(shutil.which("buildah"), "needs buildah")
class Comparison(unittest.TestCase):
    verify = script("verify")

    def image(self, content, **environment):
        """An image of a root file system with a program of this content."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        rootfs = pathlib.Path(directory.name, "rootfs")
        (rootfs / "etc").mkdir(parents=True)
        (rootfs / "wg-easy-mcp").write_bytes(content)
        os.chmod(rootfs / "wg-easy-mcp", 0o555)
        layout = os.path.join(directory.name, "layout")
        subprocess.run([ROOT / "scripts/build-image", "--rootfs", rootfs, layout], check=True, capture_output=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1", "REVISION": "a", **environment})
        return self.verify.Layout(layout)

    def test_two_builds_of_the_same_files_are_the_same_image(self):
        one, other = self.image(b"1"), self.image(b"1")
        self.assertEqual(one.manifest_digest, other.manifest_digest)
        self.assertEqual(list(self.verify.differences(one, other)), [])

    def test_another_program_is_another_image(self):
        found = list(self.verify.differences(self.image(b"1"), self.image(b"2")))
        self.assertTrue(any(line.startswith("/wg-easy-mcp: ") for line in found), found)

    def test_another_commit_is_another_image(self):
        found = list(self.verify.differences(self.image(b"1"), self.image(b"1", REVISION="b")))
        self.assertTrue(any(line.startswith("configuration, config: ") for line in found), found)

    def test_an_image_of_a_commit_that_is_not_checked_out_is_refused(self):
        layout = self.image(b"1", REVISION="0" * 40).directory
        done = subprocess.run([ROOT / "scripts/verify", "--local", f"oci:{layout}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("NOT the image of what is checked out here", done.stderr)

    def test_a_layout_that_was_tampered_with_is_refused(self):
        image = self.image(b"1")
        layer = image.blob(image.manifest["layers"][0]["digest"])
        layer.write_bytes(layer.read_bytes() + b"\0")
        with self.assertRaises(SystemExit):
            image.files()


class Release(unittest.TestCase):
    release = script("release-check")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        for part in ("sbom", "policy", "docs", "registry"):
            shutil.copytree(ROOT / part, self.root / part)
        for name in ("Cargo.toml", "README.md"):
            shutil.copy(ROOT / name, self.root)
        self.version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
        (self.root / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{self.version}] - 2026-12-01\n")
        (self.root / "server.json").write_text(json.dumps({"version": self.version, "packages": [
            {"identifier": f"{self.release.IMAGE}:{self.version}"}]}))

    def test_the_tag_of_this_version_is_accepted(self):
        self.assertIsNone(self.release.refusal("v" + self.version, self.root))

    def test_any_other_tag_is_refused(self):
        for tag in ("v999.0.0", self.version, f"v{self.version}-rc1", "main", "", f"v{self.version}\n"):
            self.assertIsNotNone(self.release.refusal(tag, self.root), tag)
            done = subprocess.run([ROOT / "scripts/release-check", tag], capture_output=True)
            self.assertEqual(done.returncode, 1, tag)

    def test_one_place_that_is_behind_is_enough(self):
        for name in ("Cargo.toml", "CHANGELOG.md", "server.json", "sbom/amd64.cdx.json", "sbom/arm64.spdx.json",
                     "policy/kubernetes/pod.yaml", "policy/kubernetes/clients.json", "policy/toolhive/mcpserver.yaml",
                     "README.md", "docs/verify.md", "docs/getting-started.md", "registry/docker/server.yaml"):
            with self.subTest(name):
                path = self.root / name
                before = path.read_text()
                path.write_text(before.replace(self.version, "999.0.0", 1) if "json" not in name
                                else before.replace(self.version, "999.0.0"))
                self.assertIn(name, self.release.refusal("v" + self.version, self.root) or "")
                path.write_text(before)

    def test_this_tree_is_of_one_version(self):
        # The list of changes gets its version on the day of the release.
        others = {place for place, version in self.release.versions(ROOT) if version != self.version}
        self.assertLessEqual(others, {"CHANGELOG.md"})

    def test_what_is_released_beside_the_image(self):
        with tempfile.TemporaryDirectory() as directory:
            built = pathlib.Path(directory, "built")
            built.mkdir()
            for platform in ("amd64", "arm64"):
                (built / f"wg-easy-mcp-linux-{platform}").write_text("x")
            bundle = pathlib.Path(directory, "bundle")
            bundle.write_text("{}")
            out = pathlib.Path(directory, "release")
            subprocess.run([ROOT / "scripts/collect-release", built, bundle, out], check=True)
            names = {path.name for path in out.iterdir()}
            self.assertLessEqual({"SHA256SUMS", "wg-easy-mcp.intoto.jsonl", "wg-easy-mcp-linux-arm64.cdx.json"}, names)
            self.assertEqual(len(names), 10)
            subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True)


class Commands(unittest.TestCase):
    """Scripts, with a program in front of them that writes down how it was called."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name)

    def run_with(self, program, behaviour, *command):
        """Runs a script with `program` replaced; what came of it, and the calls."""
        fake = self.work / program
        fake.write_text(f'#!/bin/sh\necho "$*" >>"{self.work}/calls"\n{behaviour}\n')
        fake.chmod(0o755)
        (self.work / "calls").write_text("")
        environment = {**os.environ, "PATH": f"{self.work}:{os.environ['PATH']}", "REVISION": "c0ffee"}
        done = subprocess.run([ROOT / "scripts" / command[0], *command[1:]], env=environment, capture_output=True, text=True)
        return done, (self.work / "calls").read_text().splitlines()


class Publishing(Commands):
    ABSENT = 'case "$*" in *"create "*) ;; *:commit-*) echo sha256:joined ;; *) echo "ERROR: not found" >&2; exit 1 ;; esac'

    def join(self, behaviour):
        for platform in ("amd64", "arm64"):
            (self.work / f"{platform}.digest").write_text(f"sha256:{platform}\n")
        return self.run_with("docker", behaviour, "publish-image", "join", "reg/x", self.work)

    def test_the_platforms_are_joined_under_the_commits_name_and_no_version(self):
        done, calls = self.join(self.ABSENT)
        self.assertEqual(done.stdout, "digest=sha256:joined\namd64=sha256:amd64\narm64=sha256:arm64\n", done.stderr)
        created = [call for call in calls if " create " in call]
        self.assertEqual(created, ["buildx imagetools create --tag reg/x:commit-c0ffee reg/x@sha256:amd64 reg/x@sha256:arm64"])

    def test_a_version_that_is_there_or_may_be_is_not_published_again(self):
        for behaviour in ("echo sha256:other", 'echo "ERROR: unexpected status: 503" >&2; exit 1'):
            for step in (self.join, lambda said: self.run_with("docker", said, "publish-image", "name", "reg/x", "sha256:joined")):
                done, calls = step(behaviour)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertFalse([call for call in calls if " create " in call])

    def test_a_name_that_is_not_of_the_signed_image_is_a_failure(self):
        named = ('if [ -e "$0.done" ]; then echo {}; else case "$*" in *"create "*) : >"$0.done" ;; '
                 '*) echo "ERROR: not found" >&2; exit 1 ;; esac fi')
        for digest, code in (("sha256:joined", 0), ("sha256:other", 1)):
            (self.work / "docker.done").unlink(missing_ok=True)
            done, calls = self.run_with("docker", named.format(digest), "publish-image", "name", "reg/x", "sha256:joined")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(calls[1].endswith("--tag reg/x:latest reg/x@sha256:joined"), calls)


class Linking(Commands):
    def test_a_static_program_is_linked_to_be_loaded_anywhere(self):
        done, calls = self.run_with("cc", "", "link-static-pie", "/s/crt1.o", "/s/crti.o", "/s/crtbegin.o", "a b.o", "-static",
                                    "-no-pie", "-o", "x", "/s/crtend.o", "/s/crtn.o")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls, ["/s/rcrt1.o /s/crti.o /s/crtbeginS.o a b.o -static-pie -o x /s/crtendS.o /s/crtn.o"])

    def test_anything_else_is_linked_as_it_was_asked_for(self):
        for arguments in (["-shared", "/s/crtbegin.o", "x.o"], ["-static-pie", "/s/rcrt1.o", "x.o"], ["-pie", "/s/crt1.o"]):
            self.assertEqual(self.run_with("cc", "exit 3", "link-static-pie", *arguments)[0].returncode, 3)
            self.assertEqual((self.work / "calls").read_text().split(), arguments)

    def test_the_build_links_so_for_every_target_but_the_one_where_the_compiler_does(self):
        script = (ROOT / "scripts/build-release").read_text()
        self.assertRegex(script, r'\[ "\$target" = x86_64-unknown-linux-musl \] \|\|\s.*-Clinker=\$here/scripts/link-static-pie"')


class Downloads(unittest.TestCase):
    """What the checks and the build fetch is named by version, and where the registry's word is all there is, by hash."""

    SCRIPTS = [path for part in ("scripts", ".ci", "tests/clients", "tests/container") for path in sorted((ROOT / part).iterdir())
               if path.is_file() and path.suffix in ("", ".py")]

    def commands(self, begin):
        """The commands that begin so, each in one line."""
        for path in self.SCRIPTS:
            for line in path.read_text().replace("\\\n", " ").splitlines():
                if re.search(begin, line) and not line.lstrip().startswith("#"):
                    yield f"{path.name}: {' '.join(line.split())}"

    def test_python_packages_are_named_by_hash_with_all_that_they_need(self):
        files = [ROOT / "tests/requirements.txt", *sorted((ROOT / "tests/clients/requirements").glob("*.txt"))]
        self.assertEqual(len(files), 4)
        for path in files:
            text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
            for line in text.splitlines():
                self.assertRegex(line, r"^[\w.\[\],-]+==\S+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+$", path.name)
            wanted = [line for line in path.with_suffix(".in").read_text().split() if "==" in line]
            self.assertTrue(wanted)
            for line in wanted:
                name, version = re.sub(r"\[.*?\]", "", line).lower().split("==")
                self.assertIn(f"\n{name}=={version} ", "\n" + text.lower(), path.name)
        found = list(self.commands(r"pip\S* install"))
        self.assertGreaterEqual(len(found), 3)
        for command in found:
            self.assertIn("--require-hashes --only-binary :all: -r ", command)

    def test_programs_in_rust_are_named_by_version_with_the_lock_file_of_their_own(self):
        found = list(self.commands(r"cargo\S* install "))
        self.assertGreaterEqual(len(found), 3)
        for command in found:
            self.assertIn("--locked", command)
            self.assertRegex(command, r"[\w-]+@(\$[A-Z]+|[0-9.]+)\"?$")

    def test_every_npm_package_has_a_checksum_and_runs_no_script_of_its_own(self):
        packages = json.loads((ROOT / "tests/clients/package-lock.json").read_text())["packages"]
        for name, package in packages.items():
            if name:
                self.assertRegex(package.get("integrity", ""), "^sha512-", name)
        for command in self.commands("npm-cli"):
            self.assertRegex(command, r"npm-cli\.js\" ci .*--ignore-scripts")


class Names(unittest.TestCase):
    """The image and the repository are named in few places, and the same everywhere."""

    def test_the_containerfile_names_what_the_documents_and_policies_name(self):
        containerfile = (ROOT / "Containerfile").read_text()
        self.assertIn('source="https://github.com/wg-easy-mcp/wg-easy-mcp"', containerfile)
        server = ROOT / "server.json"
        if server.exists():
            self.assertIn(f'server.name="{json.loads(server.read_text())["name"]}"', containerfile)

    def test_the_builder_is_pinned_by_digest_and_of_the_version_that_developers_use(self):
        containerfile = (ROOT / "Containerfile").read_text()
        base, toolchain = re.search(r"^FROM (\S+) AS build$", containerfile, re.MULTILINE)[1], (ROOT / "rust-toolchain.toml").read_text()
        version = re.search(r'channel = "(.*)"', toolchain)[1]
        self.assertRegex(base, rf"^docker\.io/library/rust:{re.escape(version)}-alpine[0-9.]+@sha256:[0-9a-f]{{64}}$")
        self.assertIn(f"ENV RUSTUP_TOOLCHAIN={version}\n", containerfile)

    def test_the_build_is_given_what_it_needs_and_nothing_else(self):
        patterns = [line for line in (ROOT / "Containerfile.dockerignore").read_text().splitlines()
                    if line and not line.startswith("#")]
        self.assertEqual(patterns[0], "*")
        given = set()
        for pattern in patterns[1:]:
            self.assertTrue(pattern.startswith("!"), pattern)
            for path in ROOT.glob(pattern[1:]):
                given |= {file for file in path.rglob("*") if file.is_file()} if path.is_dir() else {path}
        names = {str(path.relative_to(ROOT)) for path in given}
        for absent in (".git", "target", "policy", "sbom", "docs", ".github"):
            self.assertFalse(any(name == absent or name.startswith(absent + "/") for name in names), absent)
        # What the build's script calls is there, too.
        for script in re.findall(r"\$here/(scripts/[\w-]+)", (ROOT / "scripts/build-release").read_text()):
            self.assertIn(script, names)
        with tempfile.TemporaryDirectory() as directory:
            for name in names:
                pathlib.Path(directory, name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, pathlib.Path(directory, name))
            command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
            environment = {key: value for key, value in os.environ.items() if key != "RUSTUP_TOOLCHAIN"}
            done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
