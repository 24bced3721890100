"""What every client has to be able to do with the server. One function a scenario; its first line says what it shows.

Each is given a way to start a client (`start(form)`, where `form` says whether it can show a dialog) and the wg-easy
behind the server, whose word counts.
"""

import base64
import re

TOOLS = [
    "list_clients", "get_client", "create_client", "update_client", "enable_client", "disable_client",
    "delete_client", "get_client_config", "get_client_qrcode", "generate_one_time_link", "get_server_info",
]

YES = {"action": "accept", "content": {"confirm": True}}
NOES = [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"confirm": False}}]

# The tools that ask: their arguments, and whether wg-easy's clients show that it was done.
GUARDED = {
    "create_client": ({"name": "anna", "expiresAt": "2099-12-31"},
                      lambda clients: [c["expiresAt"][:10] for c in clients.values() if c["name"] == "anna"]
                      == ["2099-12-31"]),
    "update_client": ({"clientId": 1, "name": "office", "mtu": 1380, "allowedIps": ["10.8.0.0/24"]},
                      lambda clients: (clients[1]["name"], clients[1]["mtu"], clients[1]["allowedIps"])
                      == ("office", 1380, ["10.8.0.0/24"])),
    "enable_client": ({"clientId": 2}, lambda clients: clients[2]["enabled"]),
    "delete_client": ({"clientId": 3}, lambda clients: 3 not in clients),
    "generate_one_time_link": ({"clientId": 4}, lambda clients: clients[4]["oneTimeLink"] is not None),
}


def expect(holds, what):
    """Fails with what was seen; not an `assert`, which an optimising interpreter leaves out."""
    if not holds:
        raise AssertionError(what)


def text(result):
    """All that a model would read of a result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def succeeded(result):
    """The data of an answer that is no error, and that is the same in both of its forms."""
    expect(not result.get("isError"), f"an error: {text(result)}")
    return result["structuredContent"]


def refused(result):
    """The text of an answer that is an error."""
    expect(result.get("isError"), f"no error: {result}")
    return text(result)


def is_question(question, tool):
    """Whether a person could decide by this."""
    words = {"create_client": "will create", "update_client": "will change", "enable_client": "connect again",
             "delete_client": "will delete", "generate_one_time_link": "will make a link"}
    message, schema = question["message"], question["requestedSchema"]
    expect(words[tool] in message and "Values below were supplied by the caller" in message, message)
    expect(list(schema["properties"]) == ["confirm"], schema)
    expect(schema["properties"]["confirm"]["type"] == "boolean", schema)


def locked_out(client, wg_easy):
    """A session in which client 2 is disabled, so that there is something to enable; wg-easy's clients."""
    client.list()
    result, asked = client.call("disable_client", {"clientId": 2})
    expect(succeeded(result)["success"] is True and asked == [], result)
    clients = wg_easy.clients()
    expect(clients[2]["enabled"] is False, "disable_client did not disable")
    expect(not any(done(clients) for _, done in GUARDED.values()), "done before it was asked for")
    return clients


