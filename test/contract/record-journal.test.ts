import { describe, expect, it } from "vitest";
import { MOST_ATTEMPTS } from "../../src/base/backlog-limits.ts";
import { newId } from "../../src/base/ids.ts";
import { partitionOf } from "../../src/base/partition.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { SNAPSHOT_VERSION } from "../../src/session/snapshot.ts";
import { initialState } from "../../src/session/state.ts";
import type { SegmentText, SessionWrite } from "../../src/session/write.ts";
import { beginningOf } from "../support/opening-place.ts";
import { comparable } from "../support/record/contract-rows.ts";
import type { Stand } from "../support/record/contract-stand.ts";
import {
  AT,
  bothRecords,
  chunk,
  codeOf,
  names,
  start,
  type World,
} from "../support/record/contract-world.ts";
import type { SessionBatch } from "../support/record/journal-statements.ts";
import type { TableName } from "../support/record/sim-record.ts";

const ALL: TableName[] = [
  "sessions",
  "chunks",
  "events",
  "snapshots",
  "checkpoints",
  "suspects",
  "segments",
  "edits",
  "claims",
  "jobs",
  "outbox",
  "outcomes",
  "redactions",
  "audit",
];

function batch(
  { session }: World,
  expectedSeq: number,
  events: SessionEvent[],
  more: Partial<SessionBatch> = {},
): SessionBatch {
  return {
    id: session,
    epoch: 1,
    expectedSeq,
    events: events.map((event, n) => ({ seq: expectedSeq + n + 1, at: AT + n, event })),
    writes: [],
    commandIds: [],
    outcomes: [],
    ...more,
  };
}

function text(segmentId: string, start: number, more: Partial<SegmentText> = {}): SegmentText {
  const words = ["one", "two"].map((word, n) => ({
    text: word,
    start: start + n * 100,
    end: start + n * 100 + 90,
    confidence: 0.9,
  }));
  return {
    type: "SegmentText",
    segmentId,
    attempt: 1,
    start,
    end: start + 16_000,
    label: "S1",
    words,
    confidence: 0.87,
    ...more,
  };
}

