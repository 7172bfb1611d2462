import { crc32 } from "node:zlib";
import { isAppError } from "../../../base/errors.ts";
import type { PieceLogStore } from "../audio-store/audio-store.ts";

/** A piece of streamed audio, by its number from 0 within its chunk. */
export interface StoredPiece {
  piece: number;
  frames: number;
  data: Buffer;
}

/** A piece for a log. */
export type LoggedPiece = Omit<StoredPiece, "data"> & { data: Uint8Array };

/** What the record holds of a chunk that is being streamed. */
export interface RecordedPieces {
  /** Number of the chunk's pieces that are stored. */
  pieces: number;
  /** The log that has those whose bytes are not in `rows`. */
  log: string | undefined;
  /** Pieces whose bytes are in the record itself. */
  rows: readonly StoredPiece[];
}

/** Number of the piece, its frames, the length of its bytes, and the CRC-32 of all that and the bytes. */
const HEAD_BYTES = 16;
const CHECKED_BYTES = 12;

/** A piece as it stands in a log. */
export function toLogEntry({ piece, frames, data }: LoggedPiece): Buffer {
  const entry = Buffer.alloc(HEAD_BYTES + data.byteLength);
  entry.writeUInt32BE(piece, 0);
  entry.writeUInt32BE(frames, 4);
  entry.writeUInt32BE(data.byteLength, 8);
  entry.set(data, HEAD_BYTES);
  entry.writeUInt32BE(checksumOf(entry), CHECKED_BYTES);
  return entry;
}

/** The pieces of a log, up to the first that is cut off or damaged. */
export function fromLog(log: Buffer): StoredPiece[] {
  const found: StoredPiece[] = [];
  for (let at = 0; at + HEAD_BYTES <= log.byteLength; ) {
    const end = at + HEAD_BYTES + log.readUInt32BE(at + 8);
    const entry = log.subarray(at, end);
    if (end > log.byteLength || entry.readUInt32BE(CHECKED_BYTES) !== checksumOf(entry)) break;
    const [piece, frames] = [entry.readUInt32BE(0), entry.readUInt32BE(4)];
    found.push({ piece, frames, data: entry.subarray(HEAD_BYTES) });
    at = end;
  }
  return found;
}

function checksumOf(entry: Buffer): number {
  return crc32(entry.subarray(HEAD_BYTES), crc32(entry.subarray(0, CHECKED_BYTES)));
}

/**
 * All pieces of a chunk from the first on; fewer than the record counts when its log is gone or
 * damaged. Rejects with `unavailable` while the store is away.
 */
export async function readPieces(
  store: Pick<PieceLogStore, "readLog">,
  sessionId: string,
  { pieces, log, rows }: RecordedPieces,
): Promise<StoredPiece[]> {
  const known = new Map(rows.map((row) => [row.piece, row]));
  if (log !== undefined && known.size < pieces) {
    for (const entry of await readEntries(store, sessionId, log)) {
      if (!known.has(entry.piece)) known.set(entry.piece, entry);
    }
  }
  const found: StoredPiece[] = [];
  for (let n = 0; n < pieces; n += 1) {
    const next = known.get(n);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}

async function readEntries(store: Pick<PieceLogStore, "readLog">, sessionId: string, log: string) {
  try {
    return fromLog(await store.readLog(sessionId, log));
  } catch (error) {
    if (!isAppError(error, "not_found")) throw error;
    return [];
  }
}
