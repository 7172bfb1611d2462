import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamSettings } from "../../src/conversations/recording/stream-records.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { AT, chunk, codeOf, names, type World } from "../support/record/contract-world.ts";
import type { Mood } from "../support/record/moods.ts";
import { takeTime } from "../support/record/sim-postgres.ts";
import type { HostRecord, SimRecord } from "../support/record/sim-record.ts";
import { SqlRecord } from "../support/record/sql-record.ts";
import { TwinRecord } from "../support/record/twin-record.ts";
import { VirtualTime } from "../support/record/virtual-time.ts";

interface Place {
  time: VirtualTime;
  record: SimRecord;
  a: HostRecord;
  b: HostRecord;
}

const hooks = { readBytes: async () => Buffer.alloc(0), readLog: async () => Buffer.alloc(0) };
const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: false,
};
const NO_WAY: Partial<Mood> = { latency: [1, 1] };

let twin: Place;
let sql: Place;

function toPlace(time: VirtualTime, record: SimRecord): Place {
  record.moods.set(NO_WAY);
  const [a, b] = ["a", "b"].map((name) => record.host(name, time.runtime, hooks));
  if (a === undefined || b === undefined) throw new Error("There are two hosts.");
  return { time, record, a, b };
}

beforeAll(async () => {
  const ours = new VirtualTime(AT);
  twin = toPlace(ours, new TwinRecord(ours.runtime, 1));
  const theirs = new VirtualTime(AT);
  const database = await createTestDatabase();
  const timed = await takeTime(database, superuserUrl(database));
  sql = toPlace(theirs, await SqlRecord.open(theirs.runtime, 1, timed));
});
afterAll(() => Promise.all([twin.record.close(), sql.record.close()]));

/** Does the same on both; what comes of it, and when, must be the same. */
async function onBoth<T>(script: (place: Place) => Promise<T>): Promise<T> {
  const [ours, theirs] = [await script(twin), await script(sql)];
  expect(ours, "the twin, as PostgreSQL does it").toEqual(theirs);
  return theirs;
}

/** What becomes of it, and after how many seconds. */
async function outcome(place: Place, work: Promise<unknown>): Promise<[string, number]> {
  const { time, record } = place;
  const began = time.runtime.now();
  let code: string | undefined;
  void codeOf(work).then((each) => {
    code = each;
  });
  await time.run(record, 60_000, () => code !== undefined);
  return [code ?? "never", Math.round((time.runtime.now() - began) / 1_000)];
}

async function begin(place: Place, world: World): Promise<void> {
  const { user, device, workspace } = world;
  await place.record.add({
    users: [{ id: user, name: "Ann", email: `${user}@example.org` }],
    devices: [
      {
        id: device,
        workspace_id: workspace,
        owner_id: user,
        last_seen_at: null,
        telemetry: "{}",
        firmware: "",
      },
    ],
  });
  const started = place.a.sessions.start({
    id: world.session,
    jobId: world.job,
    workspaceId: workspace,
    ownerId: user,
    deviceId: device,
    title: "",
    language: "en",
    vocabulary: [],
    workshopId: undefined,
  });
  expect((await outcome(place, started))[0]).toBe("none");
}

async function inMood(
  place: Place,
  mood: Partial<Mood>,
  host: string,
  work: () => Promise<unknown>,
) {
  place.record.moods.set({ ...NO_WAY, ...mood }, host);
  try {
    return await outcome(place, work());
  } finally {
    place.record.moods.set(NO_WAY, host);
  }
}

async function epochOf({ record }: Place, { session }: World): Promise<number | undefined> {
  return (await record.rows("sessions", session))[0]?.epoch;
}

