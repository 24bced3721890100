"""What every client in Python is driven by: a command a line on stdin, its answer a line on stdout."""

import asyncio
import json
import sys


class Person:
    """Who a client's dialog asks: answers as told, or goes on thinking until the question is taken away."""

    def __init__(self):
        self.answer = None
        self.asked = []
        self.question = None
        self.withdrawn = asyncio.Event()
        self.late = asyncio.Event()

    async def reads(self, message, schema):
        """What this person says to a question: an action and a content."""
        question = {"message": message, "requestedSchema": schema}
        if self.question is None:
            self.asked.append(question)
            return self.answer["action"], self.answer.get("content")
        self.question.set_result(question)
        try:
            await self.late.wait()
        except asyncio.CancelledError:
            self.withdrawn.set()
            raise
        return "accept", {"confirm": True}


def plain(value):
    """A message of the client's library, as it was on the wire."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def dialog(person, result):
    """What a client calls to show a dialog, which answers with a `result`; nothing for a client without a person."""

    async def shown(_, question):
        question = plain(question)
        action, content = await person.reads(question["message"], question["requestedSchema"])
        return result(action=action, content=content)

    return shown if person else None


class Commands:
    """What can be asked of a client, which has `revision`, `tells`, `list`, `call` and `cancel`."""

    def __init__(self, client, person):
        self.client = client
        self.person = person
        self.call_left = None

    async def list(self, _):
        return {"tools": [plain(tool) for tool in await self.client.list()]}

    async def call(self, command):
        self.person.answer, self.person.asked = command.get("answer"), []
        result = await self.client.call(command["name"], command["arguments"])
        return {"result": plain(result), "asked": self.person.asked}

    async def ask(self, command):
        """Begins a call and leaves it with the person."""
        self.person.question = asyncio.get_running_loop().create_future()
        self.call_left = asyncio.create_task(self.client.call(command["name"], command["arguments"]))
        await asyncio.wait([self.person.question, self.call_left], return_when=asyncio.FIRST_COMPLETED)
        if self.call_left.done():
            self.call_left.result()
        return {"question": await self.person.question}

    async def cancel(self, _):
        """Cancels the call that was left."""
        await self.client.cancel(self.call_left)
        answer = {}
        if self.client.tells:
            await self.person.withdrawn.wait()
            answer["withdrawn"] = True
        # To a client that cannot be told, the person says yes after all.
        self.person.late.set()
        self.call_left.cancel()
        await asyncio.wait([self.call_left])
        self.person.question = None
        return answer | {"call": "given up" if self.call_left.cancelled() else "answered"}


def leaf(error):
    """The error within the groups that task groups make of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def drive(connect):
    """`connect(command, environment, revision, person or None)` is an asynchronous context with a client in it."""

    async def line():
        return await asyncio.to_thread(sys.stdin.readline)

    def say(answer):
        print(json.dumps(answer), flush=True)

    hello = json.loads(await line())
    person = Person()
    async with connect(hello["command"], hello["environment"], hello["revision"],
                       person if hello["form"] else None) as client:
        say({"revision": client.revision})
        commands = Commands(client, person)
        while (text := await line()) and (command := json.loads(text))["do"] != "close":
            try:
                say(await getattr(commands, command["do"])(command))
            except Exception as error:  # whatever a client raises is its answer
                error = leaf(error)
                cause = getattr(error, "error", None)
                say({"error": {"code": getattr(cause, "code", None), "message": str(error)}})
    say({})


def serve(connect):
    asyncio.run(drive(connect))
