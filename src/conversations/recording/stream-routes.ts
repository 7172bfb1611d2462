import { AppError, errorMessage } from "../../base/errors.ts";
import { longest, type QueueFigures, type QueueOwner } from "../../base/queue-metrics.ts";
import type { Timer } from "../../base/runtime.ts";
import {
  AudioStream,
  type AudioStreamEvents,
  type AudioStreamRouteOptions,
  MAX_BUFFERED_BYTES,
} from "./stream.ts";
import { createCutter } from "./stream-encoding.ts";
import type { StreamSettings, TakenStream } from "./stream-records.ts";

/**
 * Port: connections notify each other, across all processes, that they took over a session's
 * stream. Best effort: the store refuses the next fragment of a connection that missed the notice.
 */
export interface StreamNotices {
  taken(sessionId: string, epoch: number): void;
  onTaken(listener: (sessionId: string, epoch: number) => void): () => void;
}

interface StreamRequest {
  sessionId: string;
  /** Settings of the previous connection when absent. */
  settings?: StreamSettings | undefined;
  /** The oldest byte that the device still has; bytes before it that are not stored are lost. */
  oldest?: number;
  events: AudioStreamEvents;
}

export interface OpenedAudioStream {
  stream: AudioStream;
  settings: StreamSettings;
  /** Stream offset of the next byte to send. */
  offset: number;
  /** Seq of the session's newest durable event. */
  seq: number;
}

/** Port: an open stream is a sign of life of its session's device, even when no audio comes. */
export interface StreamSigns {
  streaming(sessionIds: readonly string[]): Promise<void>;
}

interface AudioStreamsOptions extends AudioStreamRouteOptions {
  notices: StreamNotices;
  signs?: StreamSigns;
}

const SIGN_MS = 10_000;

/** The audio streams of this process. Of each session only the newest one takes audio. */
export class AudioStreams implements QueueOwner {
  readonly #parts: AudioStreamsOptions;
  readonly #open = new Map<string, AudioStream>();
  #stopNotices: (() => void) | undefined;
  #signing: Timer | undefined;
  #pastOverruns = 0;

  constructor(parts: AudioStreamsOptions) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopNotices ??= this.#parts.notices.onTaken((sessionId, epoch) => {
      const stream = this.#open.get(sessionId);
      if (stream !== undefined && stream.epoch < epoch) stream.supersede();
    });
    this.#signing ??= this.#parts.runtime.every(SIGN_MS, () => this.#sign());
  }

  #sign(): void {
    const { signs, log } = this.#parts;
    if (signs === undefined || this.#open.size === 0) return;
    signs.streaming([...this.#open.keys()]).catch((error: unknown) => {
      log.warn({ error: errorMessage(error) }, "open streams not noted as signs of life");
    });
  }

  /** A device that sends beyond the limit gets an error, and its stream ends. */
  get queues(): readonly QueueFigures[] {
    const open = [...this.#open.values()];
    const length = longest(open.map(({ buffered }) => buffered));
    const refused = open.reduce((sum, { overruns }) => sum + overruns, this.#pastOverruns);
    return [{ queue: "stream_bytes", length, limit: MAX_BUFFERED_BYTES, refused }];
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Takes over the session's stream; its previous owner can write nothing more. The caller has
   * checked the right to do so. Throws what `AudioStreamStore.take` does, `bad_request` for an
   * encoding that cannot be read, and `conflict` for another encoding than the stream has so far,
   * because stream offsets count its bytes.
   */
  async open({ sessionId, settings, oldest, events }: StreamRequest): Promise<OpenedAudioStream> {
    if (settings !== undefined) createCutter(settings);
    const { notices, signs: _signs, ...ports } = this.#parts;
    ports.backlog.check(sessionId);
    const taken = await ports.store.take(sessionId, settings, (held) => {
      assertSameEncoding(held);
      createCutter(held.settings).checkLoss(Math.max(0, (oldest ?? 0) - held.offset));
    });
    const stream = new AudioStream(taken, createCutter(taken.settings), {
      ports,
      events: {
        ...events,
        onEnd: (error: AppError | undefined) => {
          if (this.#open.get(sessionId) === stream) this.#open.delete(sessionId);
          this.#pastOverruns += stream.overruns;
          events.onEnd(error);
        },
      },
    });
    const lost = Math.max(0, (oldest ?? 0) - taken.offset);
    const offset = taken.offset + (lost > 0 ? stream.lose(lost) : 0);
    this.#open.get(sessionId)?.supersede();
    this.#open.set(sessionId, stream);
    notices.taken(sessionId, taken.epoch);
    // Only chunks begun before this connection are assembled here. Without a sequence, the sweep
    // finds what is left.
    const last = taken.sequence ?? -1;
    void ports.assembler.assembleSession(sessionId, last).catch((error: unknown) => {
      ports.log.warn({ session_id: sessionId, error: String(error) }, "chunks not assembled yet");
    });
    return { stream, settings: taken.settings, offset, seq: taken.seq };
  }

  /** Stores received audio, assembles its chunks and takes no more. */
  async stop(): Promise<void> {
    this.#stopNotices?.();
    this.#stopNotices = undefined;
    this.#signing?.cancel();
    await Promise.all([...this.#open.values()].map((stream) => stream.close()));
  }
}

/** Refuses another encoding, because stream offsets continue and count bytes of the first one. */
function assertSameEncoding({ offset, settings, settingsBefore: before }: TakenStream): void {
  if (before === undefined || offset === 0 || nameOf(before) === nameOf(settings)) return;
  throw new AppError(
    "conflict",
    `This session's stream is ${nameOf(before)}, not ${nameOf(settings)}. Go on with that, or stop the session and begin another one.`,
  );
}

function nameOf({ encoding, sampleRate, channels, framing }: StreamSettings): string {
  const sound = channels === 1 ? "1 channel" : `${channels} channels`;
  if (encoding === "opus") return `opus with framing ${framing} and ${sound}`;
  return `${encoding} at ${sampleRate} Hz with ${sound}`;
}
