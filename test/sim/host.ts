import { createHash } from "node:crypto";
import { isAppError, toAppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { SessionErasure } from "../../src/conversations/erasure/session-erasure.ts";
import { Maintenance } from "../../src/conversations/jobs/maintenance.ts";
import type { NewChunk } from "../../src/conversations/recording/chunk-store.ts";
import { AudioRedaction } from "../../src/conversations/transcript/redaction.ts";
import { FeedRegistry } from "../../src/live/feed-registry.ts";
import { metadataOf } from "../../src/live/frames.ts";
import { renderFrames } from "../../src/live/render.ts";
import { CommandSender } from "../../src/nats/command-sender.ts";
import { LiveFanout } from "../../src/nats/live-fanout.ts";
import { PartitionOwners } from "../../src/nats/partition-owners.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import { type ActorOptions, type Actors, createActors } from "../../src/roles/actors.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import type { HostRecord, SimRecord } from "../support/record/sim-record.ts";
import type { SimBlobs } from "./blobs.ts";
import type { Desk } from "./desk.ts";
import type { Duels } from "./duels.ts";
import type { Broker, BrokerBus } from "./kernel/broker.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { Machine } from "./kernel/machine.ts";
import { fromPcm, toPcm } from "./speech.ts";
import type { Story } from "./story.ts";
import { HostStreams, type StreamRecord } from "./streams.ts";
import { TRACK_TYPE } from "./track.ts";
import type { Wish } from "./wish.ts";
import { SimTranscribers, type WorkerPool } from "./worker.ts";

export const LEASE_MS = 3_000;
const PASSIVATE_MS = 60_000;
/** As viewers of the service have them. */
const QUIET_MS = 15_000;

/** What a host runs on and among. */
export interface HostWorld {
  readonly kernel: Kernel;
  readonly broker: Broker;
  readonly record: SimRecord;
  readonly blobs: SimBlobs;
  readonly pool: WorkerPool;
  readonly desk: Desk;
  readonly duels: Duels;
  readonly story: Story;
  logOf(host: string): Log;
  count(what: string): void;
  /** The same ports, broken as this run has it. */
  bend(actors: () => Actors, ports: ActorOptions): ActorOptions;
  bendStreams(record: StreamRecord): StreamRecord;
}

/** One process of the service: a front and a host of session actors, as production puts them together. */
export class SimHost {
  readonly name: string;
  readonly machine: Machine;
  readonly line: BrokerBus;
  readonly record: HostRecord;
  readonly commands: CommandSender;
  readonly feeds: FeedRegistry;
  readonly actors: Actors;
  readonly streams: HostStreams;
  readonly #world: HostWorld;
  readonly #erasure: SessionErasure;
  readonly #chores: Maintenance;
  #isLeaving = false;

  constructor(world: HostWorld, name: string) {
    this.#world = world;
    this.name = name;
    const machine = new Machine(name, world.kernel);
    this.machine = machine;
    this.line = world.broker.connect(machine);
    const log = world.logOf(name);
    this.record = world.record.host(name, machine, {
      readBytes: async (id, sha256) => (await world.blobs.read(machine, id, sha256)).data,
      readLog: (id, name) => world.blobs.readLog(machine, id, name),
      onFenced: () => world.count("fenced appends"),
    });
    this.commands = new CommandSender({
      line: this.line,
      owners: new PartitionOwners(this.record.owners, machine),
      record: this.record.commands,
      runtime: machine,
    });
    const fanout = new LiveFanout(this.line, machine);
    this.feeds = this.#createFeeds(fanout, log);
    this.streams = new HostStreams({
      record: { ...world.bendStreams(this.record), signs: this.record.signs },
      line: this.line,
      blobs: world.blobs,
      fanout,
      notifier: { notify: async (rows) => this.#notify(rows) },
      log,
    });
    this.#erasure = this.#createErasure(fanout, log);
    this.#chores = this.#createMaintenanceTasks(log);
    const { journal, backlog, audio } = this.record;
    this.actors = createActors(
      world.bend(() => this.actors, {
        host: name,
        journal: world.story.told(world.duels.watched(journal, name), name),
        backlog,
        source: audio,
        transcribers: new SimTranscribers(world.pool, machine),
        line: this.line,
        table: this.record.leases,
        fanout,
        signs: this.record.signs,
        leaseMs: LEASE_MS,
        passivateMs: PASSIVATE_MS,
        runtime: machine,
        log,
      }),
    );
  }

  /** It takes requests. */
  get isUp(): boolean {
    return !this.machine.isDead && !this.#isLeaving;
  }

  start(): void {
    const { host, inbox, sweeper, owner } = this.actors;
    this.machine.enter(() => {
      this.commands.start();
      host.start();
      inbox.start();
      sweeper.start();
      void owner.start();
      this.streams.start();
      this.#chores.start();
    });
  }

  /** The process ends without a word. */
  kill(): void {
    this.machine.kill();
    this.record.kill();
    this.line.close();
  }

  /** In good order, as when it is told to stop. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    const { host, inbox, sweeper, owner } = this.actors;
    await Promise.race([this.streams.stop(), this.machine.delay(10_000)]);
    await Promise.race([this.#chores.stop(), this.machine.delay(3_000)]);
    await Promise.race([owner.stop(), this.machine.delay(10_000)]);
    await Promise.race([host.drain(), this.machine.delay(3_000)]);
    await Promise.race([sweeper.stop(), this.machine.delay(3_000)]);
    inbox.stop();
    this.commands.stop();
    this.kill();
  }

  // ── what the front does with a request ──

  async begin(session: Parameters<HostRecord["sessions"]["start"]>[0]): Promise<void> {
    const { outbox } = await this.record.sessions.start(session);
    this.#notify(outbox);
  }

  async upload(chunk: NewChunk, data: Buffer): Promise<void> {
    const { chunks } = this.record;
    const known = await chunks.find(chunk.sessionId, chunk.sequence, chunk.sha256);
    if (known !== undefined) return;
    const isTrack = chunk.mediaType === TRACK_TYPE;
    await this.#world.blobs.put(this.machine, chunk.sessionId, chunk.sha256, { data, isTrack });
    const { outbox } = await chunks.store(chunk);
    this.#notify(outbox);
  }

  async stop(sessionId: string, lastSequence: number | undefined): Promise<void> {
    const request = { deviceId: undefined, sessionId, lastSequence };
    const { outbox } = await this.record.sessions.stop(request);
    this.#notify(outbox);
  }

  async heartbeat(deviceId: string): Promise<void> {
    const beat = { deviceId, ago: 0, telemetry: undefined, firmware: undefined };
    await this.record.heartbeats.record([beat]);
  }

  async ask({ sessionId, command, text }: Wish, id: string): Promise<unknown> {
    if (command.type === "EditSegment" && text !== undefined) {
      const { editId, segmentId, byUserId } = command;
      const edit = { id: editId, sessionId, segmentId, text, byUserId };
      // Asked again, it is there already.
      await this.record.edits.put(edit).catch((error: unknown) => {
        if (!isAppError(error, "internal")) throw error;
      });
    }
    if (command.type === "SummaryStored" || command.type === "GuestStored") {
      this.#notify(await this.#world.desk.tell(sessionId, command));
      return undefined;
    }
    return this.commands.ask(sessionId, { ...command }, id);
  }

  async erase(sessionId: string): Promise<void> {
    await this.#erasure.erase(sessionId, "session_deleted_by_owner", { kind: "system" });
  }

  /** What every process does again and again, as production has it. */
  #createMaintenanceTasks(log: Log): Maintenance {
    const { machine } = this;
    const { blobs } = this.#world;
    const files = {
      read: async (id: string, sha256: string) => {
        const { data, isTrack } = await blobs.read(machine, id, sha256);
        return isTrack ? data : toPcm(data);
      },
      // No simulated device sends compressed sound.
      wave: async () => undefined,
      replace: async (id: string, sha256: string, bytes: Uint8Array) => {
        const { isTrack } = await blobs.read(machine, id, sha256);
        const data = isTrack ? Buffer.from(bytes) : fromPcm(bytes);
        await blobs.replace(machine, id, sha256, { data, isTrack });
      },
    };
    const redaction = new AudioRedaction(this.record.redactions, files, log, {
      clock: machine,
      // A thread would answer at another moment in each run.
      hash: async (bytes) => createHash("sha256").update(bytes).digest("hex"),
    });
    return new Maintenance(
      [
        { name: "redacted audio", every: 1_000, run: () => redaction.run() },
        {
          name: "abandoned streams",
          every: 5_000,
          run: () => this.streams.assembler.assembleAbandoned(),
        },
        { name: "audio of deleted sessions", every: 10_000, run: () => this.#erasure.finish() },
      ],
      log,
      machine,
    );
  }

  #createErasure(fanout: LiveFanout, log: Log): SessionErasure {
    const { machine } = this;
    return new SessionErasure({
      records: this.record.deletion,
      eraseAudio: (id) => this.#world.blobs.delete(machine, id),
      ledger: { record: async () => {} },
      publish: (id, { seq, at }) => {
        const record = { seq, at, event: { type: "SessionDeleted", kind: "" } } as const;
        fanout.publish(id, renderFrames(id, [record], new Map(), new Map()));
      },
      wake: async (id) => this.commands.post(id, { type: "Wake" }, machine.newId()),
      revocations: { publish: () => {} },
      clock: machine,
      log,
    });
  }

  #notify(rows: readonly OutboxRow[]): void {
    for (const { id, sessionId, command } of rows) {
      try {
        this.commands.post(sessionId, command, id);
      } catch (error) {
        // What is committed is safe: the sweep delivers it.
        if (toAppError(error).code === "internal") throw error;
      }
    }
  }

  #createFeeds(fanout: LiveFanout, log: Log): FeedRegistry {
    const { live } = this.record;
    return new FeedRegistry({
      source: {
        follow: (sessionId, onFrames, onDoubt) => fanout.follow(sessionId, onFrames, onDoubt),
        replay: (sessionId, fromSeq, limit) => live.replay(sessionId, fromSeq, limit),
        snapshot: (sessionId) => live.snapshot(sessionId),
        beat: (sessionId) => live.beat(sessionId),
      },
      runtime: this.machine,
      log,
      tickMs: 50,
      recent: 64,
      readTimeoutMs: 5_000,
      quietMs: QUIET_MS,
      encode: (frame: ServerFrame) => ({ ...metadataOf(frame), bytes: Buffer.of(), frame }),
    });
  }
}
