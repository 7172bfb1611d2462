import type { DatabasePool } from "slonik";
import type { Runtime } from "../../../src/base/runtime.ts";
import { PostgresAudioStreams } from "../../../src/store/audio-streams.ts";
import { PostgresChunkStore } from "../../../src/store/chunks.ts";
import { PostgresCommandRecord } from "../../../src/store/command-record.ts";
import { PostgresDeviceSigns } from "../../../src/store/device-signs.ts";
import { PostgresHeartbeats } from "../../../src/store/heartbeats.ts";
import { LiveBeat } from "../../../src/store/live-beat.ts";
import { LiveLog } from "../../../src/store/live-log.ts";
import { PostgresRedactedSpans } from "../../../src/store/redacted-spans.ts";
import { PostgresRedactions } from "../../../src/store/redactions.ts";
import { PostgresSegmentEdits } from "../../../src/store/segment-edits.ts";
import { SessionAudio } from "../../../src/store/session-audio.ts";
import { SessionBacklog } from "../../../src/store/session-backlog.ts";
import { PostgresSessionDeletion } from "../../../src/store/session-deletion.ts";
import { SessionJournal } from "../../../src/store/session-journal.ts";
import { PostgresDeviceSessions } from "../../../src/store/sessions-device.ts";
import { PostgresUnsealedChunks } from "../../../src/store/unsealed-chunks.ts";
import type { HostHooks, HostRecord } from "./sim-record.ts";

/** The service's own stores over a pool. */
export function sqlPorts(
  pool: DatabasePool,
  runtime: Runtime,
  hooks: HostHooks,
): Omit<HostRecord, "kill" | "leases" | "owners"> {
  const log = new LiveLog(pool, { segmentCursor: (_session, { id }) => id });
  const beat = new LiveBeat(pool, runtime);
  return {
    journal: new SessionJournal(pool, () => hooks.onFenced?.()),
    backlog: new SessionBacklog(pool),
    commands: new PostgresCommandRecord(pool),
    sessions: new PostgresDeviceSessions(pool, runtime),
    chunks: new PostgresChunkStore(pool, runtime),
    streams: new PostgresAudioStreams(pool, runtime),
    unsealed: new PostgresUnsealedChunks(pool, runtime),
    edits: new PostgresSegmentEdits(pool),
    deletion: new PostgresSessionDeletion(pool),
    redactions: new PostgresRedactions(pool),
    redacted: new PostgresRedactedSpans(pool),
    audio: new SessionAudio(pool, (id, sha256) => hooks.readBytes(id, sha256)),
    heartbeats: new PostgresHeartbeats(pool),
    signs: new PostgresDeviceSigns(pool),
    live: {
      replay: (id, fromSeq, limit) => log.replay(id, fromSeq, limit),
      render: (id, records) => log.render(id, records),
      snapshot: (id) => log.snapshot(id),
      beat: (id) => beat.read(id),
    },
  };
}
