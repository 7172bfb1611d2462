import { describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { toLogEntry } from "../../src/conversations/recording/audio-files/stored-fragments.ts";
import type {
  AudioFragment,
  StreamSettings,
} from "../../src/conversations/recording/stream-records.ts";
import { beginningOf } from "../support/opening-place.ts";
import { comparable } from "../support/record/contract-rows.ts";
import { LOGS, type Stand } from "../support/record/contract-stand.ts";
import {
  bothRecords,
  chunk,
  codeOf,
  names,
  start,
  type World,
} from "../support/record/contract-world.ts";
import type { TableName } from "../support/record/sim-record.ts";

const AUDIO: TableName[] = ["sessions", "chunks", "outbox", "streams", "pieces"];
const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: false,
};
const FORMAT = { mediaType: "audio/pcm", sampleRate: 16_000 };

const onBoth = bothRecords();

function fragment(sequence: number, n: number): AudioFragment {
  const data = Uint8Array.of(n, n + 1, n + 2, n + 3);
  return { sequence, index: n, format: FORMAT, frames: 2, data, streamBytes: 4 };
}

function rowsOf(stand: Stand, { session }: World) {
  return comparable(stand, AUDIO, session);
}

describe("record: audio", () => {
  it("record: uploads are taken, known again and refused alike, and stand in the tables alike", async () => {
    const world = names();
    const [first, second, late] = [0, 1, 2].map((sequence) => chunk(world, sequence));
    if (first === undefined || second === undefined || late === undefined) throw new Error("three");
    const seen = await onBoth(async (stand) => {
      await start(stand, world);
      const { chunks, sessions } = stand.a;
      const store = async (...args: Parameters<typeof chunks.store>) => {
        const { chunk: stored, created } = await chunks.store(...args);
        return { stored, created };
      };
      const other = { ...first, id: newId(), sha256: "f".repeat(64) };
      return {
        created: await store(first),
        again: await store({ ...first, id: newId() }),
        conflict: await codeOf(store(other)),
        tooFar: await codeOf(store(chunk(world, 100_000))),
        known: await chunks.find(world.session, 0, first.sha256),
        unknown: await chunks.find(world.session, 7, first.sha256),
        together: await Promise.all([store(second), codeOf(store(other)), codeOf(store(other))]),
        stop: await codeOf(stop(stand, world, 2)),
        stoppedAgain: await codeOf(stop(stand, world, 2)),
        otherEnd: await codeOf(stop(stand, world, 5)),
        late: await store(late),
        beyond: await codeOf(store(chunk(world, 3))),
        recording: await sessions.recording(world.device),
        rows: await rowsOf(stand, world),
      };
    });
    expect(seen).toMatchObject({ conflict: "chunk_conflict", beyond: "session_ended" });
  });

  it("record: an upload that meets a stop lands before it, or is told that it came too late", async () => {
    const world = names();
    const uploads = [0, 1].map((sequence) => chunk(world, sequence));
    await onBoth(async (stand) => {
      await start(stand, world);
      const release = await stand.hold(world.session, "update");
      const stopped = stop(stand, world, undefined);
      await stand.waiting(1);
      const stored = uploads.map((each) => codeOf(stand.b.chunks.store(each)));
      await release();
      await stopped;
      return { stored: await Promise.all(stored), rows: await rowsOf(stand, world) };
    });
  });

  it("record: no session in a group of uploads waits for one whose row is held", async () => {
    const [held, free] = [names(), names()];
    const uploads = [chunk(held, 0), chunk(free, 0)];
    await onBoth(async (stand) => {
      await start(stand, held);
      await start(stand, free);
      const release = await stand.hold(held.session, "no key update");
      const [waits, goes] = uploads.map((each) => stand.a.chunks.store(each));
      const early = await goes;
      await release();
      return [early?.created, (await waits)?.created, await rowsOf(stand, held)];
    });
  });

  it("record: a stream's fragments, its end and its chunk stand in the tables alike", async () => {
    const world = names();
    const next = chunk(world, 0);
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      const { streams, openChunks, chunks, audio } = stand.a;
      const none = await codeOf(streams.take(session));
      const hold = await streams.take(session, SETTINGS);
      const begun = await streams.begin(hold, undefined, fragment(0, 0));
      const again = await streams.begin(hold, undefined, fragment(0, 0));
      await streams.append(hold, fragment(0, 1));
      await streams.append(hold, fragment(0, 1));
      const gap = await codeOf(streams.append(hold, fragment(0, 3)));
      const uploaded = await codeOf(chunks.store(chunk(world, 0)));
      const { mostSeconds = 0, ...newer } = await stand.b.streams.take(session);
      const superseded = await codeOf(streams.append(hold, fragment(0, 2)));
      await stand.b.streams.append(newer, fragment(0, 2));
      const before = await rowsOf(stand, world);
      const fragments = await audio.fragments(session, 0, 1, 10);
      const known = (await stand.b.signs.of(session)).openChunks;
      const whole = await openChunks.read({ sessionId: session, sequence: 0 });
      const [stale, done] = [
        await openChunks.complete(next, 2),
        await openChunks.complete(next, 3),
      ];
      return {
        none,
        sequences: [begun.sequence, again.sequence, again.outbox.length],
        gap,
        uploaded,
        known: [known, (await stand.b.signs.of(session)).openChunks],
        newer,
        // Besides what has passed since the session began.
        isRoomADay: mostSeconds >= 86_399 && mostSeconds < 86_700,
        superseded,
        before,
        fragments: fragments.map(hexOf),
        interim: (await audio.opening(beginningOf(session))).interim,
        whole: { ...whole, rows: whole?.rows.map(hexOf) },
        stale,
        done: done?.chunk,
        left: await openChunks.of(session),
        lateWriter: await codeOf(stand.b.streams.append(newer, fragment(0, 3))),
        stop: await codeOf(stop(stand, world, 0)),
        ended: await codeOf(stand.b.streams.begin(newer, 0, fragment(1, 0))),
        rows: await rowsOf(stand, world),
      };
    });
  });

  it("record: of fragments that a log has their number alone is kept, and a chunk may have both kinds", async () => {
    const world = names();
    const [first, second] = [newId(), newId()];
    const chunks = [chunk(world, 0), chunk(world, 1)] as const;
    const [given, later] = [0, 1].map((sequence) =>
      Buffer.concat([0, 1, 2, 3].map((n) => toLogEntry(fragment(sequence, n)))),
    );
    // What was written behind the acknowledged fragments does not count, nor does a fragment that was cut off.
    LOGS.set(first, given ?? Buffer.alloc(0));
    LOGS.set(second, (later ?? Buffer.alloc(0)).subarray(0, 50));
    const seen = await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      const { streams, openChunks, audio } = stand.a;
      const hold = await streams.take(session, SETTINGS);
      await streams.begin(hold, undefined, { ...fragment(0, 0), log: first });
      const again = await streams.begin(hold, undefined, { ...fragment(0, 0), log: first });
      for (const n of [1, 1, 2]) await streams.append(hold, { ...fragment(0, n), log: first });
      const gap = await codeOf(streams.append(hold, { ...fragment(0, 4), log: first }));
      const open = await rowsOf(stand, world);
      const live = await audio.fragments(session, 0, 1, 10);
      await streams.begin(hold, 0, { ...fragment(1, 0), log: second });
      await streams.append(hold, { ...fragment(1, 1), log: second });
      // The store took no more.
      await streams.append(hold, fragment(1, 2));
      await streams.append(hold, fragment(1, 3));
      const both = await rowsOf(stand, world);
      const mixed = await audio.fragments(session, 1, 0, 10);
      const [older, newer] = await Promise.all(
        [0, 1].map((sequence) => openChunks.read({ sessionId: session, sequence })),
      );
      const stale = [
        await openChunks.complete(chunks[0], 1),
        await openChunks.complete(chunks[0], 4),
      ];
      const done = await openChunks.complete(chunks[0], 3);
      const abandoned = await openChunks.abandoned(0, 10);
      const left = await openChunks.read({ sessionId: session, sequence: 1 });
      const late = await codeOf(streams.append(hold, { ...fragment(1, 4), log: second }));
      return {
        ...{ again: again.sequence, gap, open, both, stale, done: done?.chunk, abandoned, late },
        ...{ live: live.map(hexOf), mixed: mixed.map(hexOf) },
        read: [older, newer, left].map((each) => ({ ...each, rows: each?.rows.map(hexOf) })),
        last: await openChunks.complete(chunks[1], 4).then((stored) => stored?.chunk),
        rows: await rowsOf(stand, world),
      };
    });
    expect(seen.live.map(({ index: n, data }) => [n, data])).toEqual([
      [1, "01020304"],
      [2, "02030405"],
    ]);
    expect(seen.mixed.map(({ index: n, startByte }) => [n, startByte])).toEqual([
      [0, 0],
      [1, 4],
      [2, 8],
      [3, 12],
    ]);
    expect(seen.read.map(({ fragments, log }) => [fragments, log])).toEqual([
      [3, first],
      [4, second],
      [4, second],
    ]);
    expect([seen.gap, seen.late]).toEqual(["stale_epoch", "stale_epoch"]);
  });
});

function hexOf<T extends { data: Uint8Array }>({ data, ...rest }: T) {
  return { ...rest, data: Buffer.from(data).toString("hex") };
}

function stop(stand: Stand, world: World, lastSequence: number | undefined) {
  return stand.a.sessions.stop({ deviceId: world.device, sessionId: undefined, lastSequence });
}
