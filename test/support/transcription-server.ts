import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request of `/v1/audio/transcriptions`, as a server sees it. */
export interface TranscriptionRequest {
  fields: Record<string, string[]>;
  key: string | undefined;
  /** Samples of the utterance, by its WAV header. */
  samples: number;
}

/** How a server answers one request; `hang` never does, `break` closes in the middle. */
export type TranscriptionAnswer =
  | { status?: number; headers?: Record<string, string>; body: unknown }
  | { half: string }
  | "break"
  | "hang";

const HEADER_BYTES = 44;

/** A server that speaks OpenAI's transcription protocol, with the faults that a test orders. */
export class TranscriptionServer {
  readonly requests: TranscriptionRequest[] = [];
  /** Most requests that were under way at once. */
  most = 0;
  /** Answers a request; replaced by a test. */
  answer: (request: TranscriptionRequest, count: number) => TranscriptionAnswer = () => ({
    body: { text: "hello" },
  });
  readonly #server: Server;
  #open = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<TranscriptionServer> {
    const server = new TranscriptionServer();
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
    this.#open += 1;
    this.most = Math.max(this.most, this.#open);
    response.on("close", () => {
      this.#open -= 1;
    });
    const parsed = await parse(request);
    this.requests.push(parsed);
    const answer = this.answer(parsed, this.requests.length);
    if (answer === "hang") return;
    if (answer === "break") {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"text": "hal');
      setImmediate(() => response.destroy());
      return;
    }
    if ("half" in answer) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(answer.half);
      return;
    }
    const { status = 200, headers = {}, body } = answer;
    const isText = typeof body === "string";
    response.writeHead(status, {
      "content-type": isText ? "text/plain" : "application/json",
      ...headers,
    });
    response.end(isText ? body : JSON.stringify(body));
  }
}

async function parse(request: IncomingMessage): Promise<TranscriptionRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const whole = new Response(Buffer.concat(parts), {
    headers: { "content-type": request.headers["content-type"] ?? "" },
  });
  const fields: Record<string, string[]> = {};
  let samples = 0;
  for (const [name, value] of (await whole.formData()).entries()) {
    if (typeof value === "string") fields[name] = [...(fields[name] ?? []), value];
    else samples = (value.size - HEADER_BYTES) / 2;
  }
  return { fields, key: request.headers.authorization, samples };
}
