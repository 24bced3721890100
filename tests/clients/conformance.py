#!/usr/bin/env python3
"""Runs the official conformance tests against the built server: `conformance.py SERVER SIMULATOR INSTALLED`.

What does not apply is in conformance.toml. Exit 1 if anything else fails, or if anything in there does not.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from bridge import Bridge
from wg_easy import WgEasy

REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"]

# A warning is what a server SHOULD not do; here that has to be listed too.
BAD = ("FAILURE", "WARNING")

# Checks on every message that was sent, in every scenario. Nothing is exempt from them.
SCHEMA = "wire-schema-valid"


def exemptions():
    listed = tomllib.loads((Path(__file__).parent / "conformance.toml").read_text())
    return {entry for exempt in listed["exempt"] for entry in exempt["what"]}


def run(installed, url, revision):
    """The checks of each scenario that is for this revision."""
    program = f"{installed}/npm/node_modules/.bin/conformance"
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [program, "server", "--url", url, "--suite", "all", "--spec-version", revision, "--output-dir", out],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert "=== SUMMARY ===" in done.stdout, f"it did not finish:\n{done.stdout}{done.stderr}"
        # A directory is called server-SCENARIO-TIME, and a time is 24 characters long.
        return {path.parent.name.removeprefix("server-")[:-25]: json.loads(path.read_text())
                for path in Path(out).glob("*/checks.json")}


def judge(scenarios, exempt):
    """What should not be: failures that are not exempt, and exemptions without a failure. With it, what is exempt."""
    wrong, used = [], set()
    for scenario, checks in sorted(scenarios.items()):
        failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] in BAD}
        if SCHEMA in failed:
            wrong.append(f"{scenario}: {failed.pop(SCHEMA)}")
        entries = {entry for entry in exempt if entry.split(":")[0] == scenario}
        excused = {scenario} | {f"{scenario}:{check}" for check in failed}
        wrong += [f"{entry}: is exempt and does not fail" for entry in entries - excused]
        used |= entries
        if scenario not in entries:
            wrong += [f"{scenario}:{check}: {failed[check]}" for check in failed
                      if f"{scenario}:{check}" not in entries]
        elif not failed:
            wrong.append(f"{scenario}: is exempt and does not fail")
    return wrong, used


def main(server, simulator, installed):
    exempt, seen, failed = exemptions(), set(), False
    for revision in REVISIONS:
        began = time.monotonic()
        with WgEasy(simulator) as wg_easy, Bridge([server], os.environ | wg_easy.environment) as bridge:
            scenarios = run(installed, bridge.url, revision)
            assert len(wg_easy.clients()) == 5, "something was changed, and nobody said yes"
        wrong, used = judge(scenarios, exempt)
        seen |= used
        failed = failed or bool(wrong) or not scenarios
        passed = collections.Counter(check["status"] for checks in scenarios.values() for check in checks)["SUCCESS"]
        print(f"{'FAILED' if wrong else 'ok':<6}  conformance      {revision}  {len(scenarios)} scenarios, "
              f"{passed} checks passed  {time.monotonic() - began:5.1f} s", *wrong, sep="\n        ", flush=True)
    for entry in sorted(exempt - seen):
        failed = True
        print(f"FAILED  {entry} is exempt, and no revision has it")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
