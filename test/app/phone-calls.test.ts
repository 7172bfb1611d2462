import { createHmac } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { toMulaw } from "../support/mulaw.ts";
import { call } from "../support/paired-device.ts";
import { PhoneLine } from "../support/phone-line.ts";
import { until } from "../support/until.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PATH = "/api/compat/twilio/stream";
/** Of 16 bits. */
const [LOUD, SOFT] = [8_000, 2_000];
/** Of streamed sound. */
const CHUNK_MS = 10_000;
/** µ-law has 4 bits of mantissa. */
const NEAR = 1 / 16;

/** So many milliseconds of one value. */
const sound = (value: number, ms: number) => new Uint8Array(ms * 8).fill(toMulaw(value));
const urlOf = ({ ready }: AppFixture) => ready.base_url.replace(/^http/, "ws") + PATH;

interface Ticket {
  ticket: string;
  expires_at: string;
  stream_url: string;
}

/** A program that has calls written down: its service key, and nothing else. */
class Program {
  readonly service: AppFixture;
  readonly owner: WorkspaceOwner;
  readonly keyId: string;
  readonly key: string;

  private constructor(
    service: AppFixture,
    owner: WorkspaceOwner,
    made: { id: string; key: string },
  ) {
    this.service = service;
    this.owner = owner;
    this.keyId = made.id;
    this.key = made.key;
  }

  static async open(service: AppFixture, ...scopes: string[]): Promise<Program> {
    const owner = await newOwner(service);
    const body = { workspace_id: owner.workspaceId, name: "Calls", scopes };
    const options = { token: owner.token, body };
    const made = await call<{ id: string; key: string }>(
      ...([service.api, "POST", "/api-keys", options] as const),
    );
    return new Program(service, owner, made.body);
  }

  async session(body: object = {}): Promise<string> {
    const options = { key: this.key, body };
    const made = await call<{ id: string }>(this.service.api, "POST", "/sessions", options);
    expect(made.status).toBe(201);
    return made.body.id;
  }

  ask(sessionId: string, as: { key?: string; token?: string } = { key: this.key }) {
    const path = `/sessions/${sessionId}/call-tickets`;
    return call<Ticket>(this.service.api, "POST", path, as);
  }

  async ticket(sessionId: string): Promise<string> {
    const { status, body } = await this.ask(sessionId);
    expect(status).toBe(201);
    return body.ticket;
  }

  line(): Promise<PhoneLine> {
    return PhoneLine.open(urlOf(this.service));
  }

  async get<T>(path: string): Promise<T> {
    return (await call<T>(this.service.api, "GET", path, { token: this.owner.token })).body;
  }

  /** Waits until the session has ended by itself; returns its length, seconds, and its samples. */
  async heard(sessionId: string): Promise<{ seconds: number; level(ms: number): number }> {
    await until(async () => {
      const { status } = await this.get<{ status: string }>(`/sessions/${sessionId}`);
      return status === "completed";
    }, "the session to complete");
    const answer = await fetch(`${this.service.api}/sessions/${sessionId}/audio`, {
      headers: { authorization: `Bearer ${this.owner.token}` },
    });
    const wav = Buffer.from(await answer.arrayBuffer());
    return {
      seconds: (wav.byteLength - 44) / 32_000,
      level: (ms) => wav.readInt16LE(44 + ms * 32),
    };
  }

  /** Waits until a chunk is stored, which holds `CHUNK_MS`. */
  stored(sessionId: string): Promise<void> {
    return until(async () => {
      const path = `/sessions/${sessionId}/chunks`;
      return (await this.get<{ chunks: unknown[] }>(path)).chunks.length > 0;
    }, "a chunk to be stored");
  }

  revoke(): Promise<unknown> {
    const { api } = this.service;
    return call(api, "DELETE", `/api-keys/${this.keyId}`, { token: this.owner.token });
  }
}

/** Equal but for what µ-law loses. */
function expectLevel(found: number, value: number): void {
  expect(Math.abs(found - value), `${found}`).toBeLessThanOrEqual(Math.abs(value) * NEAR + 8);
}

