import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import type { SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import { AudioIngest } from "../support/audio-ingest.ts";
import { GrpcFixture } from "../support/grpc-fixture.ts";
import { until } from "../support/until.ts";

const SECOND = 32_000;

/** Samples that say their own place. */
function pcm(bytes: number): Buffer {
  const all = Buffer.alloc(bytes);
  for (let at = 0; at + 1 < bytes; at += 2) all.writeInt16LE((at / 2) % 30_000, at);
  return all;
}

describe("gRPC: audio of other services", () => {
  let fixture: GrpcFixture;
  let client: SessionServiceClient;
  let owner: UserPrincipal;
  let workspaceId: string;
  let device: DevicePrincipal;
  let sessionId: string;
  let key: string;

  beforeAll(async () => {
    fixture = await GrpcFixture.open();
    client = fixture.client();
    owner = await fixture.query.fixture.user();
    workspaceId = await fixture.query.fixture.workspace(owner.id);
    key = (await fixture.key(owner, workspaceId, ["sessions:write"])).secret;
  });
  beforeEach(async () => {
    device = await fixture.query.fixture.device(workspaceId, owner.id);
    sessionId = await fixture.query.fixture.start(device);
    fixture.heard.length = 0;
  });
  afterAll(() => fixture.close());

  function ingest(secret: string | undefined = key): AudioIngest {
    return new AudioIngest(client, secret);
  }

  /** What is stored of the session, chunk by chunk. */
  async function stored(): Promise<{ frames: number; bytes: Buffer }> {
    const rows = await fixture.query.fixture.sql<{ sha256: Buffer; frames: string }>(
      "select sha256, frames from chunks where session_id = $1 order by sequence",
      [sessionId],
    );
    const files = rows.map(({ sha256 }) =>
      fixture.query.fixture.blobs.read(sessionId, sha256.toString("hex")),
    );
    const bytes = Buffer.concat(await Promise.all(files));
    return { frames: rows.reduce((sum, { frames }) => sum + Number(frames), 0), bytes };
  }

  it("audio is acknowledged when stored, reaches the actor and becomes chunks", async () => {
    const audio = pcm(3 * SECOND + 10);
    const stream = ingest().configure(sessionId);
    expect(await stream.begun()).toBe(0);
    for (let at = 0; at < audio.byteLength; at += 7_001) {
      stream.audio(audio.subarray(at, at + 7_001));
    }
    await stream.finish();
    expect(stream.acks.at(-1)).toBe(audio.byteLength);
    expect([...stream.acks].sort((one, other) => one - other)).toEqual(stream.acks);
    const { frames, bytes } = await stored();
    expect(frames).toBe(audio.byteLength / 2);
    expect(bytes.equals(audio)).toBe(true);
    const fragments = fixture.heard.flatMap((each) =>
      each.kind === "fragment" ? [each.data] : [],
    );
    expect(Buffer.concat(fragments).equals(audio)).toBe(true);
  });

  it("cuts: who sends from the byte that Begin names loses nothing and repeats nothing", async () => {
    const audio = pcm(8 * SECOND);
    for (let cut = 0; cut < 5; cut += 1) {
      const stream = ingest().configure(sessionId);
      const from = await stream.begun();
      stream.audio(audio.subarray(from, from + SECOND + 2 * cut));
      // Some of it may be on its way still: the next Begin tells.
      if (cut % 2 === 0) await stream.acknowledged(from + SECOND + 2 * cut);
      stream.stream.cancel();
      expect((await stream.end()).status).toBe(status.CANCELLED);
    }
    const last = ingest().configure(sessionId);
    const from = await last.begun();
    expect(from).toBeGreaterThanOrEqual(SECOND);
    last.audio(audio.subarray(from, from + 200_000));
    last.audio(audio.subarray(from + 200_000));
    await last.finish();
    await until(async () => (await stored()).frames === audio.byteLength / 2, "every chunk");
    expect((await stored()).bytes.equals(audio)).toBe(true);
  });

  it("a newer stream takes over; the one before is told so", async () => {
    const first = ingest().configure(sessionId);
    await first.begun();
    first.audio(pcm(SECOND));
    await first.acknowledged(SECOND);
    const second = ingest().configure(sessionId);
    expect(await second.begun()).toBe(SECOND);
    expect(await first.end()).toMatchObject({
      status: status.FAILED_PRECONDITION,
      code: "superseded",
    });
    await second.finish();
  });

  it("the end of the session ends the stream; afterwards nothing is taken", async () => {
    const stream = ingest().configure(sessionId);
    await stream.begun();
    await fixture.query.fixture.stop(device, { last_chunk_sequence: -1 });
    const at = new Date().toISOString();
    fixture.send(sessionId, [
      { type: "SessionStatus", session_id: sessionId, seq: 2, at, status: "processing" },
    ]);
    const over = { status: status.FAILED_PRECONDITION, code: "session_ended" };
    expect(await stream.end()).toMatchObject(over);
    expect(await ingest().configure(sessionId).end()).toMatchObject(over);
  });

  it("refusals: no key, no scope, a foreign or unknown session, a revoked key", async () => {
    const reader = await fixture.key(owner, workspaceId, ["sessions:read", "query", "export"]);
    const other = await fixture.query.fixture.user();
    const elsewhere = await fixture.query.fixture.workspace(other.id);
    const foreign = await fixture.key(other, elsewhere);
    expect(await ingest("").configure(sessionId).end()).toMatchObject({
      status: status.UNAUTHENTICATED,
    });
    expect(await ingest(reader.secret).configure(sessionId).end()).toMatchObject({
      status: status.PERMISSION_DENIED,
      code: "forbidden",
    });
    for (const [secret, id] of [
      [foreign.secret, sessionId],
      [key, newId()],
    ]) {
      const refused = await ingest(secret)
        .configure(id ?? "")
        .end();
      expect(refused).toMatchObject({ status: status.NOT_FOUND, code: "not_found" });
    }
    const doomed = await fixture.key(owner, workspaceId, ["sessions:write"]);
    const stream = ingest(doomed.secret).configure(sessionId);
    await stream.begun();
    stream.audio(pcm(SECOND));
    await stream.acknowledged(SECOND);
    await fixture.keys.revoke(owner, doomed.record);
    expect(await stream.end()).toMatchObject({ status: status.UNAUTHENTICATED });
  });

  it.each([
    ["an unknown encoding", { encoding: "mp3" }],
    ["a rate that is none", { sampleRate: 12_345 }],
    ["nine channels", { channels: 9 }],
    ["an unknown framing", { encoding: "opus", framing: "ogg" }],
  ])("configure: %s is an invalid argument", async (_what, configure) => {
    const stream = ingest().configure(sessionId, configure);
    expect(await stream.end()).toMatchObject({ status: status.INVALID_ARGUMENT });
  });

  it("a file instead of bare audio: refused with a sentence, nothing of it is stored", async () => {
    const stream = ingest().configure(sessionId);
    await stream.begun();
    stream.audio(Buffer.from("OggS\0\x02".padEnd(64), "latin1"));
    expect(await stream.end()).toMatchObject({
      status: status.INVALID_ARGUMENT,
      code: "unsupported_media_type",
    });
    const right = ingest().configure(sessionId);
    expect(await right.begun()).toBe(0);
    await right.finish();
  });

  it("audio before configure, configure twice, nothing at all, a message too large", async () => {
    const early = ingest();
    early.audio(pcm(100));
    expect(await early.end()).toMatchObject({ status: status.INVALID_ARGUMENT });
    const twice = ingest().configure(sessionId);
    await twice.begun();
    twice.configure(sessionId);
    expect(await twice.end()).toMatchObject({ code: "invalid_body" });
    const nothing = ingest();
    nothing.stream.end();
    expect(await nothing.end()).toMatchObject({ status: status.INVALID_ARGUMENT });
    const large = ingest().configure(sessionId);
    await large.begun();
    large.audio(Buffer.alloc(256 * 1024 + 1));
    expect(await large.end()).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      code: "payload_too_large",
    });
  });

  it("nobody streams: nothing is held", async () => {
    const stream = ingest().configure(sessionId);
    await stream.begun();
    expect(fixture.followers(sessionId)).toBe(1);
    stream.stream.cancel();
    await until(() => fixture.service.figures.ingests === 0, "the call to be forgotten");
    await until(() => fixture.streams.size === 0, "the stream to be let go");
    expect(fixture.followers(sessionId)).toBe(0);
  });
});
