"""The manifests: valid against Kubernetes' own schemas, restricted, and no wider than they need be."""

import json
import unittest

import jsonschema
import kubernetes_validate

from essence import IMAGE, Essence, load

KUBERNETES = "1.37"
CONTAINER = ("spec", "containers", 0)

# The fields of ToolHive's v1beta1 MCPServer that are used here, and no others.
TEXT = {"type": "string"}
NAMED = {"type": "object", "required": ["name", "value"], "additionalProperties": False,
         "properties": {"name": TEXT, "value": TEXT}}
AMOUNTS = {"type": "object", "additionalProperties": False, "properties": {"cpu": TEXT, "memory": TEXT}}
TOOLHIVE = {
    "type": "object", "required": ["apiVersion", "kind", "metadata", "spec"], "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "toolhive.stacklok.dev/v1beta1"}, "kind": {"const": "MCPServer"},
        "metadata": {"type": "object", "required": ["name", "namespace"]},
        "spec": {
            "type": "object", "required": ["image"], "additionalProperties": False,
            "properties": {
                "image": TEXT,
                "transport": {"enum": ["stdio", "streamable-http", "sse"]},
                "proxyMode": {"enum": ["sse", "streamable-http"]},
                "proxyPort": {"type": "integer", "minimum": 1, "maximum": 65535},
                "env": {"type": "array", "items": NAMED},
                "oidcConfigRef": {"type": "object", "required": ["name", "audience"], "additionalProperties": False,
                                  "properties": {"name": TEXT, "audience": TEXT, "resourceUrl": TEXT,
                                                 "scopes": {"type": "array", "items": TEXT}}},
                "permissionProfile": {"type": "object", "required": ["name", "type"], "additionalProperties": False,
                                      "properties": {"name": TEXT, "key": TEXT, "type": {"enum": ["builtin", "configmap"]}}},
                "resources": {"type": "object", "additionalProperties": False,
                              "properties": {"limits": AMOUNTS, "requests": AMOUNTS}},
                "podTemplateSpec": {"type": "object"},
            },
        },
    },
}


def valid(document):
    """What Kubernetes' schema has against it, typing errors in field names included."""
    try:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{list(error.path)}: {error.message}"


def restricted(spec, kind="containers"):
    """What the "restricted" Pod Security Standard has against a pod, and two rules of our own."""
    pod = spec.get("securityContext", {})
    if any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
        yield "it shares a namespace with the node"
    for volume in spec.get("volumes", []):
        if not {"secret", "configMap", "emptyDir", "projected"} & volume.keys():
            yield f"a volume of a kind that is not allowed: {volume}"
    for container in spec[kind]:
        own = container.get("securityContext", {})
        both = {**pod, **own}
        if both.get("runAsNonRoot") is not True:
            yield "it may run as root"
        if both.get("runAsUser") == 0:
            yield "it runs as root"
        if both.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield "no seccomp profile"
        if own.get("allowPrivilegeEscalation") is not False:
            yield "it may gain privileges"
        if own.get("privileged"):
            yield "it is privileged"
        if own.get("capabilities", {}).get("drop") != ["ALL"] or own["capabilities"].get("add"):
            yield "it keeps capabilities"
        # Not of the standard, but of this image.
        if own.get("readOnlyRootFilesystem") is not True:
            yield "its files can be written"
        if container.get("ports") or any(mount.get("readOnly") is not True for mount in container.get("volumeMounts", [])):
            yield "it has a port or a mount that can be written"


def careful(spec):
    """What there is to say against how a pod gets its secrets and what else it is given."""
    if spec.get("automountServiceAccountToken") is not False:
        yield "it gets a token for the cluster"
    for container in spec["containers"]:
        environment = {entry["name"]: entry for entry in container.get("env", [])}
        for secret in ("WG_EASY_USERNAME", "WG_EASY_PASSWORD", "WG_EASY_TOTP_SECRET"):
            if secret in environment:
                yield f"{secret} is in the environment"
        for file in ("WG_EASY_USERNAME_FILE", "WG_EASY_PASSWORD_FILE"):
            if not environment.get(file, {}).get("value", "").startswith("/run/secrets/wg-easy/"):
                yield f"{file} is not in the secret's directory"
        if not environment.get("WG_EASY_URL", {}).get("value", "").startswith("https://"):
            yield "the connection is not encrypted"
        if not {"cpu", "memory"} <= container.get("resources", {}).get("limits", {}).keys():
            yield "it may use any amount of memory or time"
    secrets = {volume["name"]: volume["secret"] for volume in spec.get("volumes", []) if "secret" in volume}
    mode = secrets.get("wg-easy", {}).get("defaultMode", 0o777)
    if mode & 0o007:
        yield "the secret's files are for everyone"
    # They belong to root and this group.
    if not mode & 0o040 or not spec.get("securityContext", {}).get("fsGroup"):
        yield "the program cannot read the secret's files"


