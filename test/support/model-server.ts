import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request of `/v1/chat/completions`, as a server sees it. */
export interface ModelRequest {
  model: string;
  messages: { role: string; content: string; tool_calls?: { function: ModelCall }[] }[];
  max_tokens?: number;
  temperature?: number;
  response_format?: { type: string; json_schema?: { name: string; schema: object } };
  tools?: { function: { name: string; description?: string; parameters?: object } }[];
  tool_choice?: string;
  key: string | undefined;
}

interface ModelCall {
  name: string;
  arguments: string;
}

/**
 * What a server does with one request. `hang` never answers, `endless` writes for ever, `break` closes
 * in the middle of an answer; `half` is the beginning of one as JSON.
 */
export type ModelAnswer =
  | { text: string; calls?: ModelCall[]; ending?: string; usage?: unknown }
  | { status: number; headers?: Record<string, string>; body: unknown }
  | { half: string }
  | "break"
  | "endless"
  | "hang";

/** Programs whose ways it has. */
export type ModelServerKind = "ollama" | "vllm" | "llama.cpp";

interface ModelServerOptions {
  kind?: ModelServerKind;
  model?: string;
  /** The key that it asks for. */
  key?: string;
  /** Whether it was started so that it calls tools, and the model can. */
  hasTools?: boolean;
}

/** How each program refuses tools that it was not started for, and a model that it has not. */
const REFUSALS: Record<ModelServerKind, { tools: ModelAnswer; model: ModelAnswer }> = {
  ollama: {
    tools: refusal(400, "registry.ollama.ai/library/small does not support tools", "api_error"),
    model: refusal(404, 'model "other" not found, try pulling it first', "api_error"),
  },
  vllm: {
    tools: {
      status: 400,
      body: {
        object: "error",
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
        type: "BadRequestError",
        param: null,
        code: 400,
      },
    },
    model: {
      status: 404,
      body: { object: "error", message: "The model `other` does not exist.", code: 404 },
    },
  },
  "llama.cpp": {
    tools: refusal(500, "tools param requires --jinja flag", "server_error"),
    // It has one model and answers with that, whatever is asked for.
    model: { text: "" },
  },
};

function refusal(status: number, message: string, type: string): ModelAnswer {
  return { status, body: { error: { message, type, param: null, code: null } } };
}

/**
 * A server that speaks OpenAI's chat protocol as Ollama, vLLM or llama.cpp do, with the faults and lies
 * that a test orders. The check of its abilities it answers by itself, as its kind does.
 */
export class ModelServer {
  /** All requests but those of the check. */
  readonly requests: ModelRequest[] = [];
  /** Requests of the check. */
  readonly checks: ModelRequest[] = [];
  /** How often its models were listed. */
  lists = 0;
  /** Most requests that were under way at once. */
  most = 0;
  /** Requests whose client went away before the answer. */
  abandoned = 0;
  /** False: it passes over `response_format`, as older servers do. */
  keepsToSchema = true;
  /** Answers a request; replaced by a test. */
  answer: (request: ModelRequest, count: number) => ModelAnswer | Promise<ModelAnswer> = () => ({
    text: "Nothing.",
  });
  /** Set: every request is answered so, also those of the check. */
  fault: ModelAnswer | undefined;
  readonly #options: Required<Omit<ModelServerOptions, "key">> & { key: string | undefined };
  readonly #server: Server;
  #open = 0;

  private constructor(options: ModelServerOptions) {
    const { kind = "ollama", model = "small", key, hasTools = true } = options;
    this.#options = { kind, model, key, hasTools };
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: ModelServerOptions = {}): Promise<ModelServer> {
    const server = new ModelServer(options);
    await new Promise<void>((done) => server.#server.listen(0, "127.0.0.1", done));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.headers.authorization?.replace("Bearer ", "");
    const { key: wanted, model, kind } = this.#options;
    if (this.fault !== undefined) return this.#send(response, this.fault);
    if (wanted !== undefined && key !== wanted) {
      return this.#send(response, { status: 401, body: { error: "Unauthorized" } });
    }
    if (request.url?.endsWith("/models") === true) {
      this.lists += 1;
      return this.#send(response, { status: 200, body: { object: "list", data: [{ id: model }] } });
    }
    const asked = { ...((await bodyOf(request)) as ModelRequest), key };
    this.#open += 1;
    this.most = Math.max(this.most, this.#open);
    response.on("close", () => {
      this.#open -= 1;
      if (!response.writableFinished) this.abandoned += 1;
    });
    if (asked.model !== model && kind !== "llama.cpp") {
      return this.#send(response, REFUSALS[kind].model);
    }
    if (asked.tools !== undefined && !this.#options.hasTools) {
      return this.#send(response, REFUSALS[kind].tools);
    }
    if (JSON.stringify(asked).includes("check of the connection")) {
      this.checks.push(asked);
      return this.#send(response, this.#ready(asked));
    }
    this.requests.push(asked);
    this.#send(response, await this.answer(asked, this.requests.length));
  }

  #ready({ response_format: format, tools }: ModelRequest): ModelAnswer {
    const json = '{"ready": true}';
    if (tools !== undefined) {
      return { text: "", calls: [{ name: "report_ready", arguments: json }], ending: "tool_calls" };
    }
    if (format !== undefined) return { text: this.keepsToSchema ? json : `Sure! ${json}` };
    return { text: "ready" };
  }

  #send(response: ServerResponse, answer: ModelAnswer): void {
    if (answer === "hang") return;
    if (answer === "endless") return writeOn(response);
    if (answer === "break") {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"choices": [{"mess');
      setImmediate(() => response.destroy());
      return;
    }
    if ("half" in answer) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(answer.half);
      return;
    }
    if ("status" in answer) {
      const isText = typeof answer.body === "string";
      const type = { "content-type": isText ? "text/html" : "application/json" };
      response.writeHead(answer.status, { ...type, ...answer.headers });
      response.end(isText ? answer.body : JSON.stringify(answer.body));
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(this.#completion(answer)));
  }

  #completion({
    text,
    calls = [],
    ending = "stop",
    usage,
  }: Extract<ModelAnswer, { text: string }>) {
    const { kind, model } = this.#options;
    const called = calls.map((each, index) => ({
      ...{ id: `call_${index}`, type: "function", index },
      function: each,
    }));
    const special = {
      ollama: { system_fingerprint: "fp_ollama" },
      vllm: { prompt_logprobs: null, kv_transfer_params: null },
      "llama.cpp": { timings: { predicted_ms: 1 } },
    }[kind];
    const message = {
      ...{ role: "assistant", content: text },
      ...(kind === "vllm" ? { reasoning_content: null, tool_calls: called } : {}),
      ...(called.length > 0 ? { tool_calls: called } : {}),
    };
    return {
      ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model, ...special },
      choices: [{ index: 0, message, finish_reason: ending }],
      usage: usage ?? { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    };
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

/** Writes blanks, which JSON may begin with, until the client has gone. */
function writeOn(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const blanks = " ".repeat(64 * 1024);
  const more = (): void => {
    while (!response.destroyed && response.write(blanks));
  };
  response.on("drain", more);
  more();
}
