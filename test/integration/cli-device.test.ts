import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { chooseWorkspace, describeChoice } from "../../src/cli/client/flags.ts";
import { UserSession } from "../../src/cli/client/user-session.ts";
import { DeviceShelf } from "../../src/cli/device/device-shelf.ts";
import { simulateDevice } from "../../src/cli/device/simulate-device.ts";
import type { WaveAudio } from "../../src/cli/device/wave-file.ts";
import { ApiClient } from "../../src/client/api-client.ts";

const SESSION = "0190c0de-0000-7000-8000-000000000001";
const DAY_MS = 24 * 3_600_000;
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
  /** The code that stands with 409. */
  conflict = "already_recording";
  /** What a stream hears with its first audio, before it is closed with 4401. */
  lastWord: object | undefined;
  userId = "u1";
  keyLifeMs = 30 * DAY_MS;
  workspaces: (path: string) => object = () => ({
    items: [{ id: "w1", name: "Demo" }],
    next_cursor: null,
  });
  #devices = 0;
  #keys = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    const sockets = new WebSocketServer({ server: this.#server });
    sockets.on("connection", (socket) => this.#stream(socket));
  }

  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api`;
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(done));
  }

  #stream(socket: WebSocket): void {
    const tell = (frame: object) =>
      socket.send(JSON.stringify({ session_id: SESSION, chunk_sequence: 0, ...frame }));
    socket.on("message", (_data, isBinary) => {
      if (!isBinary) return tell({ type: "Begin", audio_offset_bytes: 0 });
      if (this.lastWord !== undefined) tell(this.lastWord);
      socket.close(4401, "Your account is disabled.");
    });
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
    const code = fault === 409 ? { "X-Error-Code": this.conflict } : {};
    const type = { "Content-Type": "application/json", "Retry-After": "0" };
    response.writeHead(fault ?? 200, { ...type, ...code });
    response.end(JSON.stringify(fault ? refusal : this.#answerTo(call)));
  }

  calls(path: RegExp): Received[] {
    return this.received.filter((call) => path.test(call.path));
  }

  /** Devices d1, d2, … with keys that tell how often each was renewed. */
  #answerTo({ path, headers }: Received): object {
    if (path === "/auth/me") return { id: this.userId };
    if (path === "/devices/pairing-codes") {
      this.#devices += 1;
      const n = this.#devices;
      return { device_id: `d${n}`, code: "BCDF-GHJK", pairing_secret: `secret-${n}` };
    }
    if (path === "/devices/pair/claim-auth") {
      this.#keys += 1;
      const n = headers.authorization?.split("-").at(-1);
      const expires_at = new Date(Date.now() + this.keyLifeMs).toISOString();
      return { device_id: `d${n}`, api_key: `key-${this.#keys}`, expires_at };
    }
    if (path.startsWith("/workspaces")) return this.workspaces(path);
    return { success: true, session_id: SESSION };
  }
}

const audio: WaveAudio = {
  ...{ float: false, bitsPerSample: 16, channels: 1, sampleRate: 16_000 },
  data: Buffer.from(Array.from({ length: 40_000 }, (_, i) => i % 251)),
};