def pod(document):
    yield from valid(document)
    yield from restricted(document["spec"])
    yield from careful(document["spec"])
    container = document["spec"]["containers"][0]
    if container.get("stdin") is not True or container.get("stdinOnce") is not True or container.get("tty"):
        yield "one client cannot attach to it, once"
    if not container["image"].startswith(IMAGE + ":"):
        yield "it is another image"
    # A change that was sent is awaited for a minute.
    if document["spec"].get("terminationGracePeriodSeconds", 30) <= 60:
        yield "it may be killed while wg-easy is at work for it"
    if document["spec"].get("enableServiceLinks") is not False:
        yield "it is told of every service in the namespace"


RESTRICTED = [
    (("spec", "securityContext", "runAsNonRoot"),),
    (("spec", "securityContext", "runAsUser"), 0),
    (("spec", "securityContext", "fsGroup"),),
    (("spec", "volumes", 0, "secret", "defaultMode"), 0o400),
    (("spec", "securityContext", "seccompProfile"),),
    (("spec", "securityContext", "seccompProfile", "type"), "Unconfined"),
    (("spec", "hostNetwork"), True),
    ((*CONTAINER, "securityContext", "allowPrivilegeEscalation"),),
    ((*CONTAINER, "securityContext", "readOnlyRootFilesystem"),),
    ((*CONTAINER, "securityContext", "capabilities"),),
    ((*CONTAINER, "securityContext", "capabilities", "add"), ["NET_ADMIN"]),
    ((*CONTAINER, "securityContext", "privileged"), True),
    ((*CONTAINER, "volumeMounts", 0, "readOnly"),),
]


