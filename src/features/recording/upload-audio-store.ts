import type { OutboxRow } from "../../postgres/sessions-outbox.ts";
import type { ChunkStatus } from "../../session/status.ts";

/** Parts of a chunk that no decoder can read. */
export interface BrokenAudio {
  /** Each where it begins and how long it is, in frames of the chunk; in order. */
  spans: { start: number; length: number }[];
  /** Set when too little is left: why the chunk fails. */
  unreadable?: string;
}

export interface NewChunk {
  id: string;
  sessionId: string;
  sequence: number;
  /** As workers read it: `audio/wav`, or `audio/pcm` with its parameters. */
  mediaType: string;
  filename: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  frames: number;
  sampleRate: number;
  durationSeconds: number;
  /** What of it is known to be no audio. */
  broken?: BrokenAudio;
  /** When its first frame was recorded, as the device said; Unix milliseconds. */
  recordedAt: number | undefined;
}

export interface StoredChunk {
  id: string;
  sequence: number;
  status: ChunkStatus;
  durationSeconds: number;
}

/**
 * Port: chunk rows. Both methods throw `chunk_conflict` when the sequence holds
 * other bytes, `session_ended` when the session takes no such sequence any
 * more, `session_deleted`, or `unavailable` (outcome unknown: safe to repeat).
 */
export interface ChunkStore {
  /**
   * The chunk when the same bytes are stored already, undefined when it may be stored: a look
   * beforehand, which spares the audio the way to the disk; what it does not see `store` does.
   */
  find(sessionId: string, sequence: number, sha256: string): Promise<StoredChunk | undefined>;
  /**
   * Under the session row's lock, all or nothing and durable on return: the
   * chunk's row and the command that tells the session. The same bytes again
   * change nothing and give the chunk that is there.
   */
  store(chunk: NewChunk): Promise<{ chunk: StoredChunk; created: boolean; outbox: OutboxRow[] }>;
}

/** Port: audio by session and SHA-256 (hex). */
export interface BlobStore {
  /**
   * Takes the temporary file over; on return its bytes and its name survive a
   * power failure. The same bytes twice are fine. Throws `storage_full`.
   */
  put(sessionId: string, sha256: string, temporaryPath: string): Promise<{ path: string }>;
  /** The same for few bytes, that are in memory. */
  putBytes(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void>;
  /** Throws `not_found` when there is no such audio. */
  read(sessionId: string, sha256: string): Promise<Buffer>;
  /** Removes all audio of a session; nothing to remove is fine. */
  delete(sessionId: string): Promise<void>;
}
