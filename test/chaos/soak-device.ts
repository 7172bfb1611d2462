import { setTimeout as delay } from "node:timers/promises";
import { LiveViewer } from "../../src/cli/client/live-viewer.ts";
import type { UserSession } from "../../src/cli/client/user-session.ts";
import type { AudioChunk } from "../../src/cli/device/audio-chunks.ts";
import type { VirtualDevice } from "../../src/cli/device/virtual-device.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Latencies } from "./soak-sampler.ts";

const BYTES_PER_SECOND = 32_000;
const MEDIA_TYPE = "audio/pcm;rate=16000;channels=1;encoding=s16le";
const PIECE_SECONDS = 0.1;
const CHUNK_SECONDS = 2;
/** After it the recogniser knows that the last utterance is over. */
const PAUSE_SECONDS = 2;
const BEAT_MS = 15_000;
/** A missing chunk of a live session is waited for 10 s. */
const HELD_MS = 15_000;
const HOLDING_SHARE = 0.15;
/** Finals of what was said last. */
const AFTERGLOW_MS = 5_000;
const STREAM_END_MS = 120_000;

/** Places that not all can have at once. */
export class Floor {
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  giveBack(): void {
    this.#free += 1;
  }
}

export interface SoakFixture {
  readonly user: UserSession;
  /** The conversation as PCM of 16 kHz, mono, 16 bit. */
  readonly speech: Buffer;
  readonly speaking: Floor;
  readonly silent: Floor;
  readonly latencies: Latencies;
  /** Sessions that were stopped. */
  readonly ended: string[];
  /** How often what happened. */
  count(what: "sessions" | "turns" | "late chunks" | "finals seen"): void;
  readonly random: SeededRandom;
  /** Milliseconds. */
  readonly shortestSession: number;
  readonly longestSession: number;
}

/** What one device sends into one session, by stream or by uploads, and when it sent what. */
interface Line {
  send(pcm: Uint8Array, mayHold: boolean): Promise<void>;
  /** When the sound of this second left; undefined for what did not yet. */
  sentAt(second: number): number | undefined;
  end(): Promise<void>;
}

/** Records session after session: now it speaks, now it is silent, mostly it rests. */
export class SoakDevice {
  readonly #device: VirtualDevice;
  readonly #fixture: SoakFixture;
  readonly #isStreaming: boolean;
  readonly #isWatched: boolean;

  constructor(
    device: VirtualDevice,
    fixture: SoakFixture,
    { isStreaming, isWatched }: { isStreaming: boolean; isWatched: boolean },
  ) {
    this.#device = device;
    this.#fixture = fixture;
    this.#isStreaming = isStreaming;
    this.#isWatched = isWatched;
  }

  async run(over: AbortSignal): Promise<void> {
    while (!over.aborted) await this.#recordOne(over);
  }

  async #recordOne(over: AbortSignal): Promise<void> {
    const { random, shortestSession, longestSession, ended, count } = this.#fixture;
    const sessionId = await this.#device.startSession({ title: "Soak" });
    count("sessions");
    const line = this.#isStreaming
      ? new StreamLine(this.#device, sessionId)
      : new UploadLine(this.#device, sessionId, this.#fixture);
    const viewer = this.#isWatched ? this.#watch(sessionId, line) : undefined;
    const beating = setInterval(() => {
      void this.#device.heartbeat({ recording: true }).catch(() => undefined);
    }, BEAT_MS);
    const length = shortestSession + random.next() * (longestSession - shortestSession);
    const until = performance.now() + length;
    try {
      while (!over.aborted && performance.now() < until)
        await this.#takeTurn(sessionId, line, over);
      await line.end();
      await this.#device.stopSession(sessionId, undefined);
    } finally {
      clearInterval(beating);
      await viewer?.();
    }
    ended.push(sessionId);
  }

  async #takeTurn(sessionId: string, line: Line, over: AbortSignal): Promise<void> {
    const { speaking, silent, speech, random, count } = this.#fixture;
    await delay(1_000 + random.below(20_000), undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return;
    if (speaking.take()) {
      const stop = this.#isWatched ? undefined : this.#watch(sessionId, line);
      try {
        const seconds = 15 + random.below(25);
        const pause = Buffer.alloc(PAUSE_SECONDS * BYTES_PER_SECOND);
        const spoken = speech.subarray(0, seconds * BYTES_PER_SECOND);
        await this.#play(line, Buffer.concat([spoken, pause]), over);
        count("turns");
        if (stop !== undefined) await delay(AFTERGLOW_MS);
      } finally {
        speaking.giveBack();
        await stop?.();
      }
    } else if (silent.take()) {
      const seconds = 20 + random.below(40);
      await this.#play(line, Buffer.alloc(seconds * BYTES_PER_SECOND), over).finally(() =>
        silent.giveBack(),
      );
    }
  }

