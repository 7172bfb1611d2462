import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import type { EffectsContext } from "../../src/actor/actor.ts";
import { ActorHost } from "../../src/actor/host.ts";
import { systemClock } from "../../src/base/clock.ts";
import { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { AudioInventoryStore } from "../../src/conversations/transcript/audio-inventories-store.ts";
import { Placement } from "../../src/inference/placement.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { WorkerTranscribers } from "../../src/inference/worker-transcribers.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import { SessionRecognition } from "../../src/recognition/session-recognition.ts";
import { StreamTails } from "../../src/recognition/stream-tail.ts";
import { TranscriptionPositions } from "../../src/recognition/transcription-positions-store.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { tryOutsideCommand } from "../../src/session/outside-command.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import type { TransientFrame } from "../../src/wire/live-frames.ts";
import type { WorkerAnnouncement } from "../../src/wire/worker-announcement.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool, type ThreadPoolOptions } from "../../workers/threads/pool.ts";
import { SessionFixture } from "./session-fixture.ts";
import { until } from "./until.ts";
import { verifiedAudio } from "./verified-audio.ts";
import { WORKER_KEY } from "./worker-key.ts";

type Host = ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>;

const ENTRY = new URL("./poison-thread-entry.ts", import.meta.url);
const PROCESS = fileURLToPath(new URL("./poison-worker.ts", import.meta.url));
const ANNOUNCE_MS = 300;
const PCM = "audio/pcm;rate=16000;channels=1;encoding=s16le";

/** A worker in this process, announced to the placement as long as it runs. */
export interface FixtureWorker {
  readonly pool: ThreadPool;
  readonly address: string;
  /** Announced no more, and ended. */
  stop(): Promise<void>;
}

/** Sessions with real actors, journal and workers; only the message bus is left out. */
export class ReadingFixture {
  readonly fixture: SessionFixture;
  readonly placement = new Placement({ runtime: systemRuntime, silenceMs: 60_000 });
  readonly client: WorkerClient;
  /** What viewers would be shown and nobody keeps. */
  readonly frames: TransientFrame[] = [];
  /** Readings that may still be opened. */
  opens = Number.POSITIVE_INFINITY;
  readonly #transcribers: WorkerTranscribers;
  #stops: (() => Promise<void> | void)[] = [];
  #host: Host;

  private constructor(fixture: SessionFixture) {
    this.fixture = fixture;
    this.client = new WorkerClient();
    this.#transcribers = new WorkerTranscribers(this.placement, this.client, WORKER_KEY);
    this.#host = this.#createHost();
    fixture.notify = async (rows) => {
      for (const { sessionId, command, id } of rows) {
        const known = tryOutsideCommand(command);
        // The sweep has it, where this is refused.
        if (known !== undefined) await this.#host.deliver(sessionId, known, id).catch(() => {});
      }
    };
  }

  static async open(): Promise<ReadingFixture> {
    return new ReadingFixture(await SessionFixture.open());
  }

  async close(): Promise<void> {
    await this.#host.drain();
    for (const stop of this.#stops.reverse()) await stop();
    this.client.close();
    await this.fixture.close();
  }

  /** Another host takes all sessions over, as after the end of its process. */
  async takeOver(sessionIds: readonly string[]): Promise<void> {
    const before = this.#host;
    this.#host = this.#createHost();
    for (const partition of before.owned) await before.lose(partition);
    for (const id of sessionIds) await this.#host.activate(id);
  }

  #createHost(): Host {
    const { pool, blobs } = this.fixture;
    const source = new SessionAudio(pool, verifiedAudio(pool, blobs));
    const transcribers = {
      isCrowded: false,
      open: () => {
        if (this.opens <= 0) throw new AppError("unavailable", "Held back by the test.");
        const stream = this.#transcribers.open({ language: "en", mayLeave: false });
        this.opens -= 1;
        return stream;
      },
    };
    const tails = new StreamTails({ follow: () => () => {} }, source);
    const positions = new TranscriptionPositions(pool, silentLog, systemRuntime);
    const createEffects = ({ id, send }: EffectsContext<SessionCommand>) => [
      new SessionRecognition({
        sessionId: id,
        source,
        transcribers,
        tails,
        log: silentLog,
        runtime: systemRuntime,
        notify: send,
        readTo: (session, samples) => positions.note(session, samples),
        publish: (frame) => this.frames.push(frame),
      }),
    ];
    const host: Host = new ActorHost({
      activation: {
        behaviour: sessionBehaviour,
        journal: new SessionJournal(pool),
        createEffects,
        runtime: systemRuntime,
        log: silentLog,
        mailboxCapacity: 1_024,
        batchSize: 64,
        snapshotEvery: 200,
        appendAttempts: 8,
      },
      maxActivations: 100,
      passivateAfter: 600_000,
      sweepEvery: 600_000,
    });
    for (let partition = 0; partition < PARTITIONS; partition += 1) host.own(partition);
    return host;
  }

  async startWorker(options: Partial<ThreadPoolOptions> = {}): Promise<FixtureWorker> {
    const pool = new ThreadPool({
      threads: 1,
      sessionsPerThread: 8,
      entry: ENTRY,
      clock: systemClock,
      log: silentLog,
      // A busy machine is no silent thread.
      silenceMs: 60_000,
      ...options,
    });
    await pool.start();
    const workerId = `worker-${this.#stops.length}`;
    const server = new WorkerServer({
      workerId,
      version: "0.0.0",
      host: "127.0.0.1",
      port: 0,
      key: WORKER_KEY,
      pool,
      log: silentLog,
    });
    const address = `127.0.0.1:${await server.start()}`;
    const announced = this.#announce(() => ({
      ...announcementOf(workerId, address),
      capacity: pool.capacity,
      sessions: pool.sessions,
    }));
    const stop = async (): Promise<void> => {
      announced();
      await server.stop(0);
      await pool.stop();
    };
    this.#stops.push(stop);
    return { pool, address, stop };
  }

  /** A worker process that is started again whenever it ends. */
  async startProcess(): Promise<{ readonly pid: number; readonly starts: number }> {
    const run = { child: undefined as ChildProcess | undefined, starts: 0, ended: false };
    let announced: (() => void) | undefined;
    const start = async (): Promise<void> => {
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", PROCESS], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      run.child = child;
      child.once("exit", () => {
        announced?.();
        if (!run.ended) void start();
      });
      for await (const line of createInterface({ input: child.stdout })) {
        run.starts += 1;
        announced?.();
        const one = announcementOf(`process-${child.pid}`, `127.0.0.1:${line}`);
        announced = this.#announce(() => one);
      }
    };
    void start();
    this.#stops.push(async () => {
      run.ended = true;
      announced?.();
      if (run.child?.exitCode !== null || run.child.signalCode !== null) return;
      const exited = once(run.child, "exit");
      run.child.kill("SIGKILL");
      await exited;
    });
    await until(() => run.starts === 1, "the worker process", 60_000);
    return {
      get pid() {
        return run.child?.pid ?? 0;
      },
      get starts() {
        return run.starts;
      },
    };
  }

  /** Returns how to fall silent. */
  #announce(describe: () => WorkerAnnouncement): () => void {
    const tell = (): void => this.placement.update(describe());
    tell();
    const timer = setInterval(tell, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }

  async begin(): Promise<{ device: DevicePrincipal; sessionId: string }> {
    const { device } = await this.fixture.ownDevice();
    return { device, sessionId: await this.fixture.start(device, {}) };
  }

  async upload(
    device: DevicePrincipal,
    sessionId: string,
    sequence: number,
    pcm: Buffer,
  ): Promise<void> {
    await this.fixture.upload(device, sessionId, sequence, pcm, { mediaType: PCM });
  }

  async stop(device: DevicePrincipal, lastSequence: number): Promise<void> {
    await this.fixture.stop(device, { last_chunk_sequence: lastSequence });
  }

  /** A session whose device has sent these chunks and stopped. */
  async record(chunks: readonly Buffer[]): Promise<{ device: DevicePrincipal; sessionId: string }> {
    const { device, sessionId } = await this.begin();
    for (const [sequence, pcm] of chunks.entries()) {
      await this.upload(device, sessionId, sequence, pcm);
    }
    await this.stop(device, chunks.length - 1);
    return { device, sessionId };
  }

  async completed(sessionId: string, ms = 100_000): Promise<void> {
    await until(
      async () => {
        const [row] = await this.fixture.sql<{ status: string }>(
          "select status from sessions where id = $1",
          [sessionId],
        );
        return row?.status === "completed";
      },
      "the session to be complete",
      ms,
    );
  }

  /** Status of each chunk, in order. */
  async statuses(sessionId: string): Promise<string[]> {
    const rows = await this.fixture.sql<{ status: string }>(
      "select status from chunks where session_id = $1 order by sequence",
      [sessionId],
    );
    return rows.map(({ status }) => status);
  }

  /** As the session's completeness tells it, in milliseconds. */
  async lag(sessionId: string): Promise<number> {
    const inventory = await new AudioInventoryStore(this.fixture.pool).of(sessionId);
    return inventory.lagMs;
  }

  async words(sessionId: string): Promise<string[]> {
    const rows = await this.fixture.sql<{ text: string }>(
      "select text from segments where session_id = $1 order by start_sample",
      [sessionId],
    );
    return rows.map(({ text }) => text);
  }
}

function announcementOf(workerId: string, address: string): WorkerAnnouncement {
  return {
    worker_id: workerId,
    address,
    capacity: 8,
    sessions: 0,
    version: "0.0.0",
    engines: ["poison"],
    draining: false,
  };
}
