import type { NatsConnection } from "nats";
import type { DatabasePool } from "slonik";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { type Runtime, systemRuntime } from "../../src/base/runtime.ts";
import { Stack } from "../../src/base/stack.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { segmentEditRoutes } from "../../src/conversations/transcript/edit-routes.ts";
import { segmentRoutes } from "../../src/conversations/transcript/segments.ts";
import {
  PostgresSegmentEdits,
  SegmentStore,
} from "../../src/conversations/transcript/segments-store.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { CommandSender } from "../../src/nats/command-sender.ts";
import { connectBus } from "../../src/nats/connect.ts";
import { LiveFanout } from "../../src/nats/live-fanout.ts";
import { type MessageBus, NatsMessageBus } from "../../src/nats/message-bus.ts";
import { PartitionOwners } from "../../src/nats/partition-owners.ts";
import { PostgresCommandRecord } from "../../src/postgres/command-outcomes.ts";
import { PostgresLeaseTable, readOwners } from "../../src/postgres/lease-store.ts";
import { SessionBacklog } from "../../src/postgres/outbox.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import { createActors, type SessionHost } from "../../src/roles/actors.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { tryOutsideCommand } from "../../src/session/outside-command.ts";
import { segmentId } from "../../src/session/segments.ts";
import { type CommandReply, decodeJson } from "../../src/wire/envelope.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { startFront, type TestFront } from "./front.ts";
import { startNats } from "./nats.ts";
import { SessionFixture } from "./session-fixture.ts";
import { until } from "./until.ts";
import { verifiedAudio } from "./verified-audio.ts";

/** How long a wish may take here, milliseconds. */
const PATIENCE = 1_500;
const HALF_AN_HOUR = 30 * 60_000;
const SECOND = 16_000;

function skewed(ms: number): Runtime {
  return { ...systemRuntime, now: () => Date.now() + ms };
}

/** A session that is over, with one segment. */
export interface Spoken {
  sessionId: string;
  segmentId: string;
  owner: UserPrincipal;
  workspaceId: string;
}

/**
 * A front and a host of sessions over a real bus, each with a way of its own to the one database
 * and a clock that is off by half an hour: what REST makes of the wishes of people.
 */
export class CommandFixture {
  readonly fixture: SessionFixture;
  /** The ways to PostgreSQL. */
  readonly ways: { front: FaultProxy; host: FaultProxy };
  readonly sender: CommandSender;
  /** The host's answer to a wish that was done does not reach the front; a refusal does. */
  isMute = false;
  readonly #stack: Stack;
  readonly #bus: NatsConnection;
  readonly #front: DatabasePool;
  readonly #host: DatabasePool;
  readonly #callers = new Map<string, UserPrincipal>();
  #server: TestFront | undefined;
  #actors: SessionHost | undefined;

