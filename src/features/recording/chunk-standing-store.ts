import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { MAX_MISSING } from "../../session/limits.ts";
import type { StoredChunk } from "./upload-audio-store.ts";

export interface ChunkKey {
  sessionId: string;
  sequence: number;
  /** Hex. */
  sha256: string;
}

const standingRow = z.object({
  place: z.number(),
  status: z.enum(["recording", "processing", "completed", "failed", "deleted"]),
  /** Stopped longer ago than late chunks are waited for. */
  closed: z.boolean(),
  /** Stopped by the service, because nothing came from its device. */
  silent: z.boolean(),
  /** Highest sequence that belongs to the session; -1 when there is none. */
  lastSequence: z.number(),
  streamed: z.boolean(),
  chunkId: optionalColumn(z.string()),
  chunkStatus: optionalColumn(z.enum(["pending", "processing", "completed", "failed"])),
  durationSeconds: optionalColumn(z.number()),
  sha256: optionalColumn(z.string()),
});

/** What decides whether a session takes a sequence. */
export type ChunkStanding = Omit<z.output<typeof standingRow>, "place">;

/** Of chunks and of what is being streamed; -1 when there is none. */
const HIGHEST_SEQUENCE = sql.fragment`greatest(
  (select coalesce(max(sequence), -1) from chunks where session_id = s.id),
  (select coalesce(max(sequence), -1) from audio_pieces where session_id = s.id),
  coalesce(s.last_chunk_sequence, -1)
)`;

/** In the order of the keys; undefined where there is no such session. */
export async function readStandings(
  connection: CommonQueryMethods,
  keys: readonly ChunkKey[],
): Promise<(ChunkStanding | undefined)[]> {
  const asked = keys.map(({ sessionId, sequence }) => [sessionId, sequence]);
  const rows = await connection.any(sql.type(standingRow)`
    select
      k.place::integer,
      s.status,
      coalesce(s.stopped_at < now() - interval '24 hours', false) as closed,
      s.stop_reason is not distinct from 'device_silent' as silent,
      ${HIGHEST_SEQUENCE} as "lastSequence",
      exists (
        select from audio_pieces p where p.session_id = s.id and p.sequence = k.sequence
      ) as streamed,
      c.id as "chunkId",
      c.status as "chunkStatus",
      c.duration_seconds as "durationSeconds",
      encode(c.sha256, 'hex') as sha256
    from ${sql.unnest(asked, ["uuid", "int4"])} with ordinality as k (session, sequence, place)
    join sessions s on s.id = k.session
    left join chunks c on c.session_id = s.id and c.sequence = k.sequence
  `);
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, index) => found.get(index + 1));
}

/** The chunk when the same bytes are there; undefined when the session takes the sequence. */
export function admit(
  standing: ChunkStanding | undefined,
  { sequence, sha256 }: ChunkKey,
): StoredChunk | undefined {
  if (standing === undefined) throw new AppError("not_found", "There is no session with this id.");
  if (standing.status === "deleted") {
    throw new AppError("session_deleted", "The session was deleted.");
  }
  const { chunkId: id, chunkStatus: status, durationSeconds } = standing;
  if (id === undefined || status === undefined || durationSeconds === undefined) {
    assertTaken(standing, sequence);
    return undefined;
  }
  if (standing.sha256 !== sha256) {
    throw new AppError(
      "chunk_conflict",
      `Chunk ${sequence} of this session is stored with other bytes. Use another chunk_sequence.`,
    );
  }
  return { id, sequence, status, durationSeconds };
}

function assertTaken(standing: ChunkStanding, sequence: number): void {
  const { lastSequence } = standing;
  if (sequence > lastSequence + MAX_MISSING) {
    throw new AppError(
      "invalid_body",
      `chunk_sequence ${sequence} is too far ahead: the highest one so far is ${lastSequence}, and at most ${MAX_MISSING} may be missing in a row.`,
    );
  }
  if (standing.status !== "recording") assertAwaited(standing, sequence);
  if (!standing.streamed) return;
  throw new AppError(
    "chunk_conflict",
    `Chunk ${sequence} of this session is being streamed. Use another chunk_sequence.`,
  );
}

/** A session that was stopped takes what is missing of it, for a while. */
function assertAwaited({ silent, closed, lastSequence }: ChunkStanding, sequence: number): void {
  if (sequence > lastSequence && silent) {
    throw new AppError(
      "session_ended",
      "The session was stopped because nothing came from its device for too long. Start a new one.",
    );
  }
  if (sequence > lastSequence) {
    throw new AppError(
      "session_ended",
      lastSequence < 0
        ? "The session has ended without any chunk; it takes no more."
        : `The session has ended with chunk ${lastSequence}; it takes none beyond that.`,
    );
  }
  if (closed) {
    throw new AppError(
      "session_ended",
      "The session ended more than 24 hours ago; it takes no more chunks.",
    );
  }
}