/** A session's life in batches, each with what it does to the tables. */
function life(world: World, ids: string[]): SessionBatch[] {
  const { session, job, user } = world;
  const [c0 = "", c1 = "", c2 = "", s1 = "", s2 = "", s3 = "", edit = "", redaction = ""] = ids;
  const segment = (segmentId: string, start: number) =>
    ({
      type: "SegmentFinalised",
      segmentId,
      start,
      end: start + 16_000,
      label: "S1",
      cluster: 1,
      checkpoint: start,
    }) as const;
  const none = new Uint8Array();
  const checkpoint = (position: number, keep: number[]): SessionWrite => ({
    type: "Checkpoint",
    attempt: 1,
    position,
    recogniser: Uint8Array.of(1, position % 250),
    speakers: Uint8Array.of(2),
    voices: { 0: 1, 3: 0 },
    keep,
  });
  const handedOn: SessionWrite = {
    type: "HandedOn",
    attempt: 1,
    from: 16_000,
    to: 40_000,
    checkpoints: [{ position: 20_000, recogniser: Uint8Array.of(3), speakers: none, voices: {} }],
    keep: [25_000, 47_999, 60_000],
  };
  const place = (chunkId: string, sequence: number) =>
    ({ type: "ChunkPlaced", chunkId, sequence, start: sequence * 32_000, length: 32_000 }) as const;
  return [
    batch(world, 0, [
      { type: "SessionStarted", sessionId: session, jobId: job, language: "en" },
      { type: "ChunkReceived", chunkId: c0, sequence: 0, frames: 32_000, sampleRate: 16_000 },
      place(c0, 0),
    ]),
    batch(world, 3, [
      {
        type: "JobStarted",
        jobId: job,
        attempt: 1,
        engine: "e",
        diarisationModelVersion: "1",
        detectedLanguage: "en",
      },
    ]),
    batch(world, 4, [segment(s1, 0), segment(s2, 16_000)], {
      writes: [
        text(s1, 0, {
          speakerConfidence: 0.4,
          overlaps: [{ segmentId: s2, start: 15_000, end: 16_000 }],
        }),
        text(s2, 16_000, { label: "S2", confidence: 0.5, speakerConfidence: 0.71 }),
        checkpoint(16_000, []),
        checkpoint(32_000, [16_000]),
        { type: "Progress", jobId: job, progress: 0.4 },
        { type: "Suspects", attempt: 1, suspects: [{ sequence: 0, breaks: 1, position: 100 }] },
      ],
      snapshot: { version: 3, state: initialState(session) },
    }),
    batch(world, 6, [{ type: "ChunkTranscribed", chunkId: c0, sequence: 0 }], {
      writes: [
        checkpoint(48_000, [47_999]),
        { type: "Progress", jobId: job, progress: 0.2 },
        { type: "Suspects", attempt: 1, suspects: [] },
      ],
    }),
    batch(world, 7, [
      place(c1, 1),
      { type: "ChunkFailed", chunkId: c1, sequence: 1, code: "not_audio", message: "No audio." },
    ]),
    batch(world, 9, [
      {
        type: "SpeakerClaimed",
        label: "S1",
        source: "self_claim",
        claimedUserId: user,
        byUserId: user,
      },
      {
        type: "SpeakerClaimed",
        label: "S1",
        source: "moderator_assignment",
        claimedUserId: s1,
        byUserId: s2,
      },
      {
        type: "SpeakerClaimed",
        label: "S2",
        source: "self_claim",
        claimedUserId: user,
        byUserId: user,
      },
      { type: "SpeakerUnclaimed", label: "S2", byUserId: s2 },
      {
        type: "SpeakersRevised",
        revisions: [{ segmentId: s1, start: 0, label: "S3", cluster: 3 }],
        merges: [{ from: "S1", into: "S2" }],
        finalPass: false,
      },
    ]),
    batch(world, 14, [
      {
        type: "SegmentRevised",
        segmentId: s1,
        start: 0,
        revision: 2,
        label: "S2",
        editId: edit,
        byUserId: user,
      },
    ]),
    batch(
      world,
      15,
      [
        { type: "SessionStopped", lastSequence: 2 },
        { type: "SessionCompleted" },
        {
          type: "JobCompleted",
          jobId: job,
          attempt: 1,
          segmentCount: 2,
          speakerCount: 1,
          durationMs: 7,
        },
      ],
      { writes: [{ type: "CheckpointsKept", attempt: 1, keep: [47_999] }] },
    ),
    batch(world, 18, [
      { type: "GapFilled", chunkId: c2, sequence: 2, start: 64_000, length: 32_000 },
    ]),
    batch(world, 19, [
      {
        type: "SpanRedacted",
        redactionId: redaction,
        from: 0,
        to: 8_000,
        segmentIds: [s1],
        byUserId: user,
      },
    ]),
    batch(
      world,
      20,
      [
        {
          type: "TranscriptReplaced",
          jobId: job,
          attempt: 2,
          from: 16_000,
          to: 96_000,
          removed: [
            { segmentId: s2, start: 16_000 },
            { segmentId: s3, start: 16_000 },
          ],
          added: [
            { segmentId: s3, start: 16_000, end: 32_000, label: "S1", cluster: 1, redacted: true },
          ],
          sequences: [2],
        },
        { type: "ChunkTranscribed", chunkId: c2, sequence: 2 },
      ],
      { writes: [text(s3, 16_000, { attempt: 2, redacted: true }), handedOn] },
    ),
    batch(world, 22, [{ type: "RedoRequested", jobId: job, attempt: 3, byUserId: user }]),
    batch(world, 23, [{ type: "RedoCancelled", jobId: job, attempt: 3, byUserId: user }]),
    batch(world, 24, [{ type: "SummaryUpdated", jobId: job, summaryType: "short" }], {
      outcomes: [{ commandId: c0, outcome: { ok: true, value: { label: "S1" } } }],
    }),
  ];
}