let service: ScriptedService;
let user: UserSession;
let folder: string;
/** Why access ended, as the person was told. */
let ended: string[];
beforeEach(async () => {
  ended = [];
  folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
  service = new ScriptedService();
  const api = new ApiClient(await service.start(), QUICK);
  user = new UserSession(api, { email: "", token: "jwt" }, () => undefined);
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

function simulate(loss = 0, signal = new AbortController().signal, stream = false) {
  const pace = { chunkSeconds: 0.25, speed: Number.POSITIVE_INFINITY, loss };
  const options = { files: ["a.wav"], codec: "pcm", stream, ...pace } as const;
  const shelf = new DeviceShelf({ XDG_CONFIG_HOME: folder });
  const onAccessEnded = (reason: string) => ended.push(reason);
  return simulateDevice({ user, shelf }, [audio], options, { signal, onAccessEnded });
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
    expect(upload?.headers["x-api-key"]).toBe("key-1");
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

describe("cli device: whose right to stream ends", () => {
  const stream = () => simulate(0, undefined, true);
  const sequences = () =>
    service.calls(/upload-audio$/).map(({ headers }) => Number(headers["x-chunk-sequence"]));
  const stops = () =>
    service.calls(/session\/stop$/).map(({ body }) => JSON.parse(String(body)) as object);

  it("brings what was recorded and not stored, stops the session, and says so", async () => {
    service.lastWord = { type: "AudioAck", audio_offset_bytes: 12_000, chunk_sequence: 2 };
    await expect(stream()).rejects.toThrow(
      "Your access ended during the recording. What was recorded until then, 00:01, is stored.",
    );
    expect(ended).toEqual(["Your account is disabled."]);
    expect(sequences()).toEqual([2]);
    expect(stored()).toEqual(audio.data.subarray(12_000));
    expect(stops()[0]).toEqual({ session_id: SESSION, last_chunk_sequence: 2 });
  });

  it("goes on at the next number when the service has begun a chunk there", async () => {
    service.conflict = "chunk_conflict";
    service.fault = ({ path }, count) =>
      path.endsWith("upload-audio") && count === 0 ? 409 : undefined;
    await expect(stream()).rejects.toThrow(/until then, 00:01, is stored/);
    expect(sequences()).toEqual([0, 1]);
    expect(stops()[0]).toMatchObject({ last_chunk_sequence: 1 });
  });

  it("says what could not be brought", async () => {
    service.fault = ({ path }) => (path.endsWith("upload-audio") ? 401 : undefined);
    await expect(stream()).rejects.toThrow(
      /Your access ended, and what was recorded after 00:00 could not be brought: POST .* 401/,
    );
    expect(sequences()).toEqual([0]);
  });
});

describe("cli device: found again by later runs", () => {
  const starts = () => service.calls(/session\/start$/).map(({ path }) => path.split("/")[2]);
  const pairings = () => service.calls(/devices\/pair$/).length;
  const kept = () => readdirSync(join(folder, "voice/devices")).sort();

  it("pairs once, and takes the same device with the same key", async () => {
    await simulate();
    expect((await simulate()).deviceId).toBe("d1");
    expect([pairings(), starts()]).toEqual([1, ["d1", "d1"]]);
    expect(service.calls(/claim-auth$/)).toHaveLength(1);
    expect(kept()).toEqual(["d1.json"]);
  });

  it("takes another while it records, and finds both again", async () => {
    await simulate();
    service.fault = ({ path }) => (path === "/devices/d1/session/start" ? 409 : undefined);
    expect((await simulate()).deviceId).toBe("d2");
    expect(service.calls(/session\/stop$/).map(({ path }) => path.split("/")[2])).toEqual([
      "d1",
      "d2",
    ]);
    service.fault = () => undefined;
    expect((await simulate()).deviceId).toBe("d1");
    expect(kept()).toEqual(["d1.json", "d2.json"]);
    expect(pairings()).toBe(2);
  });

  it("renews a key that ends within a day, and one that is no longer taken", async () => {
    service.keyLifeMs = DAY_MS / 2;
    await simulate();
    service.keyLifeMs = 30 * DAY_MS;
    await simulate();
    service.fault = ({ path, headers }) =>
      path.endsWith("heartbeat") && headers["x-api-key"] === "key-2" ? 401 : undefined;
    await simulate();
    const keys = service.calls(/session\/start$/).map(({ headers }) => headers["x-api-key"]);
    expect(keys).toEqual(["key-1", "key-2", "key-3"]);
    expect(pairings()).toBe(1);
  });

  it("forgets a device that was unpaired", async () => {
    await simulate();
    service.fault = ({ path, headers }) => {
      const isOld = headers["x-api-key"] === "key-1" || headers.authorization === "Bearer secret-1";
      return isOld && path !== "/devices/pair" ? 401 : undefined;
    };
    expect((await simulate()).deviceId).toBe("d2");
    expect(kept()).toEqual(["d2.json"]);
  });

  it("keeps the devices of each user and workspace apart", async () => {
    await simulate();
    service.userId = "u2";
    expect((await simulate()).deviceId).toBe("d2");
    service.workspaces = () => ({ items: [{ id: "w2", name: "Other" }], next_cursor: null });
    expect((await simulate()).deviceId).toBe("d3");
  });

  it("unpairs a device that it cannot keep", async () => {
    writeFileSync(join(folder, "voice"), "no folder");
    await simulate();
    const last = service.received.at(-1);
    expect([last?.method, last?.path]).toEqual(["DELETE", "/devices/d1"]);
  });
});

describe("cli device: the workspace that it joins", () => {
  const joined = () => JSON.parse(String(service.calls(/devices\/pair$/).at(-1)?.body));

  it("is the oldest of the user's, over all pages", async () => {
    service.workspaces = (path) =>
      path.includes("cursor=")
        ? { items: [{ id: "w1", name: "Old" }], next_cursor: null }
        : { items: [{ id: "w3", name: "New" }], next_cursor: "more" };
    await simulate();
    expect(joined().workspace_id).toBe("w1");
    expect(service.calls(/scope=/)).toEqual([]);
    expect(describeChoice(await chooseWorkspace(user))).toBe(
      'workspace "Old" (the oldest of yours; --workspace takes another)',
    );
  });

  it("is made when there is none", async () => {
    service.workspaces = (path) =>
      path.includes("?")
        ? { items: [], next_cursor: null }
        : { id: "w9", name: "Simulated devices" };
    await simulate();
    expect(joined().workspace_id).toBe("w9");
  });
});