class Kubernetes(Essence, unittest.TestCase):
    def test_the_pod(self):
        document = load("kubernetes/pod.yaml")
        names = [entry["name"] for entry in document["spec"]["containers"][0]["env"]]
        self.holds(document, pod, [
            *RESTRICTED,
            (("spec", "automountServiceAccountToken"),),
            (("spec", "enableServiceLinks"),),
            (("spec", "terminationGracePeriodSeconds"),),
            (("spec", "volumes", 0, "secret", "defaultMode"),),
            (("spec", "volumes", 0), {"name": "wg-easy", "hostPath": {"path": "/etc"}}),
            ((*CONTAINER, "stdin"),),
            ((*CONTAINER, "stdinOnce"),),
            ((*CONTAINER, "tty"), True),
            ((*CONTAINER, "image"), "docker.io/someone/else:1"),
            ((*CONTAINER, "ports"), [{"containerPort": 80}]),
            ((*CONTAINER, "resources", "limits"),),
            ((*CONTAINER, "env", names.index("WG_EASY_PASSWORD_FILE")), {"name": "WG_EASY_PASSWORD", "value": "x"}),
            ((*CONTAINER, "env", names.index("WG_EASY_URL"), "value"), "http://wg-easy"),
            ((*CONTAINER, "securtyContext"), {}),
        ])

    def test_the_namespace_is_restricted_and_its_images_are_looked_at(self):
        def faults(document):
            yield from valid(document)
            labels = document["metadata"].get("labels", {})
            if labels.get("pod-security.kubernetes.io/enforce") != "restricted":
                yield "anything may run in it"
            if labels.get("policy.sigstore.dev/include") != "true":
                yield "sigstore's controller does not look at it"

        self.holds(load("kubernetes/namespace.yaml"), faults, [
            (("metadata", "labels", "pod-security.kubernetes.io/enforce"), "baseline"),
            (("metadata", "labels", "policy.sigstore.dev/include"),),
        ])

    def test_the_network_policy_lets_out_to_dns_and_wg_easy_only(self):
        def faults(document):
            yield from valid(document)
            spec = document["spec"]
            if spec["podSelector"] != {} or sorted(spec.get("policyTypes", [])) != ["Egress", "Ingress"]:
                yield "it is not for every pod and both ways"
            if spec.get("ingress"):
                yield "somebody may come in"
            ways = []
            for rule in spec.get("egress", []):
                if not rule.get("to") or not rule.get("ports"):
                    yield "a rule without a destination or a port lets everything out"
                for peer in rule.get("to", []):
                    space = peer.get("namespaceSelector", {}).get("matchLabels", {}).get("kubernetes.io/metadata.name")
                    labels = peer.get("podSelector", {}).get("matchLabels", {})
                    if "ipBlock" in peer or not space or not labels:
                        yield "a destination is not a certain kind of pod in a certain namespace"
                    ways += [(space, tuple(labels.items()), port.get("protocol"), port.get("port")) for port in rule.get("ports", [])]
            if sorted(ways, key=str) != sorted([
                ("kube-system", (("k8s-app", "kube-dns"),), "UDP", 53),
                ("kube-system", (("k8s-app", "kube-dns"),), "TCP", 53),
                ("vpn", (("app.kubernetes.io/name", "wg-easy"),), "TCP", 443),
            ], key=str):
                yield "it does not lead to the cluster's DNS and wg-easy, and nowhere else"

        self.holds(load("kubernetes/network-policy.yaml"), faults, [
            (("spec", "policyTypes"), ["Ingress"]),
            (("spec", "policyTypes"), ["Egress"]),
            (("spec", "podSelector"), {"matchLabels": {"app": "other"}}),
            (("spec", "ingress"), [{}]),
            (("spec", "egress"), [{}]),
            (("spec", "egress", 0, "to"),),
            (("spec", "egress", 0, "ports"),),
            (("spec", "egress", 0, "to", 0, "podSelector"),),
            (("spec", "egress", 1, "to", 0, "namespaceSelector"),),
            (("spec", "egress", 1, "to", 0), {"ipBlock": {"cidr": "0.0.0.0/0"}}),
            (("spec", "egress", 1),),
        ])

    def test_what_a_client_runs_with_kubectl_is_such_a_pod(self):
        clients = load("kubernetes/clients.json")["mcpServers"]
        run = clients["wg-easy"]["args"]
        for needed in ("run", "--stdin", "--rm", "--quiet", "--restart=Never", "--namespace=wg-easy-mcp"):
            self.assertIn(needed, run)
        self.assertNotIn("--tty", run)
        image = next(part for part in run if part.startswith("--image=")).removeprefix("--image=")
        overrides = json.loads(next(part for part in run if part.startswith("--overrides=")).removeprefix("--overrides="))
        # As `kubectl run` fills it in.
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": run[1], "namespace": "wg-easy-mcp"}, **overrides}
        container = document["spec"]["containers"][0]
        self.assertEqual(container["name"], run[1])
        container |= {"image": image, "stdin": True, "stdinOnce": True}
        self.holds(document, pod, [*RESTRICTED, (("spec", "terminationGracePeriodSeconds"),)])
        attach = clients["wg-easy-waiting"]["args"]
        self.assertEqual(attach[:2], ["attach", load("kubernetes/pod.yaml")["metadata"]["name"]])
        self.assertIn("--stdin", attach)

    def test_toolhives_server(self):
        def faults(document):
            for error in jsonschema.Draft202012Validator(TOOLHIVE).iter_errors(document):
                yield f"{list(error.path)}: {error.message}"
            spec = document["spec"]
            if spec.get("transport") != "stdio" or not spec["image"].startswith(IMAGE + ":"):
                yield "it is not this server"
            if document["metadata"]["namespace"] == load("kubernetes/network-policy.yaml")["metadata"]["namespace"]:
                yield "nobody reaches its proxy"
            if "oidcConfigRef" not in spec:
                yield "whoever reaches the proxy administers the VPN"
            template = spec.get("podTemplateSpec", {}).get("spec", {"containers": [{}]})
            if [container.get("name") for container in template["containers"]] != ["mcp"]:
                yield "ToolHive does not see what is said of its container"
            whole = {**template, "containers": [{**template["containers"][0], "env": spec.get("env", []),
                                                 "resources": spec.get("resources", {})}]}
            yield from restricted(whole)
            yield from careful(whole)
            yield from valid({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": whole})

        inner = ("spec", "podTemplateSpec")
        self.holds(load("toolhive/mcpserver.yaml"), faults, [
            (("metadata", "namespace"), "wg-easy-mcp"),
            (("spec", "transport"), "sse"),
            (("spec", "oidcConfigRef"),),
            (("spec", "resources"),),
            (("spec", "podTemplateSpec"),),
            (("spec", "imagePullPolicy"), "Always"),
            ((*inner, *CONTAINER, "name"), "server"),
            *[((*inner, *path), *value) for path, *value in RESTRICTED],
        ])


if __name__ == "__main__":
    unittest.main()
