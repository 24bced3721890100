"""PyPI mcp 1: the official Python client, version 1."""

from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification, ElicitResult

from serve import dialog, serve


class Driven:
    # It reads nothing while a dialog is open, so it never hears that a question was taken back.
    tells = False

    def __init__(self, session, revision):
        self.session = session
        self.revision = revision

    async def list(self):
        return (await self.session.list_tools()).tools

    async def call(self, name, arguments):
        return await self.session.call_tool(name, arguments)

    async def cancel(self, call):
        # It has no method for this: the call that waits is the last request that was sent.
        request = self.session._request_id - 1
        await self.session.send_notification(ClientNotification(CancelledNotification(
            method="notifications/cancelled", params=CancelledNotificationParams(requestId=request))))


@asynccontextmanager
async def connect(command, environment, _, person):
    server = StdioServerParameters(command=command, env=environment)
    async with (stdio_client(server) as (reading, writing),
                ClientSession(reading, writing, elicitation_callback=dialog(person, ElicitResult)) as session):
        hello = await session.initialize()
        yield Driven(session, hello.protocolVersion)


serve(connect)
