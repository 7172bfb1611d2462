import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAppError, toAppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { AT, chunk, names, type World } from "../support/record/contract-world.ts";
import { takeTime } from "../support/record/sim-postgres.ts";
import type { HostRecord, SimRecord } from "../support/record/sim-record.ts";
import { SqlRecord } from "../support/record/sql-record.ts";
import { TwinRecord } from "../support/record/twin-record.ts";
import { VirtualTime } from "../support/record/virtual-time.ts";
import { SeededRandom } from "../support/seeded-random.ts";

const hooks = { readBytes: async () => Buffer.alloc(0), readLog: async () => Buffer.alloc(0) };
/** All of them at once, and now and then a host that stands still with its locks. */
const FOUL = {
  latency: [0.2, 3],
  slow: 0.05,
  slowBy: 400,
  lost: 0.02,
  unknown: 0.02,
  timedOut: 0.005,
  deadlocked: 0.01,
  stalled: 0.01,
  stalledBy: 9_000,
} as const;

/** What was promised, to be found in the record. */
interface Promised {
  chunks: string[];
  batches: { epoch: number; seq: number }[];
  erased: boolean;
  /** What nobody but a fault of ours explains. */
  strange: string[];
}

/** A stop finds no session that was deleted. */
const EXPECTED = new Set([
  ...["unavailable", "stale_epoch", "session_deleted", "session_ended", "not_found"],
]);

class Hammer {
  readonly #random: SeededRandom;
  readonly #time: VirtualTime;
  readonly #record: SimRecord;
  readonly #world: World;
  readonly #hosts: HostRecord[];
  readonly #promised: Promised = { chunks: [], batches: [], erased: false, strange: [] };
  #sequence = 0;

  constructor(record: SimRecord, time: VirtualTime, seed: number) {
    this.#random = new SeededRandom(seed);
    this.#time = time;
    this.#record = record;
    this.#world = names();
    this.#hosts = ["a", "b"].map((name) => record.host(name, time.runtime, hooks));
  }

