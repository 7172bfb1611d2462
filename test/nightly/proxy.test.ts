import { Agent, request } from "node:http";
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AudioSender } from "../../src/cli/device/audio-sender.ts";
import { SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import { AudioIngest } from "../support/audio-ingest.ts";
import { askPython, postAfterContinue, type Told } from "../support/foreign-client.ts";
import { callUnary } from "../support/grpc-fixture.ts";
import { Nginx } from "../support/nginx.ts";
import { call, conversationPcm, cut, PairedDevice } from "../support/paired-device.ts";
import { TranscriptWatch } from "../support/transcript-watch.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";

const ORIGIN = "http://localhost:3000";
const PREFLIGHT = { origin: ORIGIN, "access-control-request-method": "POST" };
/** Bytes, in whole pieces of a megabyte: 60 MiB, and more than the 64 MiB that one upload may have. */
const FITS = 63_000_000;
const TOO_LARGE = 100_000_000;

/** Other people's clients, and a real nginx as most set it up, before the whole service. */
describe("proxy", () => {
  let service: WholeService;
  let nginx: Nginx;
  let device: PairedDevice;
  /** Where clients reach the service: itself and through both servers of nginx. */
  let ways: Record<"direct" | "nginx" | "streaming", string>;

  beforeAll(async () => {
    const env = { TRUST_PROXY: "1", ALLOWED_ORIGINS: ORIGIN, RATE_LIMIT_FACTOR: "1000" };
    service = await WholeService.start(env);
    const { base_url: direct, grpc_sessions } = service.ready;
    const grpcPort = Number(grpc_sessions.split(":").at(-1));
    nginx = await Nginx.start({ httpPort: Number(new URL(direct).port), grpcPort });
    const { http, streaming } = nginx.ports;
    ways = {
      direct,
      nginx: `http://127.0.0.1:${http}`,
      streaming: `http://127.0.0.1:${streaming}`,
    };
    device = await PairedDevice.pair(service);
    await device.start();
  });
  afterAll(async () => {
    await nginx?.stop();
    await service?.stop();
  });

  const bearer = () => ({ authorization: `Bearer ${device.token}` });

  it("a preflight and then a POST arrive, 100 of 100, over kept connections", async () => {
    const before = nginx.requests().length;
    const url = `${ways.nginx}/api/devices/${device.id}/heartbeat`;
    const headers = { "x-api-key": device.key, origin: ORIGIN, "content-type": "application/json" };
    const statuses = new Map<string, number>();
    for (let n = 0; n < 100; n += 1) {
      const preflight = await fetch(url, { method: "OPTIONS", headers: PREFLIGHT });
      expect(preflight.headers.get("access-control-allow-origin")).toBe(ORIGIN);
      const posted = await fetch(url, { method: "POST", headers, body: "{}" });
      await posted.arrayBuffer();
      const pair = `${preflight.status} ${posted.status}`;
      statuses.set(pair, (statuses.get(pair) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([["204 200", 100]]);
    await until(() => nginx.requests().length >= before + 200, "the log of nginx");
    const tries = nginx.requests().slice(before);
    // A second try would be a second status.
    expect(tries.filter(({ upstream, status }) => upstream !== status)).toEqual([]);
    expect(nginx.errors).not.toMatch(/prematurely|invalid header|too large/);
  });

  it("Python's requests keep one connection over HEAD and preflights, and unpack", async () => {
    for (const [way, base] of Object.entries(ways)) {
      const seen = [200, 200, 204, 204].map((status) => [status, 200]);
      expect(await askPython("keep", base), way).toEqual({
        seen,
        connections: 1,
        coding: "gzip",
        openapi: expect.stringMatching(/^3\.1/),
      });
    }
  });

  it("Node's agent keeps one connection over HEAD, 204 and 304", async () => {
    for (const [way, base] of Object.entries(ways)) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const path = `/api/sessions/${device.sessionId}`;
      const first = await ask(agent, base, "GET", path, bearer());
      const known = { ...bearer(), "if-none-match": first.etag };
      const seen = [
        await ask(agent, base, "HEAD", path, bearer()),
        await ask(agent, base, "OPTIONS", path, PREFLIGHT),
        await ask(agent, base, "GET", path, known),
        await ask(agent, base, "GET", path, bearer()),
      ];
      agent.destroy();
      const plain = seen.map(({ status, reused }) => [status, reused]);
      expect(plain, way).toEqual([200, 204, 304, 200].map((status) => [status, true]));
      expect(seen[0]?.length, way).toBe(first.length);
    }
  });

  it("edits go by the weak tags that a compressing proxy makes", async () => {
    const url = `${ways.streaming}/api/sessions/${device.sessionId}`;
    const got = await fetch(url, { headers: { ...bearer(), "accept-encoding": "gzip" } });
    const tag = got.headers.get("etag") ?? "";
    expect([got.headers.get("content-encoding"), tag]).toEqual([
      "gzip",
      expect.stringMatching(/^W\//),
    ]);
    const known = await fetch(url, { headers: { ...bearer(), "if-none-match": tag } });
    expect(known.status).toBe(304);
    const rename = (title: string) =>
      fetch(url, {
        method: "PATCH",
        headers: { ...bearer(), "if-match": tag, "content-type": "application/json" },
        body: JSON.stringify({ title }),
      });
    expect([(await rename("Renamed")).status, (await rename("Again")).status]).toEqual([200, 412]);
  });

  it("a device streams and a viewer follows", async () => {
    const other = await PairedDevice.pair(service);
    const started = await fetch(`${ways.nginx}/api/devices/${other.id}/session/start`, {
      method: "POST",
      headers: { "x-api-key": other.key },
    });
    const { session_id, stream_url } = (await started.json()) as Record<string, string>;
    expect(stream_url).toBe(`${ways.nginx.replace("http", "ws")}/api/devices/${other.id}/stream`);
    const live = `${ways.nginx.replace("http", "ws")}/api/live`;
    const viewer = await new Viewer(live, { authorization: `Bearer ${other.token}` }).opened();
    viewer.send({ type: "Subscribe", session_id, from_seq: 0 });
    const sender = new AudioSender({
      url: stream_url ?? "",
      key: other.key,
      configuration: {
        session_id: session_id ?? "",
        encoding: "pcm_s16le",
        sample_rate: 16_000,
        channels: 1,
      },
      signal: new AbortController().signal,
    });
    const done = sender.run();
    for (const pcm of cut(1, conversationPcm().subarray(0, 10 * 32_000))) sender.push(pcm);
    sender.end();
    await done;
    const heard = () => viewer.frames.some(({ type, is_final }) => type === "Results" && is_final);
    await until(heard, "words at the viewer", 120_000);
    viewer.socket.close();
  });

  it("sound plays in ranges and downloads come whole", async () => {
    const sound = conversationPcm().subarray(0, 12 * 32_000);
    const chunks = cut(6, sound);
    for (const [index, pcm] of chunks.entries()) await device.upload(index, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    for (const [way, base] of Object.entries(ways)) {
      const url = `${base}/api/sessions/${device.sessionId}/audio`;
      const whole = await fetch(url, { headers: bearer() });
      const bytes = Buffer.from(await whole.arrayBuffer());
      expect(bytes.subarray(44).equals(sound), way).toBe(true);
      const range = { ...bearer(), range: "bytes=100044-164043", "accept-encoding": "gzip" };
      const part = await fetch(url, { headers: range });
      expect([part.status, part.headers.get("content-range")], way).toEqual([
        206,
        `bytes 100044-164043/${bytes.length}`,
      ]);
      expect(part.headers.get("content-encoding"), way).toBeNull();
      const piece = Buffer.from(await part.arrayBuffer());
      expect(piece.equals(sound.subarray(100_000, 164_000)), way).toBe(true);
      const head = await fetch(url, { method: "HEAD", headers: bearer() });
      expect(head.headers.get("content-length"), way).toBe(String(bytes.length));
      const text = await fetch(`${base}/api/sessions/${device.sessionId}/transcript?format=srt`, {
        headers: bearer(),
      });
      expect(await text.text(), way).toContain("-->");
    }
  });

  it("gRPC streams both ways", async () => {
    const { workspace_id } = (await device.get<{ workspace_id: string }>("")).body;
    const made = await call<{ key: string }>(service.api, "POST", "/api-keys", {
      token: device.token,
      body: { workspace_id, name: "proxy", scopes: ["sessions:read", "sessions:write"] },
    });
    const address = `127.0.0.1:${nginx.ports.grpc}`;
    const client = new SessionServiceClient(address, credentials.createInsecure());
    const { key } = made.body;
    const { sessionId } = device;
    const session = await callUnary(client, client.getSession, { sessionId }, key);
    expect(session.id).toBe(sessionId);
    const watch = new TranscriptWatch(client, key, { sessionId, fromSeq: 0 });
    await watch.until(() => watch.kinds.includes("finalSegment"), "a final");
    watch.cancel();
    const other = await PairedDevice.pair(service);
    await other.start();
    const ingest = new AudioIngest(client, key).configure(other.sessionId);
    expect(await ingest.begun()).toBe(0);
    ingest.audio(Buffer.alloc(64_000));
    await ingest.acknowledged(64_000);
    await ingest.finish();
    client.close();
  });

  it("uploads of 60 MiB pass, and of 100 MB are refused with a reason that clients read", async () => {
    const other = await PairedDevice.pair(service);
    await other.start();
    const path = `/api/sessions/${other.sessionId}/upload-audio`;
    const refused = { status: 413, body: { success: false, message: expect.any(String) } };
    const headers = {
      "x-api-key": other.key,
      "x-chunk-sequence": "0",
      "content-type": "audio/pcm;rate=48000;channels=2;encoding=s16le",
    };
    const send = (base: string, size: number, how: string) =>
      askPython<Told>("upload", base, path, other.key, String(size), how);
    for (const [way, base] of Object.entries(ways)) {
      expect(await send(base, TOO_LARGE, "declared"), way).toEqual(refused);
      expect(await send(base, TOO_LARGE, "chunked"), way).toEqual(refused);
      expect(await postAfterContinue(base + path, headers, TOO_LARGE), way).toMatchObject(refused);
      expect((await send(base, FITS, "declared")).body, way).toMatchObject({ success: true });
    }
    expect((await send(ways.streaming, FITS, "chunked")).body).toMatchObject({ success: true });
    const fits = await postAfterContinue(ways.direct + path, headers, FITS);
    expect(fits).toMatchObject({ continued: true, body: { success: true } });
  });
});

interface Seen {
  status: number;
  etag: string;
  length: number;
  reused: boolean;
}

function ask(
  agent: Agent,
  base: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { agent, method, headers }, (answer) => {
      answer.resume();
      answer.on("error", reject);
      answer.on("end", () => {
        const { etag = "", "content-length": length } = answer.headers;
        const status = answer.statusCode ?? 0;
        resolve({ status, etag, length: Number(length), reused: sent.reusedSocket });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}
