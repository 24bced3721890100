"""The admission policies: of the form that the controllers take, and about the one workflow that may sign."""

import re
import unittest

import jsonschema

from essence import IMAGE, Essence, load

TEXT = {"type": "string"}


def closed(required, /, **properties):
    """An object with these fields and no others."""
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


def several(items):
    return {"type": "array", "minItems": 1, "items": items}


IDENTITY = closed([], issuer=TEXT, subject=TEXT, issuerRegExp=TEXT, subjectRegExp=TEXT)
METADATA = closed(["name"], name=TEXT, labels={"type": "object"}, annotations={"type": "object"})

# The fields that are used here, of policies.kyverno.io/v1 and policy.sigstore.dev/v1beta1.
KYVERNO = closed(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "policies.kyverno.io/v1"}, kind={"const": "ImageValidatingPolicy"}, metadata=METADATA,
    spec=closed(
        ["attestors", "matchConstraints", "matchImageReferences", "validations"],
        failurePolicy={"enum": ["Ignore", "Fail"]},
        validationActions=several({"enum": ["Deny", "Audit", "Warn"]}),
        webhookConfiguration=closed([], timeoutSeconds={"type": "integer", "minimum": 1, "maximum": 30}),
        matchConstraints=closed(
            [], namespaceSelector={"type": "object"},
            resourceRules=several(closed(
                [], apiGroups=several(TEXT), apiVersions=several(TEXT), resources=several(TEXT),
                operations=several({"enum": ["CREATE", "UPDATE", "DELETE", "CONNECT", "*"]})))),
        matchImageReferences=several({**closed([], glob=TEXT, expression=TEXT), "minProperties": 1, "maxProperties": 1}),
        validationConfigurations=closed([], **{name: {"type": "boolean"} for name in ("mutateDigest", "verifyDigest", "required")}),
        attestors=several(closed(["name", "cosign"], name=TEXT, cosign=closed(
            [], keyless=closed(["identities"], identities=several(IDENTITY), roots=TEXT),
            ctlog=closed([], url=TEXT, insecureIgnoreTlog={"type": "boolean"}, insecureIgnoreSCT={"type": "boolean"})))),
        attestations=several(closed(["name"], name=TEXT, intoto=closed(["type"], type=TEXT))),
        validations=several(closed(["expression"], expression=TEXT, message=TEXT)),
    ),
)
POLICY_CONTROLLER = closed(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "policy.sigstore.dev/v1beta1"}, kind={"const": "ClusterImagePolicy"}, metadata=METADATA,
    spec=closed(
        ["images", "authorities"],
        mode={"enum": ["enforce", "warn"]},
        match=several(closed([], group=TEXT, version=TEXT, resource=TEXT, selector={"type": "object"})),
        images=several(closed(["glob"], glob=TEXT)),
        authorities=several(closed(
            [], name=TEXT, signatureFormat={"enum": ["legacy", "bundle"]},
            keyless=closed([], url=TEXT, identities=several(IDENTITY)), ctlog=closed([], url=TEXT),
            static=closed([], action=TEXT, message=TEXT),
            attestations=several(closed(["name", "predicateType"], name=TEXT, predicateType=TEXT)))),
    ),
)

PROVENANCE = "https://slsa.dev/provenance/v1"
WORKFLOW = "https://github.com/wg-easy-mcp/wg-easy-mcp/.github/workflows/image.yml"


def valid(schema, document):
    for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
        yield f"{list(error.path)}: {error.message}"


def identities(entries):
    """What there is to say against who may sign."""
    if len(entries or []) != 1:
        yield "there is not one identity"
        return
    (entry,) = entries
    if entry.get("issuer") != "https://token.actions.githubusercontent.com":
        yield "somebody else may vouch for the signer"
    expression = entry.get("subjectRegExp", "")
    if not (expression.startswith("^") and expression.endswith("$")):
        yield "the workflow's name may be part of another"
    for subject, may in (
        (f"{WORKFLOW}@refs/tags/v0.1.0", True),
        (f"{WORKFLOW}@refs/tags/v10.20.30", True),
        (f"{WORKFLOW}@refs/heads/main", False),
        (f"{WORKFLOW}@refs/pull/1/merge", False),
        (f"{WORKFLOW}@refs/tags/v0.1.0/x", False),
        (f"{WORKFLOW.replace('image.yml', 'ci.yml')}@refs/tags/v0.1.0", False),
        (f"{WORKFLOW.replace('image.yml', 'imageXyml')}@refs/tags/v0.1.0", False),
        (f"{WORKFLOW.replace('github.com', 'githubXcom')}@refs/tags/v0.1.0", False),
        (f"{WORKFLOW.replace('wg-easy-mcp/', 'someone/', 1)}@refs/tags/v0.1.0", False),
        (f"https://github.com/someone/x?{WORKFLOW}@refs/tags/v0.1.0", False),
    ):
        if bool(re.search(expression, subject)) is not may:
            yield f"{subject} {'may not' if may else 'may'} sign"


def of_this_name(expression):
    """Whether it is this image that the expression lets in, and no other."""
    return all(bool(re.search(expression, image)) is may for image, may in (
        (f"{IMAGE}:0.1.0", True),
        (f"{IMAGE}@sha256:{'0' * 64}", True),
        (f"{IMAGE}:0.1.0@sha256:{'0' * 64}", True),
        (f"{IMAGE}-too:0.1.0", False),
        (f"{IMAGE}/other:0.1.0", False),
        (IMAGE.replace("wg-easy-mcp/", "someone/", 1) + ":0.1.0", False),
        (IMAGE.replace("ghcr.io", "ghcr-io") + ":0.1.0", False),
        (f"registry.example/{IMAGE}:0.1.0", False),
    ))


