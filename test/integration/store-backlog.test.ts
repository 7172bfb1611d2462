import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { BacklogCommand } from "../../src/actor/backlog.ts";
import { ActorHost } from "../../src/actor/host.ts";
import { Sweeper, type SweeperOptions } from "../../src/actor/sweeper.ts";
import { MOST_ATTEMPTS, OPEN_WORK_PAGE, QUEUE_HEAD } from "../../src/base/backlog-limits.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { SessionBacklog } from "../../src/postgres/outbox.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";
import { until } from "../support/until.ts";

type Host = ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>;

const EVERY_PARTITION = Array.from({ length: PARTITIONS }, (_, n) => n);

describe("backlog", () => {
  let fixture: SessionFixture;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    await fixture.sql("delete from outbox");
    await fixture.sql("update sessions set has_work = false, work_seq = seq");
  });
  afterAll(() => fixture.close());

  function sweep(parts: Partial<SweeperOptions>): Sweeper {
    const sweeper = new Sweeper({
      backlog: new SessionBacklog(fixture.pool),
      owned: () => EVERY_PARTITION,
      activate: async () => undefined,
      active: () => [],
      end: async () => {},
      deliver: async () => undefined,
      runtime: systemRuntime,
      log: silentLog,
      every: 10,
      olderThan: 0,
      ...parts,
    });
    sweeper.start();
    stops.push(() => sweeper.stop());
    return sweeper;
  }

  /** A host with all sessions, whose effects are noted down and do nothing. */
  function createHost(begun: Map<string, Readonly<SessionState>>): Host {
    const host: Host = new ActorHost({
      activation: {
        behaviour: sessionBehaviour,
        journal: new SessionJournal(fixture.pool),
        createEffects: ({ id }) => [
          {
            start: (state) => void begun.set(id, state),
            after: () => {},
            busy: () => false,
            stop: async () => {},
          },
        ],
        runtime: systemRuntime,
        log: silentLog,
        mailboxCapacity: 100,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
      },
      maxActivations: 1_000,
      passivateAfter: 600_000,
      sweepEvery: 600_000,
    });
    for (const partition of EVERY_PARTITION) host.own(partition);
    stops.push(() => host.drain());
    return host;
  }

  async function startSession(): Promise<string> {
    const { device } = await fixture.ownDevice();
    return fixture.start(device);
  }

  /** One with a chunk of a second, read to its end. */
  async function completedSession(): Promise<string> {
    const sessionId = await startSession();
    await fixture.sql("delete from outbox where session_id = $1", [sessionId]);
    const story = await SessionStory.open(fixture, sessionId);
    const [{ job_id: jobId } = { job_id: "" }] = await fixture.sql<{ job_id: string }>(
      "select job_id from sessions where id = $1",
      [sessionId],
    );
    const chunk = { chunkId: newId(), sequence: 0 };
    await story.tell([
      { type: "SessionStarted", sessionId, jobId, language: "en" },
      { type: "ChunkReceived", ...chunk, frames: 16_000, sampleRate: 16_000 },
      { type: "ChunkPlaced", ...chunk, start: 0, length: 16_000 },
      { type: "SessionStopped", lastSequence: 0 },
      { type: "ChunkTranscribed", ...chunk },
      { type: "JobCompleted", jobId, attempt: 1, segmentCount: 0, speakerCount: 0, durationMs: 1 },
      { type: "SessionCompleted" },
    ]);
    return sessionId;
  }

  /** Commands that were lost on their way an hour ago. */
  async function lose(sessionId: string, count: number, since = "1 hour"): Promise<void> {
    await fixture.sql("delete from outbox where session_id = $1", [sessionId]);
    const ids = Array.from({ length: count }, () => newId());
    await fixture.sql(
      `insert into outbox (id, session_id, command, created_at, not_before)
       select id, $2, '{"type": "AudioOpened", "sequence": 0}',
         now() - $3::interval, now() - $3::interval
       from unnest($1::uuid[]) as id`,
      [ids, sessionId, since],
    );
  }

  async function outbox(sessionId: string): Promise<Record<string, unknown>[]> {
    return fixture.sql("select * from outbox where session_id = $1", [sessionId]);
  }

  const carryOut = async ({ id }: BacklogCommand): Promise<void> => {
    await fixture.sql("delete from outbox where id = $1", [id]);
  };

  it("backlog: a redo that its host left behind is taken up by the next one, unasked", async () => {
    const sessionId = await completedSession();
    const first = createHost(new Map());
    await first.deliver(sessionId, { type: "Redo", byUserId: newId() }, newId());
    for (const partition of first.owned) await first.lose(partition);
    const begun = new Map<string, Readonly<SessionState>>();
    const next = createHost(begun);
    const sweeper = sweep({ activate: (id) => next.activate(id) });
    for (const partition of EVERY_PARTITION) sweeper.taken(partition);
    await until(() => begun.get(sessionId)?.redo !== undefined, "the redo to be taken up");
  });

  it("backlog: activations end whose session was deleted or taken over, though nobody tells them", async () => {
    const sessions = [await startSession(), await startSession(), await startSession()];
    const [deleted = "", overtaken = "", active = ""] = sessions;
    const host = createHost(new Map());
    for (const id of sessions) await host.activate(id);
    await fixture.sql("update sessions set status = 'deleted' where id = $1", [deleted]);
    await new SessionJournal(fixture.pool).activate(overtaken);
    sweep({ active: () => host.active, end: (each, isDeleted) => host.end(each, isDeleted) });
    await until(() => host.size === 1, "two of three to end");
    expect(host.active.map(({ id }) => id)).toEqual([active]);
  });

  it("backlog: sessions that have nothing left to do are not taken up, and their actors say so", async () => {
    const sessionId = await completedSession();
    const hasWork = () =>
      fixture.sql<{ has_work: boolean }>("select has_work from sessions where id = $1", [
        sessionId,
      ]);
    // Written by a release that did not say.
    expect(await hasWork()).toEqual([{ has_work: true }]);
    const begun = new Map<string, Readonly<SessionState>>();
    const host = createHost(begun);
    const sweeper = sweep({ activate: (id) => host.activate(id) });
    sweeper.taken(partitionOf(sessionId));
    await until(async () => (await hasWork())[0]?.has_work === false, "the actor to say so");
    const backlog = new SessionBacklog(fixture.pool);
    const places = [{ partition: partitionOf(sessionId), after: undefined }];
    expect(await backlog.openWork(places)).toEqual([]);
    // An edit is no work; the beginning of a redo is.
    await host.deliver(sessionId, { type: "Redo", byUserId: newId() }, newId());
    expect(await hasWork()).toEqual([{ has_work: true }]);
    await host.deliver(sessionId, { type: "CancelRedo", byUserId: newId() }, newId());
    expect(await hasWork()).toEqual([{ has_work: false }]);
  });

  it("backlog: the record finds the partition of a session by its id as we do", async () => {
    const ids = Array.from({ length: 200 }, () => newId());
    const rows = await fixture.sql<{ id: string; partition: number }>(
      "select id, partition_of(id) as partition from unnest($1::uuid[]) as ids (id)",
      [[...ids, "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-0000000003ff"]],
    );
    expect(rows.map(({ partition }) => partition)).toEqual(rows.map(({ id }) => partitionOf(id)));
    expect(Math.max(...rows.map(({ partition }) => partition))).toBe(PARTITIONS - 1);
  });

  it("backlog: commands are found in whichever partitions they wait, and no others are looked at", async () => {
    const sessions = await Promise.all(Array.from({ length: 5 }, () => startSession()));
    const waiting = await new SessionBacklog(fixture.pool).waiting();
    const partitions = new Set(sessions.map((id) => partitionOf(id)));
    expect(waiting).toEqual([...partitions].sort((a, b) => a - b));
  });

  it("backlog: more sessions than a page holds are all taken up", async () => {
    const count = 2 * OPEN_WORK_PAGE + 1;
    const [{ id: like } = { id: "" }] = await fixture.sql<{ id: string }>(
      "select id from sessions",
    );
    const ids = Array.from({ length: count }, () => `${newId().slice(0, -3)}${like.slice(-3)}`);
    await fixture.sql(
      `insert into sessions (id, workspace_id, owner_id, job_id, status)
       select n.id, workspace_id, owner_id, job_id, 'processing'
       from sessions, unnest($2::uuid[]) as n (id) where sessions.id = $1`,
      [like, ids],
    );
    const activated = new Set<string>();
    const sweeper = sweep({ every: 60_000, activate: async (id) => activated.add(id) });
    sweeper.taken(partitionOf(like));
    await until(() => activated.size === count, "all of them");
    expect([...activated].sort()).toEqual(ids.sort());
  });

  it("backlog: a session that cannot be loaded costs the others nothing", async () => {
    const [broken, whole] = [await startSession(), await startSession()];
    await lose(broken, 0);
    await lose(whole, 0);
    let looks = 0;
    const backlog = new SessionBacklog(fixture.pool);
    const delivered = new Map<string, number>();
    const activated: string[] = [];
    const sweeper = sweep({
      olderThan: 60_000,
      backlog: {
        openWork: (places) => {
          looks += 1;
          return backlog.openWork(places);
        },
        waiting: () => backlog.waiting(),
        queues: (places) => backlog.queues(places),
        commandsTo: (id) => backlog.commandsTo(id),
        failed: (failure) => backlog.failed(failure),
        ended: (active) => backlog.ended(active),
      },
      activate: async (id) => {
        activated.push(id);
        if (id === broken) throw new AppError("overloaded", "This host is full.");
      },
      deliver: async ({ id }) => {
        delivered.set(id, (delivered.get(id) ?? 0) + 1);
      },
    });
    await lose(whole, 1, "0 s");
    sweeper.taken(partitionOf(broken));
    sweeper.taken(partitionOf(whole));
    await until(() => activated.filter((id) => id === broken).length >= 3, "three tries");
    expect(activated.filter((id) => id === whole).length).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(2);
    expect([...delivered.values()]).toEqual([1]);
  });

  it("backlog: a session whose commands all fail keeps no command of another waiting", async () => {
    const [poisoned, whole] = [await startSession(), await startSession()];
    await lose(poisoned, 1_200);
    await lose(whole, 1, "10 s");
    const tried = new Map<string, number>();
    sweep({
      deliver: async (command) => {
        tried.set(command.id, (tried.get(command.id) ?? 0) + 1);
        if (command.sessionId === poisoned) throw new TypeError("poison");
        await carryOut(command);
      },
    });
    await until(async () => (await outbox(whole)).length === 0, "the other's command", 5_000);
    // Each of them rested after it had failed.
    await until(async () => tried.size === 1_201, "all commands to be tried");
    expect(Math.max(...tried.values())).toBeLessThanOrEqual(3);
  });

  it("backlog: a command that fails time and again is parked, and said so; the next ones go on", async () => {
    const sessionId = await startSession();
    await lose(sessionId, 1);
    const backlog = new SessionBacklog(fixture.pool);
    const [{ id } = { id: "" }] = await outbox(sessionId);
    const failure = { sessionId, ids: [String(id)], reason: "internal: poison" };
    for (let times = 1; times < MOST_ATTEMPTS; times += 1) {
      expect(await backlog.failed(failure)).toEqual([]);
    }
    expect(await outbox(sessionId)).toMatchObject([{ attempts: 9, parked_at: null }]);
    expect(await backlog.failed(failure)).toEqual([{ id, type: "AudioOpened" }]);
    expect(await backlog.failed(failure)).toEqual([]);
    expect(await outbox(sessionId)).toMatchObject([
      { attempts: 10, parked_at: expect.any(Date), parked_reason: "internal: poison" },
    ]);
    expect(await backlog.commandsTo(sessionId)).toEqual([]);
    const delivered: string[] = [];
    sweep({
      deliver: async (command) => {
        delivered.push(command.id);
        await carryOut(command);
      },
    });
    await fixture.sql(
      `insert into outbox (id, session_id, command)
       values ($1, $2, '{"type": "AudioOpened", "sequence": 1}')`,
      [newId(), sessionId],
    );
    await until(() => delivered.length === 1, "the next command");
    expect(delivered).not.toContain(id);
    expect(await outbox(sessionId)).toHaveLength(1);
  });

  it("backlog: rests grow with each failure, and a session that cannot be loaded rests as a whole", async () => {
    const sessionId = await startSession();
    await lose(sessionId, QUEUE_HEAD + 3);
    const backlog = new SessionBacklog(fixture.pool);
    const rests: number[] = [];
    for (let times = 1; times < MOST_ATTEMPTS; times += 1) {
      await backlog.failed({ sessionId, ids: undefined, reason: "internal: snapshot" });
      const rows = await fixture.sql<{ rest: number }>(
        `select distinct round(extract(epoch from not_before - now()))::int as rest
         from outbox where session_id = $1`,
        [sessionId],
      );
      expect(rows).toHaveLength(1);
      rests.push(rows[0]?.rest ?? 0);
    }
    expect(rests.map((rest) => 2 ** Math.round(Math.log2(rest)))).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128, 256,
    ]);
    const places = [{ partition: partitionOf(sessionId), after: undefined, olderThan: 0 }];
    expect(await backlog.queues(places)).toEqual([
      { partition: partitionOf(sessionId), sessionId, commands: [] },
    ]);
    const parked = await backlog.failed({ sessionId, ids: undefined, reason: "internal" });
    expect(parked).toHaveLength(QUEUE_HEAD + 3);
    expect(await backlog.queues(places)).toEqual([]);
  });
});
