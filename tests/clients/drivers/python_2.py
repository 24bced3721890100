"""PyPI mcp 2: the official Python client, in both eras of the protocol."""

import asyncio
from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

from serve import dialog, serve


class Driven:
    tells = True

    def __init__(self, client):
        self.client = client
        self.revision = client.protocol_version

    async def list(self):
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments):
        return await self.client.call_tool(name, arguments)

    async def cancel(self, call):
        call.cancel()
        await asyncio.wait([call])


@asynccontextmanager
async def connect(command, environment, revision, person):
    # A client that may choose finds the newest revision by itself.
    mode = "legacy" if revision < "2026" else "auto"
    server = StdioServerParameters(command=command, env=environment)
    async with Client(server, mode=mode, elicitation_callback=dialog(person, ElicitResult)) as client:
        yield Driven(client)


serve(connect)