class Admission(Essence, unittest.TestCase):
    def test_kyverno(self):
        every = "images.containers + images.initContainers + images.ephemeralContainers"

        def faults(document):
            yield from valid(KYVERNO, document)
            spec = document["spec"]
            if spec.get("failurePolicy") != "Fail":
                yield "whatever cannot be checked is let in"
            if spec.get("validationActions") != ["Deny"]:
                yield "it only watches"
            if spec.get("matchImageReferences") != [{"expression": "true"}]:
                yield "there are images that it does not look at"
            if spec.get("validationConfigurations") != {"mutateDigest": True, "verifyDigest": True, "required": True}:
                yield "what was checked is not what runs"
            rules = spec["matchConstraints"].get("resourceRules", [{}])[0]
            if not {"CREATE", "UPDATE"} <= set(rules.get("operations", [])):
                yield "there is a way around it"
            if not {"pods", "pods/ephemeralcontainers"} <= set(rules.get("resources", [])):
                yield "there are containers that it does not look at"
            attestors = {entry["name"]: entry["cosign"] for entry in spec["attestors"]}
            yield from identities(attestors["release"].get("keyless", {}).get("identities"))
            if not attestors["release"].get("ctlog", {}).get("url") or any("insecure" in key for key in attestors["release"]["ctlog"]):
                yield "signatures need not be public"
            attestations = {entry["name"]: entry["intoto"]["type"] for entry in spec.get("attestations", [])}
            if attestations.get("provenance") != PROVENANCE:
                yield "nothing says where the image comes from"
            checks = ["".join(entry["expression"].split()) for entry in spec["validations"]]
            asked = [match for check in checks if (match := re.fullmatch(
                re.escape(f"({every})".replace(" ", "")) + r'\.all\(image,image\.matches\("(.*)"\)\)', check))]
            # A backslash is written twice in the expression.
            if len(asked) != 1 or not of_this_name(asked[0][1].replace("\\\\", "\\")):
                yield "another repository's image, built by the same workflow, is let in"
            for call in ("verifyImageSignatures(image,[attestors.release])",
                         "verifyAttestationSignatures(image,attestations.provenance,[attestors.release])"):
                if f"({every})".replace(" ", "") + f".map(image,{call}).all(count,count>0)" not in checks:
                    yield f"not checked for every container: {call}"

        identity = ("spec", "attestors", 0, "cosign", "keyless", "identities", 0)
        self.holds(load("admission/kyverno.yaml"), faults, [
            (("spec", "failurePolicy"), "Ignore"),
            (("spec", "validationActions"), ["Audit"]),
            (("spec", "matchImageReferences"), [{"glob": IMAGE + ":*"}]),
            (("spec", "matchConstraints", "resourceRules", 0, "resources"), ["pods"]),
            (("spec", "matchConstraints", "resourceRules", 0, "operations"), ["CREATE"]),
            (("spec", "validationConfigurations", "required"), False),
            (("spec", "validationConfigurations", "mutateDigest"), False),
            (("spec", "validations", 0),),
            (("spec", "validations", 1),),
            (("spec", "validations", 2),),
            (("spec", "validations", 0, "expression"), "true"),
            (("spec", "validations", 0, "expression"), f'({every}).all(image, image.matches("^{IMAGE}"))'),
            (("spec", "validations", 1, "expression"), "true"),
            (("spec", "attestations"),),
            (("spec", "attestors", 0, "cosign", "ctlog"),),
            (("spec", "attestors", 0, "cosign", "ctlog", "insecureIgnoreTlog"), True),
            ((*identity, "issuer"),),
            ((*identity, "subjectRegExp"),),
            ((*identity, "subjectRegExp"), ".*"),
            ((*identity, "subjectRegExp"), "^" + re.escape(WORKFLOW) + "@.*$"),
            (("spec", "validationFailureAction"), "Enforce"),
        ])

    def test_policy_controller(self):
        def faults(document):
            yield from valid(POLICY_CONTROLLER, document)
            spec = document["spec"]
            if spec.get("mode") != "enforce":
                yield "it only warns"
            if not any(entry["glob"].startswith(IMAGE) for entry in spec["images"]):
                yield "it is about other images"
            # One authority that is content is enough for the controller.
            if len(spec["authorities"]) != 1:
                yield "there is not one authority"
            authority = spec["authorities"][0]
            if authority.get("signatureFormat") != "bundle":
                yield "the signatures are not found"
            yield from identities(authority.get("keyless", {}).get("identities"))
            if "static" in authority or not authority.get("ctlog", {}).get("url"):
                yield "signatures need not be public"
            types = {entry["predicateType"] for entry in authority.get("attestations", [])}
            if types != {"https://sigstore.dev/cosign/sign/v1", PROVENANCE}:
                yield "signature and provenance are not both needed"

        authority = ("spec", "authorities", 0)
        self.holds(load("admission/policy-controller.yaml"), faults, [
            (("spec", "mode"), "warn"),
            (("spec", "images"), [{"glob": "docker.io/**"}]),
            (("spec", "authorities"), [{"name": "anyone", "static": {"action": "pass"}}]),
            ((*authority, "signatureFormat"),),
            ((*authority, "ctlog"),),
            ((*authority, "attestations"),),
            ((*authority, "attestations", 0),),
            ((*authority, "attestations", 1),),
            ((*authority, "keyless", "identities"),),
            ((*authority, "keyless", "identities", 0, "issuer"),),
            ((*authority, "keyless", "identities", 0, "subjectRegExp"), ".*"),
        ])


if __name__ == "__main__":
    unittest.main()