describe("telephone calls", () => {
  let service: AppFixture;
  let program: Program;
  beforeAll(async () => {
    service = await AppFixture.shared();
    program = await Program.open(service, "sessions:read", "sessions:write");
  });

  it("come with a ticket, both tracks side by side, and end their session", async () => {
    const id = await program.session({ speaker_channels: 2, external_id: "call-of-two" });
    const { body } = await program.ask(id);
    expect(body.stream_url).toBe(urlOf(service));
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(4 * 60_000);
    const line = await PhoneLine.open(body.stream_url);
    line.start(body.ticket, "inbound", "outbound");
    line.speak({ inbound: sound(LOUD, 1_000), outbound: sound(SOFT, 1_000) });
    line.send({ event: "dtmf", streamSid: "any", dtmf: { track: "inbound_track", digit: "1" } });
    line.send({ event: "mark", streamSid: "any", mark: { name: "m" } });
    line.speak({ inbound: sound(0, 1_000), outbound: sound(-LOUD, 1_000) }, 1_000);
    line.stop();
    expect(await line.closed).toEqual({ code: 1000, reason: "" });
    const { seconds, level } = await program.heard(id);
    expect(seconds).toBeCloseTo(2, 1);
    expectLevel(level(500), (LOUD + SOFT) / 2);
    expectLevel(level(1_500), -LOUD / 2);
  });

  it("keep their times where messages are lost", async () => {
    const id = await program.session();
    const line = await program.line();
    line.start(await program.ticket(id), "inbound");
    line.speak({ inbound: sound(LOUD, 600) });
    line.lose("inbound", 30);
    line.speak({ inbound: sound(SOFT, 600) }, 1_200);
    line.stop();
    await line.closed;
    const { seconds, level } = await program.heard(id);
    expect(seconds).toBeCloseTo(1.8, 1);
    expectLevel(level(300), LOUD);
    expectLevel(level(900), 0);
    expectLevel(level(1_500), SOFT);
  });

  it("are kept as far as they came when they break off, and their session ends", async () => {
    const id = await program.session();
    const line = await program.line();
    line.start(await program.ticket(id), "inbound");
    line.speak({ inbound: sound(LOUD, CHUNK_MS + 400) });
    await program.stored(id);
    line.socket.terminate();
    const { seconds, level } = await program.heard(id);
    expect(seconds).toBeGreaterThanOrEqual(CHUNK_MS / 1_000);
    expectLevel(level(CHUNK_MS - 100), LOUD);
  });

  it("are of people too, with a ticket of the session's owner", async () => {
    const { token, workspaceId: workspace_id } = program.owner;
    const options = { token, body: { workspace_id } };
    const made = await call<{ id: string }>(service.api, "POST", "/sessions", options);
    const { status, body } = await program.ask(made.body.id, { token });
    expect(status).toBe(201);
    const line = await program.line();
    line.start(body.ticket, "inbound");
    line.speak({ inbound: sound(SOFT, 400) });
    line.stop();
    expect((await line.closed).code).toBe(1000);
    expect((await program.heard(made.body.id)).seconds).toBeCloseTo(0.4, 1);
  });

  it("get no ticket without the right to the session, nor into one that has ended", async () => {
    const id = await program.session();
    const stranger = await newOwner(service);
    const reading = await Program.open(service, "sessions:read");
    expect((await program.ask(id, { token: stranger.token })).status).toBe(403);
    expect((await program.ask(id, { key: reading.key })).status).toBe(404);
    expect((await program.ask(id, {})).status).toBe(401);
    const { key } = program;
    await call(service.api, "POST", `/sessions/${id}/stop`, { key });
    const late = await program.ask(id);
    expect([late.status, late.headers.get("x-error-code")]).toEqual([409, "session_ended"]);
  });

  it("come once with a ticket", async () => {
    const id = await program.session();
    const ticket = await program.ticket(id);
    const first = await program.line();
    first.start(ticket, "inbound");
    first.speak({ inbound: sound(LOUD, 200) });
    first.stop();
    expect((await first.closed).code).toBe(1000);
    const second = await program.line();
    second.start(ticket, "inbound");
    second.speak({ inbound: sound(LOUD, 200) });
    expect(await second.closed).toMatchObject({
      code: 4401,
      reason: expect.stringContaining("unknown, used or expired"),
    });
    expect((await program.heard(id)).seconds).toBeCloseTo(0.2, 1);
  });

  it("come with no other ticket, and with none at all they end", async () => {
    const { key } = program;
    const live = await call<Ticket>(service.api, "POST", "/auth/live-ticket", { key });
    for (const ticket of [live.body.ticket, "x", undefined]) {
      const line = await program.line();
      line.start(ticket, "inbound");
      expect((await line.closed).code).toBe(4401);
    }
    const url = service.ready.live_url;
    const forCall = await program.ticket(await program.session());
    const viewer = new WebSocket(`${url}?ticket=${forCall}`);
    const [, refused] = await once(viewer, "unexpected-response");
    expect(refused.statusCode).toBe(401);
    viewer.on("error", () => {}).terminate();
  });

  it("are let go when no ticket came for 5 s", async () => {
    const line = await program.line();
    const begun = performance.now();
    expect(await line.closed).toMatchObject({
      code: 4401,
      reason: expect.stringContaining("No start message"),
    });
    expect(performance.now() - begun).toBeGreaterThan(4_500);
  });

  it("bring no sound before their ticket, and nothing odd", async () => {
    const odd: [number, (line: PhoneLine) => void][] = [
      [4400, (line) => line.media("inbound", 0, sound(LOUD, 20))],
      [4400, (line) => line.socket.send("hello")],
      [4400, (line) => line.socket.send(Buffer.from([0xff, 0xff]))],
      [4400, (line) => line.send({ event: "start", start: {} })],
      [1009, (line) => line.send({ event: "mark", mark: { name: "x".repeat(65 * 1024) } })],
    ];
    for (const [code, send] of odd) {
      const line = await program.line();
      send(line);
      expect((await line.closed).code).toBe(code);
    }
    const line = await program.line();
    line.send({ event: "mark", mark: { name: "x".repeat(300 * 1024) } });
    // More than is read at all.
    expect((await line.closed).code).toBe(1006);
  });

  it("end with what is odd behind the ticket, and keep what came before", async () => {
    const id = await program.session();
    const line = await program.line();
    line.start(await program.ticket(id), "inbound");
    line.speak({ inbound: sound(LOUD, 1_000) });
    line.media("outbound", 1_000, sound(LOUD, 20));
    expect(await line.closed).toMatchObject({
      code: 4400,
      reason: expect.stringContaining("did not tell the track"),
    });
    expect((await program.heard(id)).seconds).toBeCloseTo(1, 1);
  });

  it("are refused when the key was revoked after its ticket, and end when it is revoked", async () => {
    const brief = await Program.open(service, "sessions:write");
    const [first, second] = [await brief.session(), await brief.session()];
    const unused = await brief.ticket(second);
    const running = await brief.line();
    running.start(await brief.ticket(first), "inbound");
    running.speak({ inbound: sound(LOUD, CHUNK_MS + 400) });
    await brief.stored(first);
    await brief.revoke();
    expect((await running.closed).code).toBe(4401);
    expect((await brief.heard(first)).seconds).toBeGreaterThanOrEqual(CHUNK_MS / 1_000);
    const late = await brief.line();
    late.start(unused, "inbound");
    late.speak({ inbound: sound(LOUD, 200) });
    expect((await late.closed).code).toBe(4401);
    const { chunks } = await brief.get<{ chunks: unknown[] }>(`/sessions/${second}/chunks`);
    expect(chunks).toEqual([]);
  });
});

