import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiClient } from "../../src/cli/api-client.ts";
import { simulateDevice } from "../../src/cli/simulate-device.ts";
import { UserSession } from "../../src/cli/user-session.ts";
import type { WaveAudio } from "../../src/cli/wave-file.ts";

const SESSION = "0190c0de-0000-7000-8000-000000000001";
const QUICK = { attempts: 5, firstMs: 1, longestMs: 5 };

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** How the service stands in for an outage: a status, or a connection cut after it was read. */
type Fault = number | "cut" | undefined;

/** A scripted service that answers the device's calls and keeps what it was sent. */
class ScriptedService {
  readonly received: Received[] = [];
  fault: (call: Received, count: number) => Fault = () => undefined;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api`;
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(done));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method = "", url = "", headers } = request;
    const call = { method, path: url.replace("/api", ""), headers, body: Buffer.concat(pieces) };
    const count = this.received.filter(({ path }) => path === call.path).length;
    this.received.push(call);
    const fault = this.fault(call, count);
    if (fault === "cut") {
      request.socket.destroy();
      return;
    }
    const refusal = { success: false, message: `busy with ${SESSION}` };
    response.writeHead(fault ?? 200, { "Content-Type": "application/json", "Retry-After": "0" });
    response.end(JSON.stringify(fault ? refusal : answerTo(call.path)));
  }

  calls(path: RegExp): Received[] {
    return this.received.filter((call) => path.test(call.path));
  }
}

function answerTo(path: string): object {
  if (path === "/devices/pairing-codes") {
    return { device_id: "d1", code: "BCDF-GHJK", pairing_secret: "secret" };
  }
  if (path === "/devices/pair/claim-auth") return { device_id: "d1", api_key: "key" };
  if (path.startsWith("/workspaces")) return { items: [{ id: "w1" }], next_cursor: null };
  return { success: true, session_id: SESSION };
}

const audio: WaveAudio = {
  ...{ float: false, bitsPerSample: 16, channels: 1, sampleRate: 16_000 },
  data: Buffer.from(Array.from({ length: 40_000 }, (_, i) => i % 251)),
};

let service: ScriptedService;
let user: UserSession;
beforeEach(async () => {
  service = new ScriptedService();
  const api = new ApiClient(await service.start(), QUICK);
  user = new UserSession(api, { email: "", token: "jwt" }, () => undefined);
});
afterEach(() => service.stop());

function simulate(loss = 0, signal = new AbortController().signal) {
  const options = { files: ["a.wav"], chunkSeconds: 0.25, speed: Number.POSITIVE_INFINITY, loss };
  return simulateDevice(user, [audio], { ...options, codec: "pcm" }, { signal });
}

/** Stored audio by sequence, as the service would keep it; fails when a repeat differs. */
function stored(): Buffer {
  const bySequence = new Map<number, Buffer>();
  for (const { headers, body } of service.calls(/upload-audio$/)) {
    const sequence = Number(headers["x-chunk-sequence"]);
    const before = bySequence.get(sequence);
    if (before) expect(sha256(body)).toBe(sha256(before));
    bySequence.set(sequence, body);
  }
  expect([...bySequence.keys()]).toEqual([...bySequence.keys()].sort((a, b) => a - b));
  return Buffer.concat([...bySequence.values()]);
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("cli device: against a scripted service", () => {
  it("pairs, streams every byte in order and stops with the last sequence", async () => {
    const { chunks, sessionId, deviceId } = await simulate();
    expect([chunks, sessionId, deviceId]).toEqual([5, SESSION, "d1"]);
    expect(stored()).toEqual(audio.data);
    const [upload] = service.calls(/upload-audio$/);
    expect(upload?.headers["x-api-key"]).toBe("key");
    expect(upload?.headers["content-type"]).toBe("audio/pcm;rate=16000;channels=1;encoding=s16le");
    const [pair] = service.calls(/devices\/pair$/);
    expect(pair?.headers.authorization).toBe("Bearer jwt");
    expect(JSON.parse(String(pair?.body))).toMatchObject({ workspace_id: "w1" });
    const [stop] = service.calls(/session\/stop$/);
    expect(JSON.parse(String(stop?.body))).toEqual({
      session_id: SESSION,
      last_chunk_sequence: 4,
    });
  });

  it("sends a chunk again after 429, 5xx and a connection that was cut", async () => {
    const faults: Fault[] = [503, "cut", 429, undefined];
    service.fault = ({ path }, count) =>
      path.endsWith("upload-audio") ? faults[count] : undefined;
    expect((await simulate()).chunks).toBe(5);
    expect(service.calls(/upload-audio$/)).toHaveLength(8);
    expect(stored()).toEqual(audio.data);
  });

  it("sends what a lossy network lost until it is through", async () => {
    const { lost } = await simulate(0.6);
    expect(stored()).toEqual(audio.data);
    expect(service.calls(/upload-audio$/).length).toBeLessThanOrEqual(5 + lost);
  });

  it("takes the session that a lost answer had started", async () => {
    service.fault = ({ path }, count) => {
      if (!path.endsWith("session/start")) return undefined;
      return count === 0 ? "cut" : 409;
    };
    expect((await simulate()).sessionId).toBe(SESSION);
  });

  it("gives up with one sentence and still stops the session", async () => {
    service.fault = ({ path }) => (path.endsWith("upload-audio") ? 503 : undefined);
    await expect(simulate()).rejects.toThrow(/POST \/sessions\/.*upload-audio answered 503: busy/);
    expect(service.calls(/upload-audio$/)).toHaveLength(QUICK.attempts);
    expect(service.calls(/session\/stop$/)).toHaveLength(1);
  });

  it("stops the session when it is interrupted", async () => {
    const stop = new AbortController();
    service.fault = ({ path }, count) => {
      if (path.endsWith("upload-audio") && count === 1) stop.abort();
      return undefined;
    };
    await expect(simulate(0, stop.signal)).rejects.toThrow(/abort/i);
    const [call] = service.calls(/session\/stop$/);
    expect(JSON.parse(String(call?.body))).toMatchObject({ last_chunk_sequence: 0 });
  });
});