describe("record: moods", () => {
  it("record: the database's time is the simulation's", async () => {
    const world = names();
    await onBoth(async (place) => {
      await begin(place, world);
      await place.time.run(place.record, 100_000);
      const began = place.time.runtime.now();
      await outcome(place, place.b.chunks.store(chunk(world, 0)));
      const [session] = await place.record.rows("sessions", world.session);
      const [stored] = await place.record.rows("chunks", world.session);
      const [command] = await place.record.rows("outbox", world.session);
      return [
        Math.round((session?.started_at ?? 0) / 1_000),
        Math.round(((stored?.uploaded_at ?? 0) - began) / 100),
        Math.round(((command?.created_at ?? 0) - began) / 100_000),
      ];
    });
  });

  it("record: how long ago a device was heard is told by the database's time", async () => {
    const world = names();
    await onBoth(async (place) => {
      await begin(place, world);
      const told: unknown[] = [];
      const ask = async () => {
        const signs = place.b.signs.of(world.session);
        await outcome(place, signs);
        const { heardAgo, chunkAgo } = await signs;
        const seconds = (ms: number | undefined) => ms && Math.round(ms / 1_000);
        told.push([seconds(heardAgo), seconds(chunkAgo)]);
      };
      const heard = { deviceId: world.device, telemetry: '{"battery_percent":50}', firmware: "2" };
      await place.time.run(place.record, 40_000);
      await ask();
      await outcome(place, place.a.heartbeats.record([{ ...heard, ago: 5_000 }]));
      await ask();
      // It was said before what is known already.
      await outcome(place, place.a.heartbeats.record([{ ...heard, ago: 30_000, firmware: "1" }]));
      await ask();
      await outcome(place, place.a.chunks.store(chunk(world, 0)));
      await place.time.run(place.record, 7_000);
      await ask();
      await outcome(place, place.a.streams.take(world.session, SETTINGS));
      await outcome(place, place.a.streams.take(world.session));
      for (const wait of [4_000, 4_000]) {
        await place.time.run(place.record, wait);
        await outcome(place, place.a.signs.streaming([world.session]));
        await ask();
      }
      const [device] = await place.record.rows("devices", world.device);
      return [told, device?.firmware, JSON.parse(device?.telemetry ?? "{}")];
    });
  });

  it("record: an outcome that nobody knows is told as such, whether it landed or not", async () => {
    const world = names();
    const seen = await onBoth(async (place) => {
      await begin(place, world);
      const activate = () => place.a.journal.activate(world.session);
      return {
        lost: await inMood(place, { lost: 1 }, "a", activate),
        before: await epochOf(place, world),
        landed: await inMood(place, { unknown: 1 }, "a", () =>
          place.a.deletion.audioErased(world.session),
        ),
        fine: await outcome(place, activate()),
        after: await epochOf(place, world),
      };
    });
    expect(seen.lost[0]).toBe("unavailable");
  });

  it("record: a statement that takes too long, a deadlock and a standby fail as PostgreSQL's do", async () => {
    const world = names();
    const seen = await onBoth(async (place) => {
      await begin(place, world);
      const activate = () => place.a.journal.activate(world.session);
      return [
        await inMood(place, { timedOut: 1 }, "a", activate),
        await inMood(place, { deadlocked: 1 }, "a", activate),
        await inMood(place, { readOnly: true }, "a", activate),
        await inMood(place, { readOnly: true }, "a", () => place.a.live.snapshot(world.session)),
        await inMood(place, { reach: "refused" }, "a", activate),
        await outcome(place, activate()),
        await epochOf(place, world),
      ];
    });
    expect(seen.slice(0, 3)).toEqual([15, 0, 0].map((seconds) => ["unavailable", seconds]));
  });

  it("record: who stands still with a session's row keeps others waiting until he is given up", async () => {
    const world = names();
    const seen = await onBoth(async (place) => {
      await begin(place, world);
      const { moods } = place.record;
      moods.set({ ...NO_WAY, stalled: 1, stalledBy: 200_000 }, "a");
      const still = codeOf(place.a.journal.activate(world.session));
      // Until its first statement is through.
      moods.set(NO_WAY, "a");
      await place.time.run(place.record, 3);
      moods.set({ ...NO_WAY, stalled: 1, stalledBy: 200_000 }, "a");
      await place.time.run(place.record, 1);
      const other = await outcome(place, place.b.journal.activate(world.session));
      moods.set(NO_WAY, "a");
      await place.time.run(place.record, 300_000);
      return { other, still: await still, epoch: await epochOf(place, world) };
    });
    expect(seen).toMatchObject({ other: ["none", 5], still: "unavailable", epoch: 1 });
  });
});
