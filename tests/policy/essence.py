"""What every test of a policy does: the policy has no faults, and without any one of its essential parts it has."""

import copy
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
POLICY = ROOT / "policy"
IMAGE = "ghcr.io/wg-easy-mcp/wg-easy-mcp"

REMOVED = object()


def load(name):
    """A policy's document: YAML, of which JSON is a part."""
    return yaml.safe_load((POLICY / name).read_text())


def without(document, path, value=REMOVED):
    """The document with the part at `path` removed, or replaced by `value`."""
    document = copy.deepcopy(document)
    place = document
    *way, last = path
    for step in way:
        place = place[step]
    if value is REMOVED:
        del place[last]
    else:
        place[last] = value
    return document


class Essence:
    """A mix-in for test cases."""

    def holds(self, document, faults, essential):
        """`faults` finds none in the document, and some wherever an essential part is gone.

        `essential` has a path for each part: to remove, or with what to put in its place.
        """
        self.assertEqual(list(faults(document)), [])
        for path, *value in essential:
            with self.subTest(path=path, value=value):
                self.assertNotEqual(list(faults(without(document, path, *value))), [], "nobody would notice")
