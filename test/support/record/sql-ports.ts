import type { DatabasePool } from "slonik";
import type { Runtime } from "../../../src/base/runtime.ts";
import { PostgresSessionDeletion } from "../../../src/conversations/erasure/session-erasure-store.ts";
import { PostgresChunkStore } from "../../../src/conversations/recording/chunk-store.ts";
import { PostgresDeviceSessions } from "../../../src/conversations/recording/device-sessions-store.ts";
import { PostgresOpenChunks } from "../../../src/conversations/recording/open-chunks-store.ts";
import { PostgresRedactedSpans } from "../../../src/conversations/recording/playback-store.ts";
import type { StreamSigns } from "../../../src/conversations/recording/stream-routes.ts";
import {
  PostgresAudioStreams,
  PostgresStreamSigns,
} from "../../../src/conversations/recording/stream-store.ts";
import { PostgresDeviceSigns } from "../../../src/conversations/sessions/device-signs-store.ts";
import { PostgresRedactions } from "../../../src/conversations/transcript/redaction-store.ts";
import { PostgresSegmentEdits } from "../../../src/conversations/transcript/segments-store.ts";
import { SessionJournal } from "../../../src/journal/session-journal.ts";
import { LiveLog, RecordedHeartbeat } from "../../../src/live/replay-store.ts";
import { PostgresCommandRecord } from "../../../src/postgres/command-outcomes.ts";
import { SessionBacklog } from "../../../src/postgres/outbox.ts";
import { SessionAudio } from "../../../src/recognition/session-audio-store.ts";
import { DELETION_PARTS, OTHER_TABLES } from "../../../src/roles/other-tables.ts";
import type { DeviceSigns } from "../../../src/session/device-signs.ts";
import { PostgresHeartbeats } from "../../../src/tenancy/devices/heartbeats-store.ts";
import type { HostHooks, HostRecord } from "./sim-record.ts";

/** The service's own stores over a pool. */
export function sqlPorts(
  pool: DatabasePool,
  runtime: Runtime,
  hooks: HostHooks,
): Omit<HostRecord, "kill" | "leases" | "owners"> {
  const log = new LiveLog(pool, { segmentCursor: (_session, { id }) => id });
  const beat = new RecordedHeartbeat(pool, runtime);
  return {
    journal: new SessionJournal(pool, () => hooks.onFenced?.()),
    backlog: new SessionBacklog(pool),
    commands: new PostgresCommandRecord(pool),
    sessions: new PostgresDeviceSessions(pool, OTHER_TABLES, runtime),
    chunks: new PostgresChunkStore(pool, runtime),
    streams: new PostgresAudioStreams(pool, runtime),
    openChunks: new PostgresOpenChunks(pool, runtime),
    edits: new PostgresSegmentEdits(pool),
    deletion: new PostgresSessionDeletion(pool, DELETION_PARTS),
    redactions: new PostgresRedactions(pool),
    redacted: new PostgresRedactedSpans(pool),
    audio: new SessionAudio(pool, {
      read: (id, sha256) => hooks.readBytes(id, sha256),
      readLog: (id, log) => hooks.readLog(id, log),
      note: async () => {},
    }),
    heartbeats: new PostgresHeartbeats(pool),
    signs: signsOf(pool),
    live: {
      replay: (id, fromSeq, limit) => log.replay(id, fromSeq, limit),
      render: (id, records) => log.render(id, records),
      snapshot: (id) => log.snapshot(id),
      beat: (id) => beat.read(id),
    },
  };
}

function signsOf(pool: DatabasePool): DeviceSigns & StreamSigns {
  const [devices, streams] = [new PostgresDeviceSigns(pool), new PostgresStreamSigns(pool)];
  return { of: (id) => devices.of(id), streaming: (ids) => streams.streaming(ids) };
}