  /** In real time. */
  async #play(line: Line, pcm: Buffer, over: AbortSignal): Promise<void> {
    const seconds = this.#isStreaming ? PIECE_SECONDS : CHUNK_SECONDS;
    const size = seconds * BYTES_PER_SECOND;
    const startedAt = performance.now();
    const isHolding = this.#fixture.random.chance(HOLDING_SHARE);
    for (let at = 0; at < pcm.length && !over.aborted; at += size) {
      const wait = startedAt + ((at + size) / BYTES_PER_SECOND) * 1_000 - performance.now();
      if (wait > 1) await delay(wait);
      await line.send(pcm.subarray(at, at + size), isHolding);
    }
  }

  /** Returns how to end it. */
  #watch(sessionId: string, line: Line): () => Promise<void> {
    const over = new AbortController();
    const { user, latencies, count } = this.#fixture;
    const onFrame = (frame: ServerFrame): boolean => {
      if (frame.type !== "Results" || !frame.is_final) return false;
      const sentAt = line.sentAt(frame.start + frame.duration);
      count("finals seen");
      const how = this.#isStreaming ? "streamed" : "uploaded";
      if (sentAt !== undefined) latencies.add(`final, ${how},`, performance.now() - sentAt);
      return false;
    };
    const viewer = new LiveViewer(user, { sessionId, signal: over.signal, onFrame });
    // A session that somebody deletes refuses its viewers.
    const running = viewer.run().catch(() => undefined);
    return async () => {
      over.abort();
      await running;
    };
  }
}

class StreamLine implements Line {
  readonly #sender: ReturnType<VirtualDevice["stream"]>;
  readonly #over = new AbortController();
  readonly #running: Promise<void>;
  /** When each piece of 0.1 s was handed over. */
  readonly #sent: number[] = [];

  constructor(device: VirtualDevice, sessionId: string) {
    const format = { sampleRate: 16_000, channels: 1 };
    this.#sender = device.stream(sessionId, format, { signal: this.#over.signal });
    this.#running = this.#sender.run();
    // Told by the next push, or at the end.
    this.#running.catch(() => undefined);
  }

  async send(pcm: Uint8Array): Promise<void> {
    this.#sender.push(pcm);
    this.#sent.push(performance.now());
  }

  sentAt(second: number): number | undefined {
    return this.#sent[Math.ceil(second / PIECE_SECONDS) - 1];
  }

  async end(): Promise<void> {
    this.#sender.end();
    const late = setTimeout(() => this.#over.abort(), STREAM_END_MS);
    await this.#running.finally(() => clearTimeout(late));
  }
}

class UploadLine implements Line {
  readonly #device: VirtualDevice;
  readonly #sessionId: string;
  readonly #fixture: SoakFixture;
  /** When each chunk was on its way. */
  readonly #sent: (number | undefined)[] = [];
  readonly #held = new Set<Promise<void>>();
  #failure: unknown;

  constructor(device: VirtualDevice, sessionId: string, fixture: SoakFixture) {
    this.#device = device;
    this.#sessionId = sessionId;
    this.#fixture = fixture;
  }

  async send(pcm: Uint8Array, mayHold: boolean): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const sequence = this.#sent.length;
    const chunk: AudioChunk = {
      ...{ sequence, mediaType: MEDIA_TYPE, bytes: new Uint8Array(pcm) },
      ...{ seconds: CHUNK_SECONDS, recordedAt: (sequence + 1) * CHUNK_SECONDS },
    };
    if (mayHold && this.#held.size === 0) {
      // What it says comes late by our own doing: no latency of the service's.
      this.#sent.push(undefined);
      this.#hold(chunk);
      return;
    }
    this.#sent.push(performance.now());
    await this.#device.upload(this.#sessionId, chunk);
  }

  #hold(chunk: AudioChunk): void {
    const held: Promise<void> = delay(HELD_MS)
      .then(() => this.#device.upload(this.#sessionId, chunk))
      .then(
        () => this.#fixture.count("late chunks"),
        (error: unknown) => {
          this.#failure ??= error;
        },
      )
      .finally(() => this.#held.delete(held));
    this.#held.add(held);
  }

  sentAt(second: number): number | undefined {
    return this.#sent[Math.ceil(second / CHUNK_SECONDS) - 1];
  }

  async end(): Promise<void> {
    await Promise.all(this.#held);
    if (this.#failure !== undefined) throw this.#failure;
  }
}
