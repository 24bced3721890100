// npm @modelcontextprotocol/client: the official TypeScript client, version 2.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serve } from "./serve.mjs";

await serve(async (server, revision, form, person) => {
  const client = new Client(
    { name: "typescript-2", version: "0" },
    {
      capabilities: form ? { elicitation: { form: {} } } : {},
      // A client that may choose finds the newest revision by itself.
      versionNegotiation: { mode: revision < "2026" ? "legacy" : "auto" },
    },
  );
  if (form) {
    client.setRequestHandler("elicitation/create", ({ params }, context) => person(params, context.mcpReq.signal));
  }
  await client.connect(new StdioClientTransport(server));
  return {
    tells: true,
    revision: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: (name, args, signal) => client.callTool({ name, arguments: args }, { signal }),
    close: () => client.close(),
  };
});