def listing(start, wg_easy):
    """All eleven tools are there, each with its schemas and hints."""
    with start(form=True) as client:
        tools = client.list()
        expect([tool["name"] for tool in tools] == TOOLS, tools)
        for tool in tools:
            expect(tool["title"] and tool["description"], tool)
            expect(tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object", tool)
            expect(set(tool["annotations"]) >= {"readOnlyHint", "destructiveHint"}, tool)
        client.close()


def reading(start, wg_easy):
    """Each tool that only reads answers with what wg-easy has, and the client accepts the answer's form."""
    with start(form=True) as client:
        client.list()
        clients = wg_easy.clients()

        def read(name, arguments):
            result, asked = client.call(name, arguments)
            expect(asked == [], f"{name} asked a person")
            data = succeeded(result)
            expect(data["untrusted"] is True and data["source"] == "wg-easy", data)
            return data, result

        data, _ = read("list_clients", {"filter": "CLIENT-", "sort": "desc", "limit": 3})
        names = sorted((client["name"] for client in clients.values()), reverse=True)
        expect([client["name"] for client in data["clients"]] == names[:3], data)
        expect((data["count"], data["total"], data["nextOffset"]) == (3, 5, 3), data)
        data, _ = read("get_client", {"clientId": 4})
        expect((data["publicKey"], data["privateKey"]) == (clients[4]["publicKey"], "[redacted]"), data)
        data, _ = read("get_server_info", {})
        expect(data["information"]["currentRelease"] == "v15.4.0" and data["interface"]["name"] == "wg0", data)
        data, _ = read("get_client_config", {"clientId": 4})
        expect(re.search(r"^PrivateKey = [A-Za-z0-9+/]{43}=$", data["configuration"], re.M), data)
        expect(f"Address = {clients[4]['ipv4Address']}/32" in data["configuration"], data)
        data, result = read("get_client_qrcode", {"clientId": 4})
        expect(data["svg"].startswith("<svg "), data)
        [image] = [block for block in result["content"] if block["type"] == "image"]
        expect(image["mimeType"] == "image/png", image["mimeType"])
        expect(base64.b64decode(image["data"]).startswith(b"\x89PNG\r\n"), "no PNG")
        expect(wg_easy.clients() == clients, "reading has changed something")
        client.close()


def yes(start, wg_easy):
    """Each tool that asks puts one question, and after a yes it is done."""
    with start(form=True) as client:
        locked_out(client, wg_easy)
        for tool, (arguments, done) in GUARDED.items():
            result, asked = client.call(tool, arguments, YES)
            data = succeeded(result)
            expect(len(asked) == 1, asked)
            is_question(asked[0], tool)
            expect(done(wg_easy.clients()), f"{tool} has not done it")
        # The last one made a link; what it says is what wg-easy serves.
        expect(data["url"] == wg_easy.url + data["path"], data)
        expect("PrivateKey" in wg_easy.fetch(data["path"]), "the link leads nowhere")
        client.close()


def no(start, wg_easy):
    """After anything but a yes nothing has changed, and the answer says so."""
    with start(form=True) as client:
        before = locked_out(client, wg_easy)
        for number, (tool, (arguments, _)) in enumerate(GUARDED.items()):
            result, asked = client.call(tool, arguments, NOES[number % len(NOES)])
            expect(refused(result).startswith("Nothing was changed"), result)
            expect(len(asked) == 1, asked)
            is_question(asked[0], tool)
        expect(wg_easy.clients() == before, "something has changed")
        client.close()


def cancel(start, wg_easy):
    """A call that is cancelled while a person thinks takes its question back; nothing changes, the session goes on."""
    with start(form=True) as client:
        before = locked_out(client, wg_easy)
        is_question(client.ask("delete_client", {"clientId": 3}), "delete_client")
        outcome = client.cancel()
        expect(outcome["call"] == "given up", outcome)
        # Some clients cannot be told, which is not the server's fault: there the answer says nothing of it.
        expect(outcome.get("withdrawn", True) is True, outcome)
        if client.revision < "2026":
            # The server waits with the call, so it has to have given up too.
            client.wait_for("tool=delete_client client=3 how=dialog-pushed decision=no-answer outcome=not-applied")
        expect(wg_easy.clients() == before, "something has changed")
        result, _ = client.call("delete_client", {"clientId": 3}, YES)
        expect(succeeded(result) == {"deleted": 3}, result)
        expect(3 not in wg_easy.clients(), "delete_client has not done it")
        client.close()


def token(start, wg_easy):
    """A client without a dialog calls twice; the token is for that call, and for one."""
    with start(form=False) as client:
        before = locked_out(client, wg_easy)
        for tool, (arguments, done) in GUARDED.items():
            first, _ = client.call(tool, arguments)
            [right] = re.findall(r"^confirm_token: ([0-9a-f]{32})$", refused(first), re.M)
            again, _ = client.call(tool, arguments | {"confirm_token": right[::-1]})
            expect("did not fit" in refused(again), again)
            expect(wg_easy.clients() == before, f"{tool} has changed something without its token")
            result, asked = client.call(tool, arguments | {"confirm_token": right})
            succeeded(result)
            expect(asked == [], asked)
            before = wg_easy.clients()
            expect(done(before), f"{tool} has not done it")
            refused(client.call(tool, arguments | {"confirm_token": right})[0])
            expect(wg_easy.clients() == before, f"{tool} took its token twice")
        client.close()


def mistakes(start, wg_easy):
    """A call that makes no sense is refused in words that a model can act on, and nobody is asked."""
    with start(form=True) as client:
        client.list()
        before = wg_easy.clients()
        for tool, arguments, words in [
            ("get_client", {"clientId": True}, "clientId has to be"),
            ("get_client", {"clientId": 1, "client": 1}, "Unknown argument: client"),
            ("delete_client", {"clientId": 77}, "There is no client 77"),
            ("create_client", {}, "name"),
            ("update_client", {"clientId": 1}, "There is nothing to change"),
        ]:
            result, asked = client.call(tool, arguments, YES)
            expect(words in refused(result) and asked == [], result)
        client.unknown("drop_client")
        expect(wg_easy.clients() == before, "something has changed")
        client.close()


ALL = [listing, reading, yes, no, cancel, token, mistakes]
