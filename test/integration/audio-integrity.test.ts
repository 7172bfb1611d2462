import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import {
  PostgresRedactedSpans,
  RecordingStore,
} from "../../src/conversations/recording/playback-store.ts";
import { AudioRedaction } from "../../src/conversations/transcript/redaction.ts";
import { PostgresRedactions } from "../../src/conversations/transcript/redaction-store.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import { KeptLog } from "../support/kept-log.ts";
import { callRoute } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";
import { verifiedAudio } from "../support/verified-audio.ts";

const LENGTH = 8_000;
const RAW = "audio/pcm;rate=16000;channels=1;encoding=s16le";

/** What may become of a stored file, by the kind that it is noted as. */
const DAMAGES: [name: string, kind: string, spoil: (path: string) => void][] = [
  ["cut in half", "cut", (path) => truncateSync(path, LENGTH)],
  ["emptied", "cut", (path) => truncateSync(path, 0)],
  ["removed", "gone", (path) => rmSync(path)],
  ["with one bit flipped", "changed", flip],
  [
    "replaced by something unreadable",
    "unreadable",
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  ],
];

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[1_001] = (bytes[1_001] ?? 0) ^ 0b100;
  // The same length, as of a disk that rots.
  chmodSync(path, 0o600);
  writeFileSync(path, bytes);
}

function tone(sequence: number): Buffer {
  const samples = Int16Array.from({ length: LENGTH }, (_, n) =>
    Math.round(5_000 + 4_000 * Math.sin(n * (0.1 + sequence / 50))),
  );
  return Buffer.from(samples.buffer);
}

