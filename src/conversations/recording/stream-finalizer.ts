import { createHash } from "node:crypto";
import { isOpusMediaType } from "../../base/audio/opus-packets.ts";
import { backOff } from "../../base/back-off.ts";
import { errorMessage, isAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { BackedOffItems } from "../../base/work/backed-off-items.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { PieceLogs } from "./audio-files/piece-logs.ts";
import { readPieces, type StoredPiece } from "./audio-files/stored-pieces.ts";
import type { BlobStore } from "./audio-store/audio-store.ts";
import type { NewChunk } from "./chunk-store.ts";
import type { AudioMending } from "./integrity/audio-mending.ts";
import { brokenPackets } from "./stream-packets.ts";
import type { OpenChunk, OpenChunks, StreamFormat } from "./stream-records.ts";

/** Streamed audio for the session's actor; it is durable already. */
export interface LivePiece {
  kind: "piece";
  /** Sequence of the chunk that it belongs to. */
  sequence: number;
  /** Number of the piece, from 0 within the chunk. */
  piece: number;
  format: StreamFormat;
  /** Frames and bytes of the chunk before this piece. */
  startFrame: number;
  startByte: number;
  frames: number;
  data: Uint8Array;
  /** Whether viewers want hypotheses. */
  interim: boolean;
}

/** Ends the current utterance before piece `piece` of chunk `sequence`. */
export interface LiveFinalize {
  kind: "finalize";
  sequence: number;
  piece: number;
}

export type LiveAudio = LivePiece | LiveFinalize;

/**
 * Port: sends streamed audio to the session's actor right after its commit, at most once and in
 * order. An actor that misses a piece reads it from the store.
 */
export interface LivePieces {
  publish(sessionId: string, audio: LiveAudio): void;
}

interface StreamFinalizerStores {
  unsealed: OpenChunks;
  blobs: BlobStore;
  logs: Pick<PieceLogs, "readLog" | "retire">;
  notifier: CommandNotifier;
  mending: Pick<AudioMending, "mend">;
  runtime: Pick<Runtime, "delay" | "monotonic" | "newId">;
  log: Log;
}

const LOST = "The end of the chunk was lost in the store of the audio.";
const ATTEMPTS = 5;
const WAITS = { firstMs: 400 };
/** A chunk is abandoned when nothing was added to it for this time, milliseconds. */
const ABANDONED_MS = 20_000;
const ABANDONED_AT_ONCE = 50;

/**
 * Turns streamed audio into chunks like uploaded ones: the pieces are joined into one file, named
 * by its hash, and the chunk's row is stored. Until then the pieces stay in their log and in the record,
 * so an interruption loses nothing.
 */
export class StreamFinalizer {
  readonly #ports: StreamFinalizerStores;
  readonly #resting: BackedOffItems;

  constructor(ports: StreamFinalizerStores) {
    this.#ports = ports;
    this.#resting = new BackedOffItems(ports.runtime);
  }

  /**
   * Finalizes a chunk, with a few attempts; `sealAbandoned` finds chunks that stay open. Never
   * rejects.
   */
  async seal(chunk: OpenChunk): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (await this.#trySeal(chunk)) return;
      } catch (error) {
        this.#warn(chunk, error);
        // The disk hangs, and each attempt would take as long.
        if (isAppError(error, "timeout")) return;
      }
      if (attempt >= ATTEMPTS) return;
      await this.#ports.runtime.delay(backOff(attempt, WAITS));
    }
  }

  /**
   * Finalizes chunks that an earlier connection of the session left open, in order, up to sequence
   * `last`.
   */
  async sealSession(sessionId: string, last = Number.POSITIVE_INFINITY): Promise<void> {
    for (const chunk of await this.#ports.unsealed.of(sessionId)) {
      if (chunk.sequence <= last) await this.seal(chunk);
    }
  }

  /**
   * Finalizes chunks whose connection or process died; returns how many. Each is tried once; one that
   * fails rests, longer each time, and does not keep others from their turn.
   */
  async sealAbandoned(age = ABANDONED_MS): Promise<number> {
    const limit = ABANDONED_AT_ONCE + this.#resting.size;
    const found = await this.#ports.unsealed.abandoned(age, limit);
    let sealed = 0;
    for (const chunk of found) {
      const name = `${chunk.sessionId}/${chunk.sequence}`;
      if (this.#resting.isBackingOff(name)) continue;
      try {
        if (await this.#trySeal(chunk)) sealed += 1;
        this.#resting.worked(name);
      } catch (error) {
        this.#resting.failed(name);
        this.#warn(chunk, error);
        // While the disk hangs each would take as long, and keep other tasks waiting.
        if (isAppError(error, "timeout")) break;
      }
    }
    return sealed;
  }

  #warn({ sessionId, sequence }: OpenChunk, error: unknown): void {
    const fields = { session_id: sessionId, sequence, error: errorMessage(error) };
    this.#ports.log.warn(fields, "streamed chunk not sealed yet");
  }

  #tellLost({ sessionId, sequence }: OpenChunk, stored: readonly StoredPiece[], pieces: number) {
    const fields = { session_id: sessionId, sequence, pieces, readable: stored.length };
    this.#ports.log.error(
      fields,
      "streamed audio was damaged in the store before it became a chunk",
    );
  }

  /** Tries once; false when pieces came meanwhile. */
  async #trySeal(unsealed: OpenChunk): Promise<boolean> {
    const audio = await this.#ports.unsealed.read(unsealed);
    if (audio === undefined) return true;
    const { log, pieces, format } = audio;
    const { sessionId } = unsealed;
    const stored = await readPieces(this.#ports.logs, sessionId, audio);
    const data = Buffer.concat(stored.map((piece) => piece.data));
    const frames = stored.reduce((sum, piece) => sum + piece.frames, 0);
    const isWhole = stored.length === pieces;
    if (!isWhole) this.#tellLost(unsealed, stored, pieces);
    const id = this.#ports.runtime.newId();
    const chunk = describe(id, unsealed, { format, frames, data, isWhole });
    const { sha256 } = chunk;
    const content = { kind: "memory" as const, data };
    const sent = { content, bytes: chunk.bytes, storedSha256: sha256 };
    await this.#ports.mending.mend({ sessionId, sha256 }, sent, false);
    await this.#ports.blobs.putBytes(sessionId, sha256, data);
    try {
      const sealed = await this.#ports.unsealed.seal(chunk, pieces);
      if (sealed === undefined) return false;
      if (log !== undefined) this.#ports.logs.retire(sessionId, log);
      this.#ports.notifier.notify(sealed.outbox);
      return true;
    } catch (error) {
      if (!isAppError(error, "session_deleted")) throw error;
      await this.#ports.blobs.delete(unsealed.sessionId);
      return true;
    }
  }
}

interface JoinedAudio {
  format: StreamFormat;
  frames: number;
  data: Buffer;
  /** No piece of it was lost in the store. */
  isWhole: boolean;
}

function describe(id: string, { sessionId, sequence }: OpenChunk, audio: JoinedAudio): NewChunk {
  const { format, frames, data, isWhole } = audio;
  const isOpus = isOpusMediaType(format.mediaType);
  const packets = isOpus ? brokenPackets(data, format.sampleRate) : undefined;
  const broken = isWhole ? packets : { spans: [], ...packets, unreadable: LOST };
  return {
    id,
    sessionId,
    sequence,
    mediaType: format.mediaType,
    filename: "",
    bytes: data.byteLength,
    sha256: createHash("sha256").update(data).digest("hex"),
    frames,
    sampleRate: format.sampleRate,
    durationSeconds: frames / format.sampleRate,
    recordedAt: undefined,
    ...(broken && { broken }),
  };
}
