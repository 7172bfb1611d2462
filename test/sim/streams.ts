import { AppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { FragmentLogs } from "../../src/conversations/recording/audio-files/fragment-logs.ts";
import type {
  BlobStore,
  FragmentLogStore,
} from "../../src/conversations/recording/audio-store/audio-store.ts";
import { ChunkAssembler } from "../../src/conversations/recording/chunk-assembler.ts";
import { AudioStreams } from "../../src/conversations/recording/stream-routes.ts";
import type { StreamOrder } from "../../src/conversations/recording/streams.ts";
import { DeviceSocket, type DeviceSocketOptions } from "../../src/http/sockets/device-socket.ts";
import { DEFAULT_LIVE_LIMITS } from "../../src/http/sockets/live-limits.ts";
import type { Connection } from "../../src/http/sockets/live-socket.ts";
import { BusAudio, BusStreamNotices } from "../../src/nats/live-audio.ts";
import type { LiveFanout } from "../../src/nats/live-fanout.ts";
import type { CommandNotifier } from "../../src/postgres/outbox.ts";
import { CLOSE } from "../../src/wire/close-codes.ts";
import type { HostRecord } from "../support/record/sim-record.ts";
import { NO_MENDING } from "../support/verified-audio.ts";
import type { SimBlobs } from "./blobs.ts";
import type { BrokerBus } from "./kernel/broker.ts";

/** What is on record of streams, for one host. */
export type StreamRecord = Pick<HostRecord, "streams" | "openChunks">;

/** Of the host that has them. */
export interface HostStreamsParts {
  record: StreamRecord & Pick<HostRecord, "signs">;
  line: BrokerBus;
  blobs: SimBlobs;
  fanout: LiveFanout;
  notifier: CommandNotifier;
  log: Log;
}

/** The streams of devices at one host, as production puts them together. */
export class HostStreams {
  readonly assembler: ChunkAssembler;
  readonly #logs: FragmentLogs;
  readonly #streams: AudioStreams;
  readonly #socketParts: DeviceSocketOptions;
  readonly #sockets = new Set<DeviceSocket>();

  constructor(parts: HostStreamsParts) {
    const { record, line, notifier, log, fanout } = parts;
    const { machine: runtime } = line;
    const blobs = toBlobStore(parts);
    this.#logs = new FragmentLogs({ store: toLogStore(parts), runtime, log });
    this.assembler = new ChunkAssembler({
      openChunks: record.openChunks,
      blobs,
      logs: this.#logs,
      notifier,
      mending: NO_MENDING,
      runtime,
      log,
    });
    this.#streams = new AudioStreams({
      store: record.streams,
      logs: this.#logs,
      assembler: this.assembler,
      live: new BusAudio(line),
      notices: new BusStreamNotices(line),
      signs: record.signs,
      notifier,
      backlog: { check: () => {} },
      runtime,
      log,
    });
    this.#socketParts = {
      streams: {
        open: (_device, order, events) => this.#open(order, events),
        discard: () => Promise.resolve(),
        mayRead: () => Promise.resolve(false),
        heartbeats: { hear: () => Promise.resolve([]), seen: () => {} },
      },
      feeds: {
        acquire: () => {
          throw new AppError("forbidden", "Devices of this world read nothing.");
        },
        release: () => {},
      },
      replays: { turn: () => Promise.resolve(true) },
      source: { follow: (id, onFrames) => fanout.follow(id, onFrames) },
      authenticator: { revalidate: (principal) => Promise.resolve(principal) },
      limits: DEFAULT_LIVE_LIMITS,
      runtime,
      log,
    };
  }

  start(): void {
    this.#streams.start();
  }

  /** In good order. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.close(CLOSE.goingAway, "The service is stopping.");
    await this.#streams.stop();
    await this.#logs.stop();
  }

  /** A device has connected. */
  connect(deviceId: string, connection: Connection): DeviceSocket {
    const socket = new DeviceSocket(this.#socketParts, connection, {
      kind: "device",
      id: deviceId,
      keyId: "key",
      workspaceId: "workspace",
      ownerId: "owner",
      expiresAt: Number.MAX_SAFE_INTEGER,
    });
    this.#sockets.add(socket);
    return socket;
  }

  /** Its connection is gone. */
  left(socket: DeviceSocket): void {
    this.#sockets.delete(socket);
    socket.closed();
  }

  async #open(
    { sessionId, settings, oldest }: StreamOrder,
    events: Parameters<AudioStreams["open"]>[0]["events"],
  ) {
    if (sessionId === undefined) throw new AppError("bad_request", "It names no session.");
    const request = { sessionId, settings, oldest: oldest ?? 0, events };
    return { ...(await this.#streams.open(request)), begun: false };
  }
}

function toBlobStore({ blobs, line }: HostStreamsParts): BlobStore {
  const { machine } = line;
  return {
    put: () => Promise.reject(new Error("Nothing is put from a file.")),
    putBytes: (id, sha256, bytes) =>
      blobs.put(machine, id, sha256, { data: Buffer.from(bytes), isTrack: true }),
    read: async (id, sha256) => (await blobs.read(machine, id, sha256)).data,
    delete: (id) => blobs.delete(machine, id),
  };
}

function toLogStore({ blobs, line }: HostStreamsParts): Omit<FragmentLogStore, "logs"> {
  const { machine } = line;
  return {
    logPaceMs: 40,
    appendLog: (...args) => blobs.appendLog(machine, ...args),
    readLog: (...args) => blobs.readLog(machine, ...args),
    removeLog: (...args) => blobs.removeLog(machine, ...args),
  };
}