describe("audio integrity", () => {
  let fixture: SessionFixture;
  let device: DevicePrincipal;
  let owner: UserPrincipal;
  const log = new KeptLog();
  beforeAll(async () => {
    fixture = await SessionFixture.open();
    ({ device, owner } = await fixture.ownDevice());
  });
  afterAll(() => fixture.close());

  const pathOf = (sessionId: string, data: Uint8Array) =>
    join(fixture.folder, sessionId, createHash("sha256").update(data).digest("hex"));

  /** A session of chunks that were all read. */
  async function recorded(chunks: readonly Buffer[]) {
    const sessionId = await fixture.start(device);
    const story = await SessionStory.open(fixture, sessionId);
    for (const [sequence, data] of chunks.entries()) {
      const { body } = await fixture.upload(device, sessionId, sequence, data, { mediaType: RAW });
      const chunkId = String(body.chunk_id);
      const start = sequence * LENGTH;
      await story.tell([
        { type: "ChunkPlaced", chunkId, sequence, start, length: LENGTH },
        { type: "ChunkTranscribed", chunkId, sequence },
      ]);
    }
    await fixture.stop(device, { session_id: sessionId });
    await story.tell([{ type: "SessionCompleted" }]);
    return { sessionId, story };
  }

  function redact(story: SessionStory): Promise<void> {
    const span = { redactionId: newId(), from: 100, to: 200, segmentIds: [] };
    return story.tell([{ type: "SpanRedacted", ...span, byUserId: device.ownerId }]);
  }

  async function played(sessionId: string): Promise<Buffer> {
    const { pool, blobs, sounds } = fixture;
    const files = { blobs, sounds, verified: verifiedAudio(pool, blobs, log) };
    const recording = await new RecordingStore(pool, files, new PostgresRedactedSpans(pool)).open(
      sessionId,
    );
    const parts: Uint8Array[] = [];
    for await (const part of recording.read(0, recording.samples)) parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  }

  async function completeness(sessionId: string) {
    const call = { principal: owner, params: { session_id: sessionId } };
    const { body } = await callRoute(fixture.routes, "getCompleteness", call);
    return body as { complete: boolean; missing: object[] };
  }

  const errors = () => log.lines.filter(({ level }) => level === "error");
  const noted = (sessionId: string) =>
    fixture.sql("select sequence, kind from damaged_audio where session_id = $1", [sessionId]);
  const audio = () => {
    const { pool, blobs } = fixture;
    return new SessionAudio(pool, verifiedAudio(pool, blobs, log));
  };

  for (const [name, kind, spoil] of DAMAGES) {
    it.each([0, 1, 2])(
      `a file ${name} as chunk %i of three is silence when played, and told`,
      async (sequence) => {
        const chunks = [tone(0), tone(1), tone(2)];
        const { sessionId } = await recorded(chunks);
        expect(await played(sessionId)).toEqual(Buffer.concat(chunks));
        expect(await completeness(sessionId)).toMatchObject({ complete: true, missing: [] });
        log.lines.length = 0;
        spoil(pathOf(sessionId, chunks[sequence] ?? Buffer.of()));
        const silent = chunks.map((data, at) =>
          at === sequence ? Buffer.alloc(data.length) : data,
        );
        for (let time = 0; time < 3; time += 1) {
          expect(await played(sessionId)).toEqual(Buffer.concat(silent));
        }
        expect(await noted(sessionId)).toEqual([{ sequence, kind }]);
        expect(errors()).toMatchObject([{ session_id: sessionId, kind, chunks: 1 }]);
        expect(await completeness(sessionId)).toMatchObject({
          complete: false,
          missing: [
            {
              reason: "damaged",
              chunk_sequences: [sequence],
              start_ms: sequence * 500,
              end_ms: (sequence + 1) * 500,
            },
          ],
        });
      },
    );
  }

  it.each(DAMAGES)(
    "a file %s is whole when its device sends it again",
    async (_name, _kind, spoil) => {
      const chunks = [tone(0), tone(1)];
      const { sessionId } = await recorded(chunks);
      const path = pathOf(sessionId, tone(1));
      spoil(path);
      await played(sessionId);
      fixture.notified.length = 0;
      const again = await fixture.upload(device, sessionId, 1, tone(1), { mediaType: RAW });
      expect(again.status).toBe(200);
      expect(readFileSync(path)).toEqual(tone(1));
      expect(await played(sessionId)).toEqual(Buffer.concat(chunks));
      expect(await completeness(sessionId)).toMatchObject({ complete: true, missing: [] });
      // It had been read before.
      expect(fixture.notified).toEqual([]);
    },
  );

  it("a chunk that failed as its file was damaged is read again when it came again", async () => {
    const { sessionId, story } = await recorded([tone(0), tone(1)]);
    const [{ id: chunkId = "" } = {}] = await fixture.sql<{ id: string }>(
      "select id from chunks where session_id = $1 and sequence = 1",
      [sessionId],
    );
    const failed = { chunkId, sequence: 1, message: "Damaged." };
    await story.tell([{ type: "ChunkFailed", ...failed, code: "not_audio" }]);
    rmSync(pathOf(sessionId, tone(1)));
    const send = () => fixture.upload(device, sessionId, 1, tone(1), { mediaType: RAW });
    fixture.notified.length = 0;
    expect((await send()).status).toBe(200);
    // What is no audio stays none.
    expect(fixture.notified).toEqual([]);
    await story.tell([{ type: "ChunkFailed", ...failed, code: "audio_damaged" }]);
    rmSync(pathOf(sessionId, tone(1)));
    expect((await send()).status).toBe(200);
    const command = { type: "ChunkMended", chunkId, sequence: 1, start: LENGTH, length: LENGTH };
    expect(fixture.notified).toMatchObject([{ sessionId, command }]);
  });

  it("a file that came back by itself is found whole by the next poll", async () => {
    const { sessionId } = await recorded([tone(0)]);
    const path = pathOf(sessionId, tone(0));
    renameSync(path, `${path}.away`);
    await played(sessionId);
    renameSync(`${path}.away`, path);
    const name = createHash("sha256").update(tone(0)).digest("hex");
    const { pool, blobs } = fixture;
    const { damage } = await verifiedAudio(pool, blobs).check({ sessionId, sha256: name });
    expect(damage).toBeUndefined();
    expect(await completeness(sessionId)).toMatchObject({ complete: true, missing: [] });
  });

  it("sound that was silenced does not come back with its upload", async () => {
    const { sessionId, story } = await recorded([tone(0)]);
    await redact(story);
    const { pool, redactionFiles } = fixture;
    await new AudioRedaction(new PostgresRedactions(pool), redactionFiles, silentLog).run();
    const path = pathOf(sessionId, tone(0));
    for (const spoil of [() => {}, () => truncateSync(path, 100)]) {
      spoil();
      const left = readFileSync(path);
      const again = await fixture.upload(device, sessionId, 0, tone(0), { mediaType: RAW });
      expect(again.status).toBe(200);
      expect(readFileSync(path)).toEqual(left);
    }
  });

  it("what an upload left that came to nothing is not taken for the one that comes", async () => {
    const sessionId = await fixture.start(device);
    const path = pathOf(sessionId, tone(0));
    mkdirSync(join(fixture.folder, sessionId), { recursive: true });
    writeFileSync(path, tone(0).subarray(0, 100));
    const { status } = await fixture.upload(device, sessionId, 0, tone(0), { mediaType: RAW });
    expect(status).toBe(201);
    expect(readFileSync(path)).toEqual(tone(0));
    await fixture.stop(device, { session_id: sessionId });
  });

  it("a reading is not given other bytes than were stored", async () => {
    const chunks = [tone(0), tone(1)];
    const { sessionId } = await recorded(chunks);
    const [first, second] = await audio().placed(sessionId, 0, 2);
    if (first === undefined || second === undefined) return expect.fail("no chunks");
    flip(pathOf(sessionId, tone(1)));
    const bytes = ({ sha256, digests }: typeof first) =>
      audio().bytes(sessionId, sha256, { digests, part: undefined });
    expect(await bytes(first)).toEqual(chunks[0]);
    await expect(bytes(second)).rejects.toMatchObject({ damage: { kind: "changed" } });
  });

  it("webhooks are told once of a chunk that had been read before", async () => {
    const { sessionId } = await recorded([tone(0)]);
    const [{ workspace = "" } = {}] = await fixture.sql<{ workspace: string }>(
      "select workspace_id as workspace from sessions where id = $1",
      [sessionId],
    );
    await fixture.sql(
      "insert into webhooks (id, workspace_id, url, secret) values ($1, $2, 'https://h.test', '')",
      [newId(), workspace],
    );
    rmSync(pathOf(sessionId, tone(0)));
    await played(sessionId);
    await played(sessionId);
    const told = await fixture.sql(
      "select data from webhook_deliveries where event_type = 'chunk.failed'",
    );
    expect(told).toMatchObject([
      { data: { chunk_sequence: 0, code: "audio_damaged", status: "completed" } },
    ]);
  });

  it("sound that was silenced is whole, also for a chunk with the same bytes and a row read before", async () => {
    const chunks = [tone(0), tone(1), tone(0)];
    const { sessionId, story } = await recorded(chunks);
    const before = await audio().placed(sessionId, 0, 3);
    log.lines.length = 0;
    await redact(story);
    const { pool, redactionFiles: files } = fixture;
    expect(await new AudioRedaction(new PostgresRedactions(pool), files, silentLog).run()).toBe(1);
    const quiet = tone(0).fill(0, 200, 400);
    for (const { sha256, digests } of [...before, ...(await audio().placed(sessionId, 0, 3))]) {
      await audio().bytes(sessionId, sha256, { digests, part: undefined });
    }
    expect(readFileSync(pathOf(sessionId, tone(0)))).toEqual(quiet);
    expect(await played(sessionId)).toEqual(Buffer.concat([quiet, tone(1), quiet]));
    expect(await noted(sessionId)).toEqual([]);
    // The sound of a backup is not the sound that is to be kept.
    writeFileSync(pathOf(sessionId, tone(0)), tone(0));
    await played(sessionId);
    expect(await noted(sessionId)).toHaveLength(2);
  });

  it("a file that a crash left replaced, with its row not written, is whole", async () => {
    const { sessionId, story } = await recorded([tone(0)]);
    await redact(story);
    const { pool, blobs, redactionFiles } = fixture;
    const dying = {
      ...redactionFiles,
      replace: async (...put: Parameters<typeof blobs.replace>) => {
        await blobs.replace(...put);
        throw new Error("killed");
      },
    };
    const records = new PostgresRedactions(pool);
    expect(await new AudioRedaction(records, dying, silentLog).run()).toBe(0);
    expect(await played(sessionId)).toEqual(tone(0).fill(0, 200, 400));
    expect(await new AudioRedaction(records, redactionFiles, silentLog).run()).toBe(1);
    expect(await played(sessionId)).toEqual(tone(0).fill(0, 200, 400));
    expect(await noted(sessionId)).toEqual([]);
  });

  it("nothing is damaged while the whole folder is away", async () => {
    const { sessionId } = await recorded([tone(0)]);
    const { pool, blobs, folder } = fixture;
    renameSync(folder, `${folder}.away`);
    try {
      const name = createHash("sha256").update(tone(0)).digest("hex");
      const check = verifiedAudio(pool, blobs).check({ sessionId, sha256: name });
      await expect(check).rejects.toMatchObject({ code: "unavailable" });
    } finally {
      renameSync(`${folder}.away`, folder);
    }
    expect(await noted(sessionId)).toEqual([]);
  });
});