  private constructor(parts: Parts) {
    this.fixture = parts.fixture;
    this.ways = parts.ways;
    this.#stack = parts.stack;
    this.#bus = parts.bus;
    this.#front = parts.front;
    this.#host = parts.host;
    this.sender = new CommandSender({
      line: this.#lineOfFront(),
      owners: new PartitionOwners(() => readOwners(this.#front), systemRuntime),
      record: new PostgresCommandRecord(this.#front),
      runtime: skewed(-HALF_AN_HOUR),
      askTimeout: PATIENCE,
    });
  }

  static async open(): Promise<CommandFixture> {
    const stack = new Stack(silentLog);
    const fixture = await SessionFixture.open();
    stack.push("house", () => fixture.close());
    const nats = await startNats();
    stack.push("nats", () => nats.stop());
    const { url, token } = nats;
    const bus = await connectBus({ url, token, name: "wishes", log: silentLog });
    stack.push("bus", () => bus.close());
    const way = async (name: string): Promise<[FaultProxy, DatabasePool]> => {
      const address = new URL(fixture.serviceUrl);
      const proxy = await FaultProxy.start(name, Number(address.port));
      stack.push(name, () => proxy.stop());
      address.hostname = "127.0.0.1";
      address.port = String(proxy.port);
      const pool = await createPool(address.href, { maximumPoolSize: 8, statementTimeout: 5_000 });
      stack.push(`${name} pool`, () => pool.end());
      return [proxy, pool];
    };
    const [toFront, front] = await way("front");
    const [toHost, host] = await way("host");
    const ways = { front: toFront, host: toHost };
    const wishes = new CommandFixture({ stack, fixture, bus, ways, front, host });
    await wishes.#startHost();
    await wishes.#startFront();
    return wishes;
  }

  close(): Promise<void> {
    for (const way of Object.values(this.ways)) way.heal();
    return this.#stack.stop(10_000);
  }

  #lineOfFront(): MessageBus {
    const line = new NatsMessageBus(this.#bus);
    return {
      publish: (subject, data) => line.publish(subject, data),
      subscribe: (subject, onMessage) => line.subscribe(subject, onMessage),
      request: async (subject, data, ms) => {
        const answer = await line.request(subject, data, ms);
        if (!this.isMute || !(decodeJson(answer) as CommandReply).ok) return answer;
        await systemRuntime.delay(ms);
        throw new AppError("timeout", "There was no answer in time.");
      },
      serve: (subject, onRequest) => line.serve(subject, onRequest),
      flush: () => line.flush(),
      isClosed: () => line.isClosed(),
      onBack: (listener) => line.onBack(listener),
    };
  }

  async #startHost(): Promise<void> {
    const runtime = skewed(HALF_AN_HOUR);
    const pool = this.#host;
    const line = new NatsMessageBus(this.#bus);
    const { host, sweeper, owner, inbox } = createActors({
      host: "host",
      journal: new SessionJournal(pool),
      backlog: new SessionBacklog(pool),
      source: new SessionAudio(pool, verifiedAudio(pool, this.fixture.blobs)),
      transcribers: {
        isCrowded: false,
        open() {
          throw new AppError("unavailable", "There are no workers here.");
        },
      },
      line,
      table: new PostgresLeaseTable(pool, "host"),
      fanout: new LiveFanout(line, runtime),
      leaseMs: 1_500,
      passivateMs: 600_000,
      runtime,
      log: silentLog,
    });
    this.#actors = host;
    host.start();
    inbox.start();
    sweeper.start();
    await owner.start();
    this.#stack.push("inbox", () => inbox.stop());
    this.#stack.push("sweeper", () => sweeper.stop());
    this.#stack.push("actors", () => host.drain());
    this.#stack.push("owner", () => owner.stop());
    await until(() => owner.owned.size === PARTITIONS, "the partitions");
  }

  async #startFront(): Promise<void> {
    this.sender.start();
    this.#stack.push("sender", () => this.sender.stop());
    const segments = new SegmentStore(this.#front);
    const directory = new SessionStore(this.#front);
    const edits = new PostgresSegmentEdits(this.#front);
    const server = await startFront({
      routes: [
        ...segmentRoutes({ directory, segments, cursorKey: Buffer.alloc(32) }),
        ...segmentEditRoutes({ directory, segments, edits, actors: this.sender }),
      ],
      authenticator: {
        authenticate: async ({ authorization }) => {
          const caller = this.#callers.get(authorization ?? "");
          if (caller === undefined) throw new AppError("unauthorized", "Who are you?");
          return caller;
        },
        revalidate: async (principal) => principal,
      },
    });
    this.#server = server;
    this.#stack.push("front", () => server.stop());
  }

  /** Written into the record as an owner before this one left it. */
  async speak(text: string): Promise<Spoken> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#write(text);
      } catch (error) {
        // The host's sweep may find the session before it is written: then another one is taken.
        const isSwept = error instanceof AppError && error.code === "stale_epoch";
        if (!isSwept || tries === 5) throw error;
      }
    }
  }

  async #write(text: string): Promise<Spoken> {
    const { fixture } = this;
    const { device, owner } = await fixture.ownDevice();
    this.#callers.set(`Bearer ${owner.id}`, owner);
    const sessionId = await fixture.start(device, { title: "T" });
    const id = segmentId(sessionId, 1, 0);
    const span = { segmentId: id, start: 0, end: SECOND };
    const events: SessionEvent[] = [
      { type: "SessionStarted", sessionId, jobId: newId(), language: "en" },
      { type: "SegmentFinalised", ...span, label: "S1", cluster: 0, checkpoint: SECOND },
      { type: "SessionStopped", lastSequence: -1 },
      { type: "SessionCompleted" },
    ];
    const words = text
      .split(" ")
      .map((each) => ({ text: each, start: 0, end: SECOND, confidence: 1 }));
    const journal = new SessionJournal(fixture.pool);
    const { epoch = 0, now = 0 } = (await journal.activate(sessionId)) ?? {};
    await journal.append({
      id: sessionId,
      epoch,
      expectedSeq: 0,
      events: events.map((event, index) => ({ seq: index + 1, at: now, event })),
      writes: [{ type: "SegmentText", ...span, attempt: 1, label: "S1", words, confidence: 1 }],
      commandIds: [],
      outcomes: [],
    });
    await fixture.sql("delete from outbox where session_id = $1", [sessionId]);
    const workspaceId = device.workspaceId;
    return { sessionId, segmentId: id, owner, workspaceId };
  }

  /** Hands the host a command as the bus or the sweep does. */
  tell(sessionId: string, command: { type: string }, id: string): Promise<unknown> {
    const known = tryOutsideCommand(command);
    if (this.#actors === undefined || known === undefined) throw new Error("nobody to tell");
    return this.#actors.deliver(sessionId, known, id);
  }

  /** Puts the session away, as after a while without commands. */
  async forget(sessionId: string): Promise<void> {
    const partition = partitionOf(sessionId);
    await this.#actors?.release(partition);
    this.#actors?.own(partition);
  }

  /** PATCHes the segment's text, as its owner. */
  async edit(spoken: Spoken, text: string, key?: string, tag?: string): Promise<WishAnswer> {
    const { sessionId, segmentId, owner } = spoken;
    const response = await fetch(
      `${this.#server?.base}/sessions/${sessionId}/segments/${segmentId}`,
      {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${owner.id}`,
          "content-type": "application/json",
          ...(key === undefined ? {} : { "idempotency-key": key }),
          ...(tag === undefined ? {} : { "if-match": tag }),
        },
        body: JSON.stringify({ text }),
      },
    );
    const body = (await response.json()) as { message?: string; text?: string };
    return { status: response.status, code: response.headers.get("x-error-code"), ...body };
  }

  /** The segment's tag, as a reader has it now. */
  async tag({ sessionId, segmentId, owner }: Spoken): Promise<string> {
    const response = await fetch(
      `${this.#server?.base}/sessions/${sessionId}/segments/${segmentId}`,
      { headers: { authorization: `Bearer ${owner.id}` } },
    );
    return response.headers.get("etag") ?? "";
  }

  /** What the segment says, and how often somebody changed it. */
  async said({ sessionId, segmentId }: Spoken): Promise<{ text: string; edits: number }> {
    const [row] = await this.fixture.sql<{ text: string; edits: number }>(
      `select text, (select count(*)::int from events
         where session_id = $1 and type = 'SegmentRevised') as edits
       from segments where session_id = $1 and id = $2`,
      [sessionId, segmentId],
    );
    return row ?? { text: "", edits: 0 };
  }
}

interface Parts {
  stack: Stack;
  fixture: SessionFixture;
  bus: NatsConnection;
  ways: CommandFixture["ways"];
  front: DatabasePool;
  host: DatabasePool;
}

export interface WishAnswer {
  status: number;
  code: string | null;
  message?: string;
  text?: string;
}