const onBoth = bothRecords();

describe("record: journal", () => {
  it("record: a life of a session leaves the same rows in every table", async () => {
    const world = names();
    const ids = Array.from({ length: 8 }, () => newId());
    const rows = await onBoth(async (stand) => {
      await start(stand, world);
      for (const [sequence, id] of ids.slice(0, 3).entries()) {
        await stand.a.chunks.store(chunk(world, sequence, id));
      }
      await stand.a.journal.activate(world.session);
      const all = [];
      for (const each of life(world, ids)) {
        await stand.a.journal.append(each);
        all.push(await comparable(stand, ALL, world.session));
      }
      return [all, await comparable(stand, ["deliveries"], world.webhook)];
    });
    expect(JSON.stringify(rows)).toContain("[redacted-span]");
  });

  it("record: the files of what was redacted are silenced alike, and again when more is", async () => {
    const world = names();
    const ids = Array.from({ length: 8 }, () => newId());
    const seen = await onBoth(async (stand) => {
      await start(stand, world);
      for (const [sequence, id] of ids.slice(0, 3).entries()) {
        await stand.a.chunks.store(chunk(world, sequence, id));
      }
      await stand.a.journal.activate(world.session);
      for (const each of life(world, ids)) await stand.a.journal.append(each);
      const { redactions, redacted } = stand.b;
      const pending = async () =>
        (await redactions.pending(1_000)).filter(({ sessionId }) => sessionId === world.session);
      const before = await pending();
      const silenced: unknown[] = [];
      for (const name of before) {
        await redactions.exclusively(name, async ({ spans, ...each }) => {
          silenced.push({
            ...each,
            digests: undefined,
            spans: spans.map(({ from, to }) => `${from} ${to}`).sort(),
          });
          const rival = await stand.a.redactions.exclusively(name, async () => ({ bytes: 1 }));
          silenced.push(rival);
          return { bytes: 1_000 + name.sequence };
        });
      }
      const rows = await comparable(stand, ["chunks", "redactions"], world.session);
      return {
        before,
        silenced,
        after: await pending(),
        of: await redacted.of(world.session),
        rows,
      };
    });
    expect(seen.before.length).toBeGreaterThan(0);
    expect(seen.after).toEqual([]);
  });

  it("record: what is left to do, and what failed too often, is told alike", async () => {
    const world = names();
    const ids = Array.from({ length: 2 }, () => newId());
    const place = { partition: partitionOf(world.session), after: undefined, olderThan: 0 };
    await onBoth(async (stand) => {
      await start(stand, world);
      for (const [sequence, id] of ids.entries()) {
        await stand.a.chunks.store(chunk(world, sequence, id));
      }
      const { backlog, journal } = stand.a;
      const typesOf = async () =>
        (await backlog.queues([place])).map(({ sessionId, commands }) => [
          sessionId,
          commands.map(({ command }) => command.type).sort(),
        ]);
      const told: unknown[] = [await backlog.openWork([place]), await typesOf()];
      const loaded = await journal.activate(world.session);
      const batch = { id: world.session, epoch: loaded?.epoch ?? 0, commandIds: [], outcomes: [] };
      const started: SessionEvent = {
        type: "SessionStarted",
        sessionId: world.session,
        jobId: world.job,
        language: "en",
      };
      const events = [{ seq: 1, at: AT, event: started }];
      for (const step of [
        { events: [], expectedSeq: 0, hasWork: false },
        { events, expectedSeq: 0 },
        { events: [], expectedSeq: 1, hasWork: false },
      ]) {
        await journal.append({ ...batch, writes: [], ...step });
        told.push(await backlog.openWork([place]), await comparable(stand, ["sessions"], batch.id));
      }
      const [first] = (await backlog.commandsTo(world.session)).filter(
        ({ command }) => command.type === "Start",
      );
      const failure = { sessionId: world.session, reason: "internal: none" };
      const named = { ...failure, ids: [first?.id ?? ""] };
      for (let times = 0; times < MOST_ATTEMPTS; times += 1) {
        told.push((await backlog.failed(named)).map(({ type }) => type));
      }
      await backlog.failed({ ...failure, ids: undefined });
      told.push(await typesOf(), await comparable(stand, ["outbox"], world.session));
      return told;
    });
  });

  it("record: what is loaded again, replayed and shown is the same", async () => {
    const world = names();
    const ids = Array.from({ length: 8 }, () => newId());
    await onBoth(async (stand) => {
      await start(stand, world);
      await stand.a.journal.activate(world.session);
      for (const each of life(world, ids)) await stand.a.journal.append(each);
      const { live, audio } = stand.b;
      const snapshot = await live.snapshot(world.session);
      return {
        past: { ...(await stand.b.journal.activate(world.session)), now: 0 },
        frames: await live.replay(world.session, 0, 100),
        snapshot: { ...snapshot, session: { ...snapshot.session, started_at: "", stopped_at: "" } },
        beat: await live.beat(world.session),
        placed: await audio.placed(world.session, 0, 10),
        opening: await audio.opening(beginningOf(world.session, 40_000)),
      };
    });
  });

  it("record: a reading resumes as many short chunks before its checkpoint as a decoder needs", async () => {
    const world = names();
    const lengths = [800, 16_000, 800, 800, 800, 800, 800, 800, 800, 800, 16_000, 16_000];
    const chunks = lengths.map((_, sequence) => chunk(world, sequence));
    const starts = lengths.map((_, at) =>
      lengths.slice(0, at).reduce((sum, each) => sum + each, 0),
    );
    const positions = [0, 800, 16_799, 18_400, 22_000, 24_000, 39_200, 55_000];
    const from = await onBoth(async (stand) => {
      await start(stand, world);
      await stand.a.journal.activate(world.session);
      for (const each of chunks) await stand.a.chunks.store(each);
      const placed = chunks.map(({ id, sequence }) => {
        const place = { start: starts[sequence] ?? 0, length: lengths[sequence] ?? 0 };
        return { type: "ChunkPlaced", chunkId: id, sequence, ...place } as const;
      });
      const none = new Uint8Array();
      const state = { recogniser: none, speakers: none, voices: {}, keep: positions };
      await stand.a.journal.append(batch(world, 0, placed));
      for (const position of positions.slice(1)) {
        const write = { type: "Checkpoint", attempt: 1, position, ...state } as const;
        await stand.a.journal.append(batch(world, placed.length, [], { writes: [write] }));
      }
      const openings = positions.map((position) =>
        stand.b.audio.opening(beginningOf(world.session, position)),
      );
      return (await Promise.all(openings)).map(({ sequence }) => sequence);
    });
    // 0.32 s before the chunk at the checkpoint are 5,120 samples.
    expect(from).toEqual([0, 0, 0, 1, 1, 3, 10, 10]);
  });

  it("record: who has been replaced, knows another seq or comes after a deletion is refused", async () => {
    const world = names();
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      const [mine, others] = [stand.a.journal, stand.b.journal];
      await mine.activate(session);
      await others.activate(session);
      const event: SessionEvent = { type: "SummaryUpdated", jobId: session, summaryType: "s" };
      const early = await codeOf(mine.append(batch(world, 0, [event])));
      const ahead = await codeOf(others.append(batch(world, 1, [event], { epoch: 2 })));
      const empty = await codeOf(mine.append(batch(world, 0, [])));
      const twice = await Promise.all(
        [1, 2, 3].map(() => codeOf(others.append(batch(world, 0, [event], { epoch: 2 })))),
      );
      return { early, ahead, empty, twice: twice.sort(), seq: await seqOf(stand, session) };
    });
  });

  it("record: a batch that landed is not written again, and none past its deadline", async () => {
    const world = names();
    const told = newId();
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session, job } = world;
      const { journal } = stand.a;
      const { now = Number.NaN } = (await journal.activate(session)) ?? {};
      const event: SessionEvent = { type: "SummaryUpdated", jobId: job, summaryType: "s" };
      const outcomes = [{ commandId: told, outcome: { ok: true as const, value: 1 } }];
      const late = await codeOf(
        journal.append(batch(world, 0, [event], { outcomes, deadline: now - 1 })),
      );
      const before = await stand.b.commands.fate(session, told, now - 1);
      const once = batch(world, 0, [event], { outcomes, deadline: now + 60_000 });
      const codes = [await codeOf(journal.append(once)), await codeOf(journal.append(once))];
      const after = await stand.b.commands.fate(session, told, now - 1);
      const other = await codeOf(
        journal.append({ ...once, events: life(world, [])[0]?.events ?? [] }),
      );
      const rows = await comparable(stand, ["events", "outcomes"], session);
      return { late, before, codes, after, other, rows };
    });
  });

  it("record: who asks what became of a command waits for what is being written", async () => {
    const world = names();
    const told = newId();
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      const { now = Number.NaN } = (await stand.a.journal.activate(session)) ?? {};
      const release = await stand.hold(session, "update");
      const outcomes = [{ commandId: told, outcome: { ok: true as const, value: 1 } }];
      const append = codeOf(stand.a.journal.append(batch(world, 0, [], { outcomes })));
      await stand.waiting(1);
      const fate = stand.b.commands.fate(session, told, now - 1);
      await stand.waiting(2);
      await release();
      return { code: await append, outcome: (await fate).outcome };
    });
  });

  it("record: snapshots of two versions stand side by side", async () => {
    const world = names();
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      const { journal } = stand.a;
      await journal.activate(session);
      const state = initialState(session);
      const seen = [];
      for (const version of [SNAPSHOT_VERSION - 1, SNAPSHOT_VERSION, SNAPSHOT_VERSION + 1]) {
        const seq = seen.length;
        const event: SessionEvent = { type: "SummaryUpdated", jobId: session, summaryType: "s" };
        await journal.append(batch(world, seq, [event], { snapshot: { version, state } }));
        const { snapshot, events } = (await journal.load(session, "snapshot")) ?? {};
        const whole = await journal.load(session, "beginning");
        seen.push([snapshot, events?.length, whole?.events.length, whole?.snapshot]);
      }
      return [seen, await comparable(stand, ["snapshots"], session)];
    });
  });

  it("record: one append of another lasts as long as somebody holds the session's row", async () => {
    const world = names();
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      await stand.a.journal.activate(session);
      const release = await stand.hold(session, "share");
      const event: SessionEvent = { type: "SummaryUpdated", jobId: session, summaryType: "s" };
      const append = codeOf(stand.a.journal.append(batch(world, 0, [event])));
      await stand.waiting(1);
      const takeover = stand.b.journal.activate(session);
      await stand.waiting(2);
      const before = await seqOf(stand, session);
      await release();
      // In the order in which they came: the append lands before it is taken over.
      return { before, append: await append, past: (await takeover)?.seq };
    });
  });

  it("record: an activation that waited for another sees what that one wrote", async () => {
    const world = names();
    await onBoth(async (stand) => {
      await start(stand, world);
      const { session } = world;
      await stand.a.journal.activate(session);
      const release = await stand.hold(session, "update");
      const takeover = stand.b.journal.activate(session);
      await stand.waiting(1);
      const event: SessionEvent = { type: "SummaryUpdated", jobId: session, summaryType: "s" };
      const append = codeOf(stand.a.journal.append(batch(world, 0, [event])));
      await stand.waiting(2);
      await release();
      return { append: await append, epoch: (await takeover)?.epoch };
    });
  });
});

async function seqOf(stand: Stand, session: string): Promise<number | undefined> {
  return (await stand.rows("sessions", session))[0]?.seq;
}
