import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { newServiceKey } from "../../src/access/secrets.ts";
import {
  callUnary,
  GrpcFixture,
  type GrpcFixtureOptions,
  withKey,
} from "../support/grpc-fixture.ts";
import { RawGrpc } from "../support/raw-grpc.ts";
import { until } from "../support/until.ts";

const GET = "/voice.v1.SessionService/GetSession";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const HEALTH = "/grpc.health.v1.Health/Watch";
const METHODS = [
  GET,
  "/voice.v1.SessionService/ListSegments",
  "/voice.v1.SessionService/Ask",
  "/voice.v1.SessionService/WatchTranscript",
  "/voice.v1.SessionService/IngestAudio",
  REFLECTION,
  HEALTH,
];
const CHECK = "/grpc.health.v1.Health/Check";
const UNAUTHENTICATED = String(status.UNAUTHENTICATED);
const LATE = String(status.DEADLINE_EXCEEDED);

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function openFixture(options: GrpcFixtureOptions = {}) {
  const fixture = await GrpcFixture.open(options);
  cleanups.push(() => fixture.close());
  const owner = await fixture.query.fixture.user();
  const workspaceId = await fixture.query.fixture.workspace(owner.id);
  const { sessionId } = await fixture.query.tell(workspaceId, owner, [["S1", "hello there"]]);
  const { secret } = await fixture.key(owner, workspaceId);
  return { fixture, sessionId, secret };
}

async function openRaw(address: string): Promise<RawGrpc> {
  const raw = await RawGrpc.open(address);
  cleanups.push(() => raw.close());
  return raw;
}

describe("strangers at the gRPC port: half a message", () => {
  it("without a key is answered by its head, whatever the method", async () => {
    const { fixture } = await openFixture();
    const raw = await openRaw(fixture.address);
    const calls = [...METHODS, ...Array.from({ length: 20 }, () => GET)].map((path) => {
      const call = raw.call(path);
      call.beginMessage(1_000);
      return call;
    });
    await until(() => calls.every((call) => call.status !== undefined), "an answer to each call");
    expect(new Set(calls.map((call) => call.status))).toEqual(new Set([UNAUTHENTICATED]));
  });

  it("with a key ends after the time for a message", async () => {
    const { fixture, secret } = await openFixture({ limits: { messageMs: 300 } });
    const raw = await openRaw(fixture.address);
    const calls = METHODS.map((path) => {
      const call = raw.call(path, { "x-api-key": secret });
      call.beginMessage(1_000);
      return call;
    });
    await until(() => calls.every((call) => call.status !== undefined), "an end of each call");
    expect(new Set(calls.map((call) => call.status))).toEqual(new Set([LATE]));
  });

  it("of a health check, which needs no key, ends too, and only a few may be open", async () => {
    const { fixture } = await openFixture({ limits: { messageMs: 300 } });
    const raw = await openRaw(fixture.address);
    const calls = Array.from({ length: 10 }, () => {
      const call = raw.call(CHECK);
      call.beginMessage(1_000);
      return call;
    });
    await until(() => calls.every((call) => call.status !== undefined), "an end of each call");
    const statuses = calls.map((call) => call.status);
    expect(statuses.filter((each) => each === LATE)).toHaveLength(4);
    expect(statuses.filter((each) => each === String(status.RESOURCE_EXHAUSTED))).toHaveLength(6);
  });
});

/** A message as it goes over the wire. */
function framed(bytes: readonly number[]): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

/** Asks reflection for the list of services; a field of a wire type that does not exist. */
const LIST = framed([0x3a, 0x01, 0x2a]);
const BROKEN = framed([0x07]);

