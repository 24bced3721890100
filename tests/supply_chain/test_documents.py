"""The documents about what is in the program: of the formats they claim, and about this program."""

import copy
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import unittest

import jsonschema
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SBOM = ROOT / "sbom"
PLATFORMS = ("amd64", "arm64")
BINARY = os.environ["BINARY"]
PLATFORM = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
JUSTIFICATIONS = ["component_not_present", "vulnerable_code_not_present", "vulnerable_code_not_in_execute_path",
                  "vulnerable_code_cannot_be_controlled_by_adversary", "inline_mitigations_already_exist"]

TEXT = {"type": "string", "minLength": 1}
LINK = {"type": "string", "pattern": "^(https|pkg):"}


def closed(required, **properties):
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


# OpenVEX 0.2.0: a statement at least, and each says why.
OPENVEX = closed(
    ["@context", "@id", "author", "timestamp", "version", "statements"],
    **{
        "@context": {"const": "https://openvex.dev/ns/v0.2.0"}, "@id": LINK, "author": TEXT,
        "timestamp": {"type": "string", "format": "date-time", "pattern": "Z$"},
        "version": {"type": "integer", "minimum": 1},
        "statements": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {
            **closed(
                ["vulnerability", "products", "status"],
                vulnerability=closed(["name"], **{"@id": LINK, "name": TEXT, "description": TEXT}),
                products={"type": "array", "minItems": 1, "items": closed(["@id"], **{
                    "@id": LINK, "subcomponents": {"type": "array", "items": closed(["@id"], **{"@id": LINK})}})},
                status={"enum": ["not_affected", "affected", "fixed", "under_investigation"]},
                status_notes=TEXT, justification={"enum": JUSTIFICATIONS}, impact_statement=TEXT, action_statement=TEXT),
            "allOf": [
                {"if": {"properties": {"status": {"const": "not_affected"}}},
                 "then": {"oneOf": [{"required": ["justification"]}, {"required": ["impact_statement"]}]}},
                {"if": {"properties": {"status": {"const": "affected"}}}, "then": {"required": ["action_statement"]}},
            ]}},
    })


def script(name):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class BillOfMaterials(unittest.TestCase):
    def test_it_is_current_and_is_what_the_binary_says(self):
        done = subprocess.run([ROOT / "scripts/sbom", "check", PLATFORM, BINARY], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_package_more_or_less_is_noticed(self):
        sbom = script("sbom")
        inside, everything = sbom.embedded(BINARY)
        one = sorted(inside)[0]
        for embedded in ((inside - {one}, everything - {one}), (inside, everything | {"pkg:cargo/uninvited@6.6.6"})):
            sbom.embedded = lambda _, embedded=embedded: embedded
            self.assertTrue(list(sbom.differences(PLATFORM, BINARY)))

    def test_the_documents_are_valid(self):
        for platform in PLATFORMS:
            with self.subTest(platform, format="CycloneDX"):
                document = (SBOM / f"{platform}.cdx.json").read_text()
                self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_6).validate_str(document))
            with self.subTest(platform, format="SPDX"):
                document = parse_file(str(SBOM / f"{platform}.spdx.json"))
                self.assertEqual(validate_full_spdx_document(document), [])

    def test_the_two_formats_say_the_same(self):
        for platform in PLATFORMS:
            with self.subTest(platform):
                cyclonedx = json.loads((SBOM / f"{platform}.cdx.json").read_text())
                spdx = json.loads((SBOM / f"{platform}.spdx.json").read_text())
                one = {(part["purl"], part["licenses"][0]["expression"], *[sum["content"] for sum in part.get("hashes", [])])
                       for part in [cyclonedx["metadata"]["component"], *cyclonedx["components"]]}
                other = {(part["externalRefs"][0]["referenceLocator"], part["licenseDeclared"],
                          *[sum["checksumValue"] for sum in part.get("checksums", [])]) for part in spdx["packages"]}
                self.assertEqual(one, other)

    def test_every_package_has_a_licence_and_a_checksum(self):
        for platform in PLATFORMS:
            for part in json.loads((SBOM / f"{platform}.cdx.json").read_text())["components"]:
                self.assertNotEqual(part["licenses"], [{"expression": "NOASSERTION"}], part["purl"])
                self.assertEqual(len(part["hashes"][0]["content"]), 64, part["purl"])


class Vex(unittest.TestCase):
    document = json.loads((SBOM / "openvex.json").read_text())

    def faults(self, document):
        return list(jsonschema.Draft202012Validator(OPENVEX).iter_errors(document))

    def test_it_is_valid_and_a_statement_without_a_reason_is_not(self):
        self.assertEqual(self.faults(self.document), [])
        for field in ("justification", "products", "status", "vulnerability"):
            less = copy.deepcopy(self.document)
            del less["statements"][0][field]
            self.assertTrue(self.faults(less), field)
        self.assertTrue(self.faults({**self.document, "statements": []}))

    def test_it_is_about_the_image(self):
        for statement in self.document["statements"]:
            for product in statement["products"]:
                self.assertEqual(product["@id"], "pkg:oci/wg-easy-mcp?repository_url=ghcr.io/wg-easy-mcp/wg-easy-mcp")

    def test_what_is_ignored_when_advisories_are_checked_is_explained(self):
        ignored = (ROOT / "policy/deny.toml").read_text().partition("ignore = [")[2].partition("]")[0]
        explained = {statement["vulnerability"]["name"] for statement in self.document["statements"]}
        for line in ignored.splitlines():
            if '"' in line:
                self.assertIn(line.split('"')[1], explained)

    def test_iconv_is_not_in_the_binary(self):
        # CVE-2025-26519. musl's iconv carries the names of the character sets that it knows.
        content = pathlib.Path(BINARY).read_bytes()
        for name in (b"ksc5601", b"euckr", b"shiftjis", b"gb18030"):
            self.assertNotIn(name, content)


if __name__ == "__main__":
    unittest.main()
