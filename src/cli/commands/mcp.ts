import { once } from "node:events";
import type { Command } from "commander";
import { ApiClient, type Send } from "../../client/api-client.ts";
import { BRISK } from "../../client/back-off.ts";
import { ApiError, reasonOf } from "../../client/errors.ts";
import type { components } from "../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure } from "../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../client/flags.ts";
import {
  baseUrlOf,
  type ConnectionOptions,
  openUserSession,
  reach,
} from "../client/user-session.ts";

interface McpOptions extends ConnectionOptions {
  readonly apiKey?: string;
}

type Message = components["schemas"]["McpMessage"];
type Answer = components["schemas"]["McpAnswer"];
type MessageId = Answer["id"];

/** Gives a message to the service, with the caller's credentials as they are now. */
type SendMessage = (message: Message, signal: AbortSignal) => Promise<Answer>;

/** Longest message of a client, bytes: as much as the service takes. */
const MOST_BYTES = 1024 * 1024;
/** Calls under way at once; more are refused. */
const MOST_CALLS = 16;
/** Longer than the service takes for any answer, milliseconds. */
const ANSWER_MS = 60_000;
/** JSON-RPC's code of a call that failed for no fault of the message. */
const FAILED = -32_603;

const CLIENT_HELP = `
Add it to an MCP client as a server that is a command:
  {"mcpServers": {"voice": {"command": "voice", "args": ["mcp"]}}}
(or "node" with the path of deploy/bin/voice.mjs before "mcp").
It acts as you after \`voice login\`, or by a service key with the scopes sessions:read and query
(VOICE_KEY). Its tools read and change nothing.`;

/** `voice mcp`: the service's MCP tools over standard input and output. */
export function addMcp(program: Command, context: CommandContext): void {
  const command = program
    .command("mcp")
    .description("MCP server over stdin and stdout: an assistant finds sessions, reads and asks")
    .option("--api-key <key>", "act by this service key, or VOICE_KEY (safer)");
  withExamples(
    withConnectionFlags(command),
    "voice mcp",
    "VOICE_KEY=$(cat archive.key) voice mcp --base-url https://voice.example.org",
  )
    .addHelpText("after", CLIENT_HELP)
    .action((options: McpOptions) => serve(options, context));
}

async function serve(options: McpOptions, context: CommandContext): Promise<void> {
  const { env, stdin, stdout, stderr, signal } = context;
  const send = await senderOf(options, env);
  // Loaded by this command alone.
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MOST_BYTES });
  const calls = new Calls(send, (answer) => transport.send(answer as never));
  // It closes itself at what it cannot read on from.
  const closed = new Promise<boolean>((resolve) => {
    transport.onclose = () => resolve(true);
  });
  transport.onmessage = (message) => calls.take(message as Partial<Message>);
  transport.onerror = (error) => stderr.write(`voice: ${reasonOf(error)}\n`);
  const ended = once(stdin, "end", { signal }).then(
    () => false,
    () => false,
  );
  await transport.start();
  const isTooLarge = await Promise.race([closed, ended]);
  if (signal.aborted) calls.stop();
  await calls.settled();
  await transport.close();
  if (isTooLarge) throw new CommandFailure(`a message has more than ${MOST_BYTES} bytes`);
}

/** By the key if there is one, unless somebody is named; else as the user. */
async function senderOf(options: McpOptions, env: NodeJS.ProcessEnv): Promise<SendMessage> {
  const isNamed = Boolean(options.token || options.email);
  const key = options.apiKey || (isNamed ? undefined : env.VOICE_KEY);
  if (!key) {
    const user = await openUserSession(options, env);
    return (message, signal) => user.call(post(message), { signal, timeoutMs: ANSWER_MS });
  }
  const api = new ApiClient(baseUrlOf(options, env), BRISK);
  await reach(api);
  const headers = { "X-API-Key": key };
  return (message, signal) => api.call(post(message), { headers, signal, timeoutMs: ANSWER_MS });
}

/** Sends a message that has an answer: no notification. */
function post(body: Message): Send<Answer> {
  return async (client) => {
    const { data, response } = await client.POST("/mcp", { body });
    return { data: data as Answer, response };
  };
}

/** The calls of a client that are under way. */
class Calls {
  readonly #send: SendMessage;
  readonly #answer: (answer: Answer) => Promise<void>;
  readonly #running = new Map<MessageId, AbortController>();
  readonly #work = new Set<Promise<void>>();

  constructor(send: SendMessage, answer: (answer: Answer) => Promise<void>) {
    this.#send = send;
    this.#answer = answer;
  }

  /**
   * Takes a message. Of notifications only the end of a call matters: the service keeps nothing between
   * messages that others could tell it of.
   */
  take({ id, method, params, jsonrpc = "2.0" }: Partial<Message>): void {
    if (method === undefined) return;
    if (id !== undefined) {
      const work = this.#carry(id, { jsonrpc, id, method, ...(params && { params }) });
      this.#work.add(work);
      void work.finally(() => this.#work.delete(work));
    } else if (method === "notifications/cancelled") {
      this.#running.get(params?.requestId as MessageId)?.abort();
    }
  }

  /** Ends all calls; they are not answered. */
  stop(): void {
    for (const call of this.#running.values()) call.abort();
  }

  /** Resolves when every call was answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#work);
  }

  async #carry(id: MessageId, message: Message): Promise<void> {
    if (this.#running.size >= MOST_CALLS) {
      return this.#answer(failure(id, `More than ${MOST_CALLS} calls at once.`));
    }
    const call = new AbortController();
    this.#running.set(id, call);
    try {
      await this.#answer(await this.#send(message, call.signal));
    } catch (error) {
      if (call.signal.aborted) return;
      const said = error instanceof ApiError ? error.said : reasonOf(error);
      await this.#answer(failure(id, said));
    } finally {
      this.#running.delete(id);
    }
  }
}

function failure(id: MessageId, message: string): Answer {
  return { jsonrpc: "2.0", id, error: { code: FAILED, message } };
}
