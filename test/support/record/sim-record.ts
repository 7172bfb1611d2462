import type { Backlog } from "../../../src/actor/backlog.ts";
import type { CommandRecord, Journal } from "../../../src/actor/journal.ts";
import type { LeaseTable } from "../../../src/actor/lease.ts";
import type { Runtime } from "../../../src/base/runtime.ts";
import type { DeletionRecords } from "../../../src/conversations/erasure/session-erasure-store.ts";
import type { ChunkStore } from "../../../src/conversations/recording/chunk-store.ts";
import type { DeviceSessionStore } from "../../../src/conversations/recording/device-sessions-store.ts";
import type { RedactedSpans } from "../../../src/conversations/recording/playback-store.ts";
import type {
  AudioStreamStore,
  OpenChunks,
} from "../../../src/conversations/recording/stream-records.ts";
import type { StreamSigns } from "../../../src/conversations/recording/stream-routes.ts";
import type { RedactionRecords } from "../../../src/conversations/transcript/redaction.ts";
import type { SegmentEdits } from "../../../src/conversations/transcript/segments-store.ts";
import type { LiveSource } from "../../../src/live/live-source.ts";
import type { JournalRecord } from "../../../src/live/render.ts";
import type { ReadOwners } from "../../../src/nats/partition-owners.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import type { AudioSource } from "../../../src/recognition/audio-source.ts";
import type { DeviceSigns } from "../../../src/session/device-signs.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { SessionWrite } from "../../../src/session/write.ts";
import type { HeartbeatStore } from "../../../src/tenancy/devices/heartbeats.ts";
import type { DurableFrame } from "../../../src/wire/live-frames.ts";
import type { Moods } from "./moods.ts";
import type { RecordTables } from "./record-tables.ts";
import type { DeviceRow, UserRow, WebhookRow } from "./rows.ts";
import type { Table } from "./table.ts";

/** What is durable of sessions, for those who follow them. */
export interface LiveRecord extends Pick<LiveSource, "replay" | "snapshot" | "beat"> {
  /** Frames of events, with the words and names that they refer to looked up. */
  render(sessionId: string, records: readonly JournalRecord[]): Promise<DurableFrame[]>;
}

/** The record as one process has it: the ports of the service, over its own connections. */
export interface HostRecord {
  readonly leases: LeaseTable;
  readonly owners: ReadOwners;
  readonly journal: Journal<SessionEvent, SessionWrite>;
  readonly backlog: Backlog;
  readonly commands: CommandRecord;
  readonly sessions: DeviceSessionStore;
  readonly chunks: ChunkStore;
  readonly streams: AudioStreamStore;
  readonly openChunks: OpenChunks;
  readonly edits: SegmentEdits;
  readonly deletion: DeletionRecords;
  readonly redactions: RedactionRecords;
  readonly redacted: RedactedSpans;
  readonly audio: AudioSource;
  readonly live: LiveRecord;
  readonly heartbeats: HeartbeatStore;
  readonly signs: DeviceSigns & StreamSigns;
  /** The process is gone: nothing that it asked for is ever answered. */
  kill(): void;
}

export interface HostHooks {
  /** The blobs of the installation. */
  readBytes(sessionId: string, sha256: string): Promise<Buffer>;
  /** The logs of streams. */
  readLog(sessionId: string, log: string): Promise<Buffer>;
  /** Told of each append that came from a stale activation. */
  onFenced?(): void;
}

/** Tables by the name of the member that holds them, with what their rows are. */
export type TableName = Exclude<keyof RecordTables, "nextClaim">;
export type RowOf<K extends TableName> = RecordTables[K] extends Table<infer R> ? R : never;

/** What people and devices are, before anything happens. */
export interface Cast {
  users?: readonly UserRow[];
  devices?: readonly DeviceRow[];
  webhooks?: readonly WebhookRow[];
}

/** The record of a simulation, whatever it is made of. */
export interface SimRecord {
  /** What the database does to whom. */
  readonly moods: Moods;
  /** The record for a process; `runtime` is that of its host. */
  host(name: string, runtime: Runtime, hooks: HostHooks): HostRecord;
  add(cast: Cast): Promise<void>;
  /** Puts a command to a session into the outbox, under its lock; false when it is deleted. */
  tell(row: OutboxRow): Promise<boolean>;
  /** Its connection for leases alone leads nowhere, or does again. */
  cutLeases(host: string, isCut: boolean): void;
  /** The host that holds a session's partition in truth. */
  holder(sessionId: string): string | undefined;
  /** What is committed now, of one session or of all: in no order, and not for changing. */
  rows<K extends TableName>(table: K, group?: string): Promise<RowOf<K>[]>;
  /**
   * Does one thing that was asked of it and that time alone does not bring about; false when there
   * is none. To be called until then before time goes on.
   */
  step(): Promise<boolean>;
  close(): Promise<void>;
}
