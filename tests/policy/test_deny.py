"""What may be built in: cargo-deny is content, and would not be without any one of the rules."""

import os
import re
import subprocess
import tempfile
import unittest

from essence import POLICY, ROOT


def cargo_deny(rules):
    """Whether cargo-deny is content, and what it says."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(rules)
        file.flush()
        command = ["cargo-deny", "--offline", "--locked", "--config", file.name, "check", "bans", "licenses", "sources"]
        environment = {**os.environ, "PATH": f"{ROOT}/target/tools/bin:{os.environ['PATH']}"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        return done.returncode == 0, done.stderr


class Deny(unittest.TestCase):
    rules = (POLICY / "deny.toml").read_text()

    def test_the_dependencies_keep_to_the_rules(self):
        content, said = cargo_deny(self.rules)
        self.assertTrue(content, said)
        # A rule for something that is not there any more is a rule too many.
        self.assertNotRegex(said, "unmatched-skip|license-not-encountered", said)

    def test_every_rule_holds_something_back(self):
        for rule, instead in (
            ('  "ISC",\n', ""),
            ('crate = "aws-lc-rs"', 'crate = "ring"'),
            (', wrappers = ["rmcp"]', ""),
            ("  { crate = \"syn@2\"", "  #"),
            ('unknown-registry = "deny"', 'unknown-registry = "deny"\nallow-registry = []'),
        ):
            with self.subTest(rule):
                self.assertIn(rule, self.rules)
                content, said = cargo_deny(self.rules.replace(rule, instead))
                self.assertFalse(content, said)

    def test_the_strictest_answer_is_given_everywhere(self):
        for setting in ("yanked", "multiple-versions", "wildcards", "executables", "unknown-registry", "unknown-git"):
            self.assertRegex(self.rules, re.compile(rf'^{setting} = "deny"$', re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
