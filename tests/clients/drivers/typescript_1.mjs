// npm @modelcontextprotocol/sdk: the official TypeScript client, version 1.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { serve } from "./serve.mjs";

await serve(async (server, revision, form, person) => {
  const client = new Client(
    { name: "typescript-1", version: "0" },
    { capabilities: form ? { elicitation: {} } : {} },
  );
  if (form) client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => person(params, signal));
  const transport = new StdioClientTransport(server);
  let agreed;
  transport.setProtocolVersion = (version) => (agreed = version);
  await client.connect(transport);
  return {
    tells: true,
    revision: agreed,
    list: async () => (await client.listTools()).tools,
    call: (name, args, signal) => client.callTool({ name, arguments: args }, undefined, { signal }),
    close: () => client.close(),
  };
});
