import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { newId } from "../../src/base/ids.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { CHUNK_SAMPLES } from "./plan-population.ts";

/**
 * A session that has recorded for an hour: `chunks` of them read, with a segment each, the last one
 * missing and given up. Its actor takes it up from the record with the next command.
 */
export async function recordForLong(
  ownerUrl: string,
  device: { id: string; ownerId: string; workspaceId: string },
  chunks: number,
): Promise<string> {
  const [sessionId, jobId] = [newId(), newId()];
  const events = historyOf(sessionId, jobId, chunks);
  await withClient(ownerUrl, async (client) => {
    await client.query(
      `insert into sessions (id, workspace_id, owner_id, device_id, job_id, status, seq)
       values ($1, $2, $3, $4, $5, 'recording', $6)`,
      [sessionId, device.workspaceId, device.ownerId, device.id, jobId, events.length],
    );
    await client.query(
      `insert into jobs (id, kind, session_id, workspace_id, status)
       values ($1, 'transcription', $2, $3, 'running')`,
      [jobId, sessionId, device.workspaceId],
    );
    await client.query(
      `insert into events (session_id, seq, epoch, at, type, payload)
       select $1::uuid, n, 1, now(), e ->> 'type', e
       from jsonb_array_elements($2::jsonb) with ordinality as t (e, n)`,
      [sessionId, JSON.stringify(events)],
    );
    await client.query(
      `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
         duration_seconds, status, start_sample, length_samples)
       select $1::uuid, (e ->> 'sequence')::int, (e ->> 'chunkId')::uuid, 'audio/wav', 1, sha256(''), $3::bigint,
         16000, 4, 'completed', (e ->> 'start')::bigint, $3::bigint
       from jsonb_array_elements($2::jsonb) as e where e ->> 'type' = 'ChunkPlaced'`,
      [sessionId, JSON.stringify(events), CHUNK_SAMPLES],
    );
    await client.query(
      `insert into segments (session_id, id, attempt, start_sample, end_sample, label, text, words,
         confidence, language)
       select $1::uuid, (e ->> 'segmentId')::uuid, 1, (e ->> 'start')::bigint, (e ->> 'end')::bigint,
         'S1', 'budget meeting', '[]', 0.9, 'en'
       from jsonb_array_elements($2::jsonb) as e where e ->> 'type' = 'SegmentFinalised'`,
      [sessionId, JSON.stringify(events)],
    );
    await client.query(
      `insert into checkpoints (session_id, attempt, position, recogniser, speakers)
       select $1::uuid, 1, p, '', '' from unnest($2::bigint[]) as p`,
      [sessionId, [(chunks - 1) * CHUNK_SAMPLES]],
    );
  });
  return sessionId;
}

function historyOf(sessionId: string, jobId: string, chunks: number): SessionEvent[] {
  const events: SessionEvent[] = [{ type: "SessionStarted", sessionId, jobId, language: "en" }];
  for (let sequence = 0; sequence < chunks - 1; sequence += 1) {
    const chunk = { chunkId: newId(), sequence };
    const [start, end] = [sequence * CHUNK_SAMPLES, (sequence + 1) * CHUNK_SAMPLES];
    const speaker = { segmentId: newId(), label: "S1", cluster: 0 };
    events.push(
      { type: "ChunkReceived", ...chunk, frames: CHUNK_SAMPLES, sampleRate: 16_000 },
      { type: "ChunkPlaced", ...chunk, start, length: CHUNK_SAMPLES },
      { type: "SegmentFinalised", ...speaker, start, end, checkpoint: end },
      { type: "ChunkTranscribed", ...chunk },
    );
  }
  const start = (chunks - 1) * CHUNK_SAMPLES;
  const gap = { sequence: chunks - 1, start, length: CHUNK_SAMPLES, pin: start };
  events.push({ type: "GapDeclared", ...gap, knownClusters: 1 });
  return events;
}