describe("signed telephone calls", () => {
  const token = "the auth token of an account";
  let service: AppFixture;
  let program: Program;
  let port: number;
  let told: string;
  beforeAll(async () => {
    port = await findFreePort();
    told = `wss://localhost:${port}${PATH}`;
    // Calls come to another host than the public one, as behind a proxy.
    service = await AppFixture.start({
      ...{ TWILIO_AUTH_TOKEN: token, PORT: `${port}`, PUBLIC_URL: `http://localhost:${port}/` },
    });
    program = await Program.open(service, "sessions:read", "sessions:write");
  });
  afterAll(() => service?.stop());

  const sign = (text: string, as = token) => createHmac("sha1", as).update(text).digest("base64");

  const here = () => `ws://127.0.0.1:${port}${PATH}`;

  async function refusal(headers: Record<string, string>): Promise<[number, string]> {
    const socket = new WebSocket(here(), { headers });
    socket.on("error", () => {});
    const [, response] = await once(socket, "unexpected-response");
    socket.terminate();
    return [response.statusCode, response.headers["x-error-code"]];
  }

  it("come with the signature of the address that they were told", async () => {
    const id = await program.session();
    const { body } = await program.ask(id);
    expect(body.stream_url).toBe(told.replace("wss:", "ws:"));
    const line = await PhoneLine.open(here(), { "X-Twilio-Signature": sign(told) });
    line.start(body.ticket, "inbound");
    line.speak({ inbound: sound(LOUD, 200) });
    line.stop();
    expect((await line.closed).code).toBe(1000);
  });

  it("are refused with another signature, or with none", async () => {
    const refused = [403, "forbidden"];
    expect(await refusal({})).toEqual(refused);
    expect(await refusal({ "X-Twilio-Signature": "x" })).toEqual(refused);
    expect(await refusal({ "X-Twilio-Signature": sign(told, "another") })).toEqual(refused);
    const ours = here().replace("ws:", "wss:");
    expect(await refusal({ "X-Twilio-Signature": sign(ours) })).toEqual(refused);
    // What the caller says of its host decides nothing.
    const claims = { host: "evil.example.org", "x-forwarded-host": "evil.example.org" };
    const evil = sign(`wss://evil.example.org${PATH}`);
    expect(await refusal({ ...claims, "X-Twilio-Signature": evil })).toEqual(refused);
  });
});
