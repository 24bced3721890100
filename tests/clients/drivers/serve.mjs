// What every client in JavaScript is driven by: a command a line on stdin, its answer a line on stdout.
import { createInterface } from "node:readline";

// `open(server, form, person)` connects a client and gives {revision, list, call, close}; `person(question, signal)`
// is who its dialog asks.
export async function serve(open) {
  let client, standing, asked;
  let held;

  const person = async (question, signal) => {
    const { message, requestedSchema } = question;
    if (!held) {
      asked.push({ message, requestedSchema });
      return standing;
    }
    // A person who is still thinking, until the client takes the question away.
    const withdrawn = new Promise((resolve) => signal?.addEventListener("abort", () => resolve(true)));
    held.asked({ question: { message, requestedSchema }, withdrawn });
    await withdrawn;
    return { action: "cancel" };
  };

  const commands = {
    async connect({ command, environment, revision, form }) {
      client = await open({ command, env: environment }, revision, form, person);
      return { revision: client.revision };
    },
    async list() {
      return { tools: await client.list() };
    },
    async call({ name, arguments: args, answer }) {
      [standing, asked] = [answer, []];
      return { result: await client.call(name, args), asked };
    },
    // Begins a call and leaves it with the person.
    async ask({ name, arguments: args }) {
      const stop = new AbortController();
      const question = new Promise((resolve) => (held = { asked: resolve, stop }));
      const over = client.call(name, args, stop.signal);
      held.over = over.then(
        () => "answered",
        () => "given up",
      );
      const pending = await Promise.race([question, over]);
      held.withdrawn = pending.withdrawn;
      return { question: pending.question };
    },
    // Cancels the call that was left.
    async cancel() {
      held.stop.abort();
      const answer = { call: await held.over };
      if (client.tells) answer.withdrawn = await held.withdrawn;
      held = undefined;
      return answer;
    },
    async close() {
      await client.close();
      return {};
    },
  };

  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    let answer;
    try {
      answer = await commands[command.do](command);
    } catch (error) {
      answer = { error: { code: error.code ?? null, message: String(error.message ?? error) } };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}
