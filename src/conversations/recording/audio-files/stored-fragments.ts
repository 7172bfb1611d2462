import { crc32 } from "node:zlib";
import { isAppError } from "../../../base/errors.ts";
import type { FragmentLogStore } from "../audio-store/audio-store.ts";

/** A fragment of streamed audio, by its number from 0 within its chunk. */
interface StoredFragment {
  index: number;
  frames: number;
  data: Buffer;
}

/** A fragment for a log. */
export type LoggedFragment = Omit<StoredFragment, "data"> & { data: Uint8Array };

/** What the record holds of a chunk that is being streamed. */
export interface RecordedFragments {
  /** Number of the chunk's fragments that are stored. */
  fragments: number;
  /** The log that has those whose bytes are not in `rows`. */
  log: string | undefined;
  /** Fragments whose bytes are in the record itself. */
  rows: readonly StoredFragment[];
}

/** Number of the fragment, its frames, the length of its bytes, and the CRC-32 of all that and the bytes. */
const HEAD_BYTES = 16;
const CHECKED_BYTES = 12;

/** A fragment as it stands in a log. */
export function toLogEntry({ index, frames, data }: LoggedFragment): Buffer {
  const entry = Buffer.alloc(HEAD_BYTES + data.byteLength);
  entry.writeUInt32BE(index, 0);
  entry.writeUInt32BE(frames, 4);
  entry.writeUInt32BE(data.byteLength, 8);
  entry.set(data, HEAD_BYTES);
  entry.writeUInt32BE(checksumOf(entry), CHECKED_BYTES);
  return entry;
}

/** The fragments of a log, up to the first that is cut off or damaged. */
export function fromLog(log: Buffer): StoredFragment[] {
  const found: StoredFragment[] = [];
  for (let at = 0; at + HEAD_BYTES <= log.byteLength; ) {
    const end = at + HEAD_BYTES + log.readUInt32BE(at + 8);
    const entry = log.subarray(at, end);
    if (end > log.byteLength || entry.readUInt32BE(CHECKED_BYTES) !== checksumOf(entry)) break;
    const [index, frames] = [entry.readUInt32BE(0), entry.readUInt32BE(4)];
    found.push({ index, frames, data: entry.subarray(HEAD_BYTES) });
    at = end;
  }
  return found;
}

function checksumOf(entry: Buffer): number {
  return crc32(entry.subarray(HEAD_BYTES), crc32(entry.subarray(0, CHECKED_BYTES)));
}

/**
 * All fragments of a chunk from the first on; fewer than the record counts when its log is gone or
 * damaged. Rejects with `unavailable` while the store is away.
 */
export async function readFragments(
  store: Pick<FragmentLogStore, "readLog">,
  sessionId: string,
  { fragments, log, rows }: RecordedFragments,
): Promise<StoredFragment[]> {
  const known = new Map(rows.map((row) => [row.index, row]));
  if (log !== undefined && known.size < fragments) {
    for (const entry of await readEntries(store, sessionId, log)) {
      if (!known.has(entry.index)) known.set(entry.index, entry);
    }
  }
  const found: StoredFragment[] = [];
  for (let n = 0; n < fragments; n += 1) {
    const next = known.get(n);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}

async function readEntries(
  store: Pick<FragmentLogStore, "readLog">,
  sessionId: string,
  log: string,
) {
  try {
    return fromLog(await store.readLog(sessionId, log));
  } catch (error) {
    if (!isAppError(error, "not_found")) throw error;
    return [];
  }
}