  async run(acts: number): Promise<Promised> {
    await this.#begin();
    this.#record.moods.set(FOUL);
    let open = 0;
    for (let n = 0; n < acts; n += 1) {
      open += 1;
      void this.#one().finally(() => {
        open -= 1;
      });
      await this.#time.run(this.#record, this.#random.next() * 30);
    }
    this.#record.moods.calm();
    await this.#time.run(this.#record, 120_000, () => open === 0);
    if (open > 0) this.#promised.strange.push(`${open} never ended`);
    await this.#check();
    return this.#promised;
  }

  async #begin(): Promise<void> {
    const { session: id, job, user, device, workspace } = this.#world;
    const row = { last_seen_at: null, telemetry: "{}", firmware: "" };
    await this.#record.add({
      users: [{ id: user, name: "Ann", email: `${user}@example.org` }],
      devices: [{ id: device, workspace_id: workspace, owner_id: user, ...row }],
    });
    let started = false;
    const session = { id, jobId: job, workspaceId: workspace, ownerId: user, deviceId: device };
    const more = { title: "", language: "en", vocabulary: [], workshopId: undefined };
    void this.#hosts[0]?.sessions.start({ ...session, ...more }).then(() => {
      started = true;
    });
    await this.#time.run(this.#record, 10_000, () => started);
  }

  async #one(): Promise<void> {
    const host = this.#random.pick(this.#hosts);
    const dice = this.#random.next();
    try {
      if (dice < 0.35) await this.#upload(host);
      else if (dice < 0.95) await this.#append(host);
      else if (dice < 0.98) await this.#stop(host);
      else await this.#erase(host);
    } catch (error) {
      if (isAppError(error) && EXPECTED.has(error.code)) return;
      this.#promised.strange.push(toAppError(error).code);
    }
  }

  async #upload(host: HostRecord): Promise<void> {
    const next = chunk(this.#world, this.#sequence);
    this.#sequence += 1;
    await host.chunks.store(next);
    this.#promised.chunks.push(next.id);
  }

  /** Takes the session over and writes as an activation does. */
  async #append(host: HostRecord): Promise<void> {
    const { session: id } = this.#world;
    const past = await host.journal.activate(id);
    if (past === undefined) return;
    let { seq } = past;
    for (let n = 1 + this.#random.below(3); n > 0; n -= 1) {
      const segmentId = newId();
      const place = { start: seq, end: seq + 10, label: "S1" };
      const event: SessionEvent = {
        type: "SegmentFinalised",
        segmentId,
        ...place,
        cluster: 1,
        checkpoint: 0,
      };
      const words = [{ text: "word", start: seq, end: seq + 9, confidence: 1 }];
      await host.journal.append({
        id,
        epoch: past.epoch,
        expectedSeq: seq,
        events: [{ seq: seq + 1, at: AT, event }],
        writes: [{ type: "SegmentText", segmentId, attempt: 1, ...place, words, confidence: 1 }],
        commandIds: [],
        outcomes: [],
      });
      seq += 1;
      this.#promised.batches.push({ epoch: past.epoch, seq });
    }
  }

  async #stop(host: HostRecord): Promise<void> {
    const { session: sessionId, device: deviceId } = this.#world;
    await host.sessions.stop({ deviceId, sessionId, lastSequence: undefined });
  }

  async #erase(host: HostRecord): Promise<void> {
    const { session, user } = this.#world;
    await host.deletion.erase(session, "session_deleted_by_owner", { kind: "user", id: user });
    this.#promised.erased = true;
  }

  async #check(): Promise<void> {
    const { session: id } = this.#world;
    const { chunks, batches, erased, strange } = this.#promised;
    const [session] = await this.#record.rows("sessions", id);
    const events = (await this.#record.rows("events", id)).sort((a, b) => a.seq - b.seq);
    const stored = new Set((await this.#record.rows("chunks", id)).map((row) => row.id));
    const outbox = await this.#record.rows("outbox", id);
    const segments = await this.#record.rows("segments", id);
    if (events.some(({ seq }, index) => seq !== index + 1)) strange.push("seqs have gaps");
    if (events.some(({ epoch }, n) => epoch < (events[n - 1]?.epoch ?? 0))) strange.push("epochs");
    if (session?.seq !== events.length) strange.push("the session's seq is another");
    for (const each of chunks) if (!stored.has(each)) strange.push("a chunk is lost");
    for (const { epoch, seq } of batches) {
      if (events[seq - 1]?.epoch !== epoch) strange.push("a batch is lost");
    }
    const isGone = session?.status === "deleted";
    if (erased && !isGone) strange.push("a deletion is lost");
    if (isGone && segments.some(({ words }) => words !== "[]")) strange.push("words are left");
    if (isGone && outbox.length > 0) strange.push("commands are left");
    const told = outbox.filter(({ command }) => command.includes("ChunkStored")).length;
    if (!isGone && told !== stored.size) strange.push("chunks and commands differ");
    const finals = events.filter(({ type }) => type === "SegmentFinalised").length;
    if (finals !== segments.length) strange.push("segments and events differ");
  }
}

describe("record: schedules", () => {
  let sql: SimRecord;
  const time = new VirtualTime(AT);
  beforeAll(async () => {
    const database = await createTestDatabase();
    const timed = await takeTime(database, superuserUrl(database));
    sql = await SqlRecord.open(time.runtime, 7, timed);
  });
  afterAll(() => sql.close());

  it("record: whatever the twin's moods, what was promised stands in it", async () => {
    const seen: Promised[] = [];
    for (let seed = 0; seed < 30; seed += 1) {
      const own = new VirtualTime(AT, seed);
      const promised = await new Hammer(new TwinRecord(own.runtime, seed), own, seed).run(60);
      expect(promised.strange, `seed ${seed}`).toEqual([]);
      seen.push(promised);
    }
    // It was no empty play.
    expect(seen.filter(({ erased }) => erased).length).toBeGreaterThan(3);
    expect(seen.flatMap(({ batches }) => batches).length).toBeGreaterThan(30);
    expect(seen.flatMap(({ chunks }) => chunks).length).toBeGreaterThan(50);
  });

  it("record: the same in the database itself", async () => {
    const promised = await new Hammer(sql, time, 3).run(15);
    expect(promised.strange).toEqual([]);
    expect(promised.batches.length + promised.chunks.length).toBeGreaterThan(2);
  });
});