describe("callers with a key at the gRPC port: calls without an end", () => {
  it.each([
    ["at the end", [LIST, LIST, BROKEN]],
    ["in the middle", [LIST, LIST, BROKEN, LIST]],
    ["with others", [LIST, LIST, LIST, BROKEN, BROKEN, LIST]],
  ])("end by a broken message %s, of which the first are being answered", async (_, messages) => {
    const { fixture, secret } = await openFixture();
    const raw = await openRaw(fixture.address);
    const call = raw.call(REFLECTION, { "x-api-key": secret });
    call.stream.end(Buffer.concat(messages));
    await until(() => call.status !== undefined && call.stream.closed, "an end of the call");
    expect(call.status).toBe(String(status.INTERNAL));
  });

  it("of reflection and health have a longest time, and those of our streams have none", async () => {
    const { fixture, sessionId, secret } = await openFixture({ limits: { callMs: 300 } });
    const raw = await openRaw(fixture.address);
    const client = fixture.client();
    const watch = client.watchTranscript({ sessionId, durableOnly: false }, withKey(secret));
    let watchEnd: unknown;
    watch.on("data", () => {});
    watch.on("error", (error) => {
      watchEnd = error;
    });
    const calls = [REFLECTION, HEALTH].map((path) => {
      const call = raw.call(path, { "x-api-key": secret });
      if (path === HEALTH) call.stream.end(framed([]));
      else call.stream.write(LIST);
      return call;
    });
    await until(() => calls.every((call) => call.status !== undefined), "an end of each call");
    expect(calls.map((call) => call.status)).toEqual([LATE, LATE]);
    expect([watchEnd, raw.isClosed]).toEqual([undefined, false]);
    watch.cancel();
  });
});

describe("strangers at the gRPC port: connections", () => {
  it("that bring no caller are closed, and those with one stay", async () => {
    const { fixture, sessionId, secret } = await openFixture({ connections: { strangerMs: 500 } });
    const known = await openRaw(fixture.address);
    const call = known.call(GET, { "x-api-key": secret });
    call.stream.end(Buffer.alloc(5));
    await until(() => call.status !== undefined, "an answer");
    const idle = await openRaw(fixture.address);
    const refused = await openRaw(fixture.address);
    refused.call(GET).beginMessage(1_000);
    await until(() => idle.isClosed && refused.isClosed, "the strangers' connections to close");
    expect(known.isClosed).toBe(false);
    const client = fixture.client();
    const answer = await callUnary(client, client.getSession, { sessionId }, secret);
    expect(answer.id).toBe(sessionId);
  });

  it("in a flood push out one another, and never one with a known caller", async () => {
    const limits = { total: 12, perAddress: 12, strangersPerAddress: 8 };
    const { fixture, secret } = await openFixture({ connections: limits });
    const known = await openRaw(fixture.address);
    const call = known.call(GET, { "x-api-key": secret });
    call.stream.end(Buffer.alloc(5));
    await until(() => call.status !== undefined, "an answer");
    const flood: RawGrpc[] = [];
    for (let n = 0; n < 30; n += 1) flood.push(await openRaw(fixture.address));
    await until(() => flood.filter((each) => !each.isClosed).length === 8, "eight to be left");
    expect(fixture.server.queues).toMatchObject([{ queue: "rpc_connections", length: 9 }]);
    expect(known.isClosed).toBe(false);
    const late = known.call(GET, { "x-api-key": secret });
    late.stream.end(Buffer.alloc(5));
    await until(() => late.status !== undefined, "an answer in the flood");
  });

  it("over which call after call is refused are closed", async () => {
    const { fixture } = await openFixture({ connections: { refusals: 10 } });
    const raw = await openRaw(fixture.address);
    for (let n = 0; n < 10; n += 1) raw.call(GET).beginMessage(1_000);
    await until(() => raw.isClosed, "the connection to close");
  });
});

describe("strangers at the gRPC port: keys that nobody gave", () => {
  it("are looked up a few times for an address, and known keys are served meanwhile", async () => {
    const newKeys = { perMinute: 1, burst: 5 };
    const { fixture, sessionId, secret } = await openFixture({ limits: { newKeys } });
    const client = fixture.client();
    await callUnary(client, client.getSession, { sessionId }, secret);
    let lookUps = 0;
    const authenticate = fixture.authenticator.authenticate.bind(fixture.authenticator);
    fixture.authenticator.authenticate = (...args) => {
      lookUps += 1;
      return authenticate(...args);
    };
    const guesses = Array.from({ length: 30 }, () =>
      callUnary(client, client.getSession, { sessionId }, newServiceKey()).then(
        () => "served",
        ({ code }: { code: string }) => code,
      ),
    );
    const told = await Promise.all(guesses);
    expect(told.filter((code) => code === "rate_limited")).toHaveLength(26);
    expect(told.filter((code) => code === "invalid_api_key")).toHaveLength(4);
    expect(lookUps).toBe(4);
    const answer = await callUnary(client, client.getSession, { sessionId }, secret);
    expect(answer.id).toBe(sessionId);
  });
});
