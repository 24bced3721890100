#!/usr/bin/env python3
"""Drives the built server with real clients: `clients.py SERVER SIMULATOR INSTALLED [WORD …]`.

One line for each client, revision and scenario, or for those whose line has every WORD in it. Exit 1 if one failed.
"""

import functools
import os
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from driven import Driven
from inspector import Inspector, McpDo
from scenarios import ALL, listing, mistakes, no, reading, yes
from wg_easy import WgEasy

LEGACY, MODERN = "2025-11-25", "2026-07-28"


def clients(installed):
    """Each client: how to start it, the revisions it speaks, and the scenarios it has the means for."""
    drivers = Path(__file__).resolve().parent / "drivers"

    def typescript(major):
        return functools.partial(Driven, ["node", f"{installed}/npm/drivers/typescript_{major}.mjs"])

    def python(major):
        return functools.partial(Driven, [f"{installed}/python_{major}/bin/python", f"{drivers}/python_{major}.py"])

    commands = f"{installed}/npm/node_modules/.bin"
    # The slowest first, so that no core is idle at the end.
    return {
        # A second of start-up for each command, so it does what only a command line shows.
        "mcpdo": (functools.partial(McpDo, commands), [LEGACY, MODERN], [no, yes]),
        # It has no dialog, and a server for each call, so that no token outlives its call.
        "inspector --cli": (functools.partial(Inspector, commands), [LEGACY, MODERN], [mistakes, reading, listing]),
        "python 2": (python(2), [LEGACY, MODERN], ALL),
        "python 1": (python(1), [LEGACY], ALL),
        "typescript 2": (typescript(2), [LEGACY, MODERN], ALL),
        "typescript 1": (typescript(1), [LEGACY], ALL),
    }


def run(server, simulator, client, revision, scenario):
    """Why it failed, if it did, and how long it took."""
    began = time.monotonic()
    failure = None
    try:
        with WgEasy(simulator) as wg_easy:
            def start(form):
                started = client(server, wg_easy.environment, revision, form)
                assert started.revision == revision, f"it speaks {started.revision}"
                return started

            scenario(start, wg_easy)
    except Exception:  # whatever it is, it is this scenario's, and the others go on
        failure = traceback.format_exc()
    return failure, time.monotonic() - began


def main(server, simulator, installed, *words):
    jobs = [
        (f"{name:<15}  {revision}  {scenario.__name__:<8}", client, revision, scenario)
        for name, (client, revisions, known) in clients(installed).items()
        for revision in revisions
        for scenario in known
    ]
    jobs = [job for job in jobs if all(word in job[0] for word in words)]
    failed = 0
    with ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
        results = [(line, pool.submit(run, server, simulator, *job)) for line, *job in jobs]
        for line, result in results:
            failure, seconds = result.result()
            print(f"{'FAILED' if failure else 'ok':<6}  {line}  {seconds:5.1f} s", flush=True)
            if failure:
                failed += 1
                print(failure)
    print(f"{len(jobs) - failed} of {len(jobs)} passed")
    return 1 if failed or not jobs else 0


sys.exit(main(*sys.argv[1:]))
