import { createHash } from "node:crypto";
import { isOpusMediaType } from "../../base/audio/opus-packets.ts";
import { backOff } from "../../base/back-off.ts";
import { errorMessage, isAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { BlobStore, NewChunk } from "./chunk-store.ts";
import { brokenPackets } from "./stream-packets.ts";
import type { OpenChunk, OpenChunks, StreamFormat, UnsealedAudio } from "./stream-records.ts";

/** Streamed audio on its way to the session's actor, durable already. */
export interface LivePiece {
  kind: "piece";
  /** The chunk that it is a part of. */
  sequence: number;
  /** Counts from 0 within the chunk. */
  piece: number;
  format: StreamFormat;
  /** Frames and bytes of the chunk before it. */
  startFrame: number;
  startByte: number;
  frames: number;
  data: Uint8Array;
  /** Whether hypotheses are wanted. */
  interim: boolean;
}

/** The utterance in hand ends before piece `piece` of chunk `sequence`. */
export interface LiveFinalize {
  kind: "finalize";
  sequence: number;
  piece: number;
}

export type LiveAudio = LivePiece | LiveFinalize;

/**
 * Port: tells the session's actor of streamed audio right after its commit. At
 * most once and in order: an actor that misses a piece reads it from the store.
 */
export interface LivePieces {
  publish(sessionId: string, audio: LiveAudio): void;
}

interface StreamFinalizerStores {
  unsealed: OpenChunks;
  blobs: BlobStore;
  notifier: CommandNotifier;
  runtime: Pick<Runtime, "delay" | "newId">;
  log: Log;
}

const ATTEMPTS = 5;
const WAITS = { firstMs: 400 };
/** The connection that began a chunk is gone when nothing was added for so long. */
const ABANDONED_MS = 20_000;
const ABANDONED_AT_ONCE = 50;

/**
 * Makes streamed audio into chunks like uploaded ones: the pieces become one
 * file under its hash, then the chunk's row. Until then the pieces hold what
 * was acknowledged, so nothing is lost wherever this is cut off.
 */
export class StreamFinalizer {
  readonly #ports: StreamFinalizerStores;

  constructor(ports: StreamFinalizerStores) {
    this.#ports = ports;
  }

  /** Tries a few times; what stays unsealed is found by `sealAbandoned`. Never rejects. */
  async seal(chunk: OpenChunk): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (await this.#trySeal(chunk)) return;
      } catch (error) {
        const { sessionId, sequence } = chunk;
        const fields = { session_id: sessionId, sequence, error: errorMessage(error) };
        this.#ports.log.warn(fields, "streamed chunk not sealed yet");
      }
      if (attempt >= ATTEMPTS) return;
      await this.#ports.runtime.delay(backOff(attempt, WAITS));
    }
  }

  /** What an earlier connection of the session left, in order, up to the chunk that it began last. */
  async sealSession(sessionId: string, last = Number.POSITIVE_INFINITY): Promise<void> {
    for (const chunk of await this.#ports.unsealed.of(sessionId)) {
      if (chunk.sequence <= last) await this.seal(chunk);
    }
  }

  /** Chunks whose connection or process died. Returns how many there were. */
  async sealAbandoned(age = ABANDONED_MS): Promise<number> {
    const chunks = await this.#ports.unsealed.abandoned(age, ABANDONED_AT_ONCE);
    for (const chunk of chunks) await this.seal(chunk);
    return chunks.length;
  }

  /** False when pieces came meanwhile. */
  async #trySeal(unsealed: OpenChunk): Promise<boolean> {
    const audio = await this.#ports.unsealed.read(unsealed);
    if (audio === undefined) return true;
    const chunk = describe(this.#ports.runtime.newId(), unsealed, audio);
    await this.#ports.blobs.putBytes(chunk.sessionId, chunk.sha256, audio.data);
    try {
      const sealed = await this.#ports.unsealed.seal(chunk, audio.pieces);
      if (sealed === undefined) return false;
      this.#ports.notifier.notify(sealed.outbox);
      return true;
    } catch (error) {
      if (!isAppError(error, "session_deleted")) throw error;
      await this.#ports.blobs.delete(unsealed.sessionId);
      return true;
    }
  }
}

function describe(id: string, { sessionId, sequence }: OpenChunk, audio: UnsealedAudio): NewChunk {
  const { format, frames, data } = audio;
  const isOpus = isOpusMediaType(format.mediaType);
  const broken = isOpus ? brokenPackets(data, format.sampleRate) : undefined;
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
