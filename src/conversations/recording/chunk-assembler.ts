import { createHash } from "node:crypto";
import { isOpusMediaType } from "../../base/audio/opus-packets.ts";
import { backOff } from "../../base/back-off.ts";
import { errorMessage, isAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { BackedOffItems } from "../../base/work/backed-off-items.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { FragmentLogs } from "./audio-files/fragment-logs.ts";
import { readFragments } from "./audio-files/stored-fragments.ts";
import type { BlobStore } from "./audio-store/audio-store.ts";
import type { NewChunk } from "./chunk-store.ts";
import type { AudioMending } from "./integrity/audio-mending.ts";
import { brokenPackets } from "./stream-packets.ts";
import type { OpenChunk, OpenChunks, StreamFormat } from "./stream-records.ts";

/** Streamed audio for the session's actor; it is durable already. */
export interface LiveFragment {
  kind: "fragment";
  /** Sequence of the chunk that it belongs to. */
  sequence: number;
  /** Number of the fragment, from 0 within the chunk. */
  index: number;
  format: StreamFormat;
  /** Frames and bytes of the chunk before this fragment. */
  startFrame: number;
  startByte: number;
  frames: number;
  data: Uint8Array;
  /** Whether viewers want hypotheses. */
  interim: boolean;
}

/** Ends the current utterance before fragment `index` of chunk `sequence`. */
export interface LiveFinalize {
  kind: "finalize";
  sequence: number;
  index: number;
}

export type LiveAudio = LiveFragment | LiveFinalize;

/**
 * Port: sends streamed audio to the session's actor right after its commit, at most once and in
 * order. An actor that misses a fragment reads it from the store.
 */
export interface LiveFragments {
  publish(sessionId: string, audio: LiveAudio): void;
}

interface ChunkAssemblerStores {
  openChunks: OpenChunks;
  blobs: BlobStore;
  logs: Pick<FragmentLogs, "readLog" | "retire">;
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
 * Turns streamed audio into chunks like uploaded ones: the fragments are joined into one file, named
 * by its hash, and the chunk's row is stored. Until then the fragments stay in their log and in the record,
 * so an interruption loses nothing.
 */
export class ChunkAssembler {
  readonly #ports: ChunkAssemblerStores;
  readonly #resting: BackedOffItems;

  constructor(ports: ChunkAssemblerStores) {
    this.#ports = ports;
    this.#resting = new BackedOffItems(ports.runtime);
  }

  /**
   * Assembles a chunk, with a few attempts; `assembleAbandoned` finds chunks that stay open. Never
   * rejects.
   */
  async assemble(chunk: OpenChunk): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (await this.#tryAssemble(chunk)) return;
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
   * Assembles chunks that an earlier connection of the session left open, in order, up to sequence
   * `last`.
   */
  async assembleSession(sessionId: string, last = Number.POSITIVE_INFINITY): Promise<void> {
    for (const chunk of await this.#ports.openChunks.of(sessionId)) {
      if (chunk.sequence <= last) await this.assemble(chunk);
    }
  }

  /**
   * Assembles chunks whose connection or process died; returns how many. Each is tried once; one that
   * fails rests, longer each time, and does not keep others from their turn.
   */
  async assembleAbandoned(age = ABANDONED_MS): Promise<number> {
    const limit = ABANDONED_AT_ONCE + this.#resting.size;
    const found = await this.#ports.openChunks.abandoned(age, limit);
    let assembled = 0;
    for (const chunk of found) {
      const name = `${chunk.sessionId}/${chunk.sequence}`;
      if (this.#resting.isBackingOff(name)) continue;
      try {
        if (await this.#tryAssemble(chunk)) assembled += 1;
        this.#resting.worked(name);
      } catch (error) {
        this.#resting.failed(name);
        this.#warn(chunk, error);
        // While the disk hangs each would take as long, and keep other tasks waiting.
        if (isAppError(error, "timeout")) break;
      }
    }
    return assembled;
  }

  #warn({ sessionId, sequence }: OpenChunk, error: unknown): void {
    const fields = { session_id: sessionId, sequence, error: errorMessage(error) };
    this.#ports.log.warn(fields, "streamed chunk not assembled yet");
  }

  #tellLost({ sessionId, sequence }: OpenChunk, readable: number, fragments: number): void {
    const fields = { session_id: sessionId, sequence, fragments, readable };
    this.#ports.log.error(
      fields,
      "streamed audio was damaged in the store before it became a chunk",
    );
  }

  /** Tries once; false when fragments came meanwhile. */
  async #tryAssemble(open: OpenChunk): Promise<boolean> {
    const audio = await this.#ports.openChunks.read(open);
    if (audio === undefined) return true;
    const { log, fragments, format } = audio;
    const { sessionId } = open;
    const stored = await readFragments(this.#ports.logs, sessionId, audio);
    const data = Buffer.concat(stored.map((fragment) => fragment.data));
    const frames = stored.reduce((sum, fragment) => sum + fragment.frames, 0);
    const isWhole = stored.length === fragments;
    if (!isWhole) this.#tellLost(open, stored.length, fragments);
    const id = this.#ports.runtime.newId();
    const chunk = describe(id, open, { format, frames, data, isWhole });
    const { sha256 } = chunk;
    const content = { kind: "memory" as const, data };
    const sent = { content, bytes: chunk.bytes, storedSha256: sha256 };
    await this.#ports.mending.mend({ sessionId, sha256 }, sent, false);
    await this.#ports.blobs.putBytes(sessionId, sha256, data);
    try {
      const completed = await this.#ports.openChunks.complete(chunk, fragments);
      if (completed === undefined) return false;
      if (log !== undefined) this.#ports.logs.retire(sessionId, log);
      this.#ports.notifier.notify(completed.outbox);
      return true;
    } catch (error) {
      if (!isAppError(error, "session_deleted")) throw error;
      await this.#ports.blobs.delete(sessionId);
      return true;
    }
  }
}

interface JoinedAudio {
  format: StreamFormat;
  frames: number;
  data: Buffer;
  /** No fragment of it was lost in the store. */
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
