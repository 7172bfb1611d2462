import { describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { SessionEvent } from "../../src/session/event.ts";
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
import type { TableName } from "../support/record/sim-record.ts";

const ALL: TableName[] = [
  ...(["sessions", "chunks", "events", "snapshots", "checkpoints", "segments"] as const),
  ...(["edits", "claims", "jobs", "outbox", "outcomes", "streams", "pieces"] as const),
  ...(["redactions", "receipts", "audit"] as const),
];

const onBoth = bothRecords();

/** A session with a chunk and one segment. */
async function begin(stand: Stand, world: World, segmentId: string): Promise<void> {
  await start(stand, world);
  await stand.a.chunks.store(chunk(world, 0, world.job));
  await stand.a.journal.activate(world.session);
  const event: SessionEvent = {
    type: "SegmentFinalised",
    segmentId,
    start: 0,
    end: 16_000,
    label: "S1",
    cluster: 1,
    checkpoint: 0,
  };
  const words = [{ text: "one", start: 0, end: 9_000, confidence: 0.9 }];
  await stand.a.journal.append({
    id: world.session,
    epoch: 1,
    expectedSeq: 0,
    events: [{ seq: 1, at: AT, event }],
    writes: [
      {
        type: "SegmentText",
        segmentId,
        attempt: 1,
        start: 0,
        end: 16_000,
        label: "S1",
        words,
        confidence: 0.9,
      },
    ],
    commandIds: [],
    outcomes: [{ commandId: segmentId, outcome: { ok: true, value: null } }],
  });
}

function erase(stand: Stand, { session, user }: World) {
  return stand.b.deletion.erase(session, "session_deleted_by_owner", { kind: "user", id: user });
}

function append(stand: Stand, { session }: World, expectedSeq: number): Promise<string> {
  const event: SessionEvent = { type: "SummaryUpdated", jobId: session, summaryType: "s" };
  return codeOf(
    stand.a.journal.append({
      id: session,
      epoch: 1,
      expectedSeq,
      events: [{ seq: expectedSeq + 1, at: AT, event }],
      writes: [],
      commandIds: [],
      outcomes: [],
    }),
  );
}

describe("record: deletion", () => {
  it("record: what a deletion leaves is the same, and it happens once", async () => {
    const world = names();
    const [segment, edit] = [newId(), newId()];
    const seen = await onBoth(async (stand) => {
      await begin(stand, world, segment);
      const { session, user } = world;
      const put = { id: edit, sessionId: session, segmentId: segment, text: "two words" };
      const kept = await stand.a.edits.put({ ...put, byUserId: user });
      const before = await comparable(stand, ALL, session);
      const deleted = await erase(stand, world);
      const again = await erase(stand, world);
      return {
        kept,
        before,
        removed: deleted?.receipt.removed,
        seq: deleted?.event?.seq,
        again: again?.event,
        rows: await comparable(stand, ALL, session),
        told: await comparable(stand, ["deliveries"], world.webhook),
        refused: [
          await append(stand, world, 1),
          await codeOf(stand.a.chunks.store(chunk(world, 1))),
          await codeOf(stand.a.streams.take(session)),
          await stand.a.edits.put({ ...put, id: newId(), byUserId: user }),
          await stand.a.journal.activate(session),
          await codeOf(stand.a.live.snapshot(session)),
          await codeOf(stand.a.live.beat(session)),
        ],
      };
    });
    expect(seen.rows.segments).toMatchObject([{ text: "[redacted-session-deleted]", words: [] }]);
  });

  it("record: an append waits for a deletion that is under way, and is refused then", async () => {
    const world = names();
    const segment = newId();
    await onBoth(async (stand) => {
      await begin(stand, world, segment);
      const release = await stand.hold(world.session, "share");
      const deletion = erase(stand, world);
      await stand.waiting(1);
      const late = append(stand, world, 1);
      await stand.waiting(2);
      await release();
      return { seq: (await deletion)?.event?.seq, late: await late };
    });
  });

  it("record: an append passes a deletion that waits, where it need not wait itself", async () => {
    const world = names();
    const segment = newId();
    await onBoth(async (stand) => {
      await begin(stand, world, segment);
      const release = await stand.hold(world.session, "key share");
      const deletion = erase(stand, world);
      await stand.waiting(1);
      const early = await append(stand, world, 1);
      await stand.waiting(1);
      await release();
      return { early, seq: (await deletion)?.event?.seq };
    });
  });

  it("record: an edit that waits for a deletion leaves no text behind", async () => {
    const world = names();
    const [segment, edit] = [newId(), newId()];
    await onBoth(async (stand) => {
      await begin(stand, world, segment);
      const { session, user } = world;
      const release = await stand.hold(session, "update");
      const deletion = erase(stand, world);
      await stand.waiting(1);
      const put = { id: edit, sessionId: session, segmentId: segment, text: "words" };
      const kept = stand.a.edits.put({ ...put, byUserId: user });
      await stand.waiting(2);
      await release();
      await deletion;
      return { kept: await kept, rows: await comparable(stand, ["edits", "segments"], session) };
    });
  });
});
