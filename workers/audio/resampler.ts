import { createRequire } from "node:module";
import type speexPackage from "speex-resampler";
import { resamplingPeriod } from "../../src/base/audio/sample-rate.ts";

// The library's default, of 1..10.
const QUALITY = 7;
/** Longer than the filter's memory at any supported rate, in input frames. */
const FLUSH_FRAMES = 2_000;
/** Most input frames of one call, which bounds the buffers in WebAssembly. */
const CALL_FRAMES = 48_000;

// Loaded by require, because loaders disagree on the package's default export.
const loadCommonJs = createRequire(import.meta.url);

type SpeexClass = typeof speexPackage.default;
type Speex = InstanceType<SpeexClass>;

let speex: SpeexClass | undefined;

// The package cannot free a resampler, so resamplers are reused. Each is used by one session at a
// time, so there are never more of a rate than sessions were open at once.
const idle = new Map<number, Speex[]>();

/**
 * Resamples a stream of one rate to 16 kHz and keeps all state between calls.
 *
 * The library gets whole resampling periods, so that each call returns exactly as many samples as
 * its input lasts, and the result does not depend on how the stream was cut. Being causal, it
 * delays the sound by 4 ms (8 ms at a rate of 8 kHz).
 */
export class Resampler {
  readonly rate: number;
  readonly #speex: Speex;
  readonly #period: { input: number; output: number };
  #rest = new Int16Array(0);
  #closed = false;

  /** Loads the library on first use. Must have resolved before a Resampler is created. */
  static async load(): Promise<void> {
    if (speex !== undefined) return;
    const before = process.listeners("unhandledRejection");
    const loaded: typeof speexPackage = loadCommonJs("speex-resampler");
    await loaded.default.initPromise;
    speex = loaded.default;
    dropAddedListeners(before);
  }

  /** `rate` must be one that `isSupportedRate` accepts. */
  constructor(rate: number) {
    this.rate = rate;
    this.#period = resamplingPeriod(rate);
    if (speex === undefined) throw new Error("Resampler.load() must come first");
    this.#speex = idle.get(rate)?.pop() ?? new speex(1, rate, 16_000, QUALITY);
  }

  /** Number of input frames that wait for the rest of their period. */
  get waiting(): number {
    return this.#rest.length;
  }

  /** Adds input frames and returns the samples at 16 kHz that are now complete. */
  push(input: Int16Array): Int16Array {
    const joined = new Int16Array(this.#rest.length + input.length);
    joined.set(this.#rest);
    joined.set(input, this.#rest.length);
    const whole = joined.length - (joined.length % this.#period.input);
    this.#rest = joined.slice(whole);
    return this.#process(joined.subarray(0, whole));
  }

  /** Completes the last period with silence. The stream is then at its end. */
  flush(): Int16Array {
    if (this.#rest.length === 0) return new Int16Array(0);
    return this.push(new Int16Array(this.#period.input - this.#rest.length));
  }

  /** Returns the library's resampler for reuse, after clearing its memory with silence. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const periods = Math.ceil(FLUSH_FRAMES / this.#period.input);
    this.#process(new Int16Array(periods * this.#period.input));
    idle.set(this.rate, [...(idle.get(this.rate) ?? []), this.#speex]);
  }

  #process(input: Int16Array): Int16Array {
    const { input: period, output } = this.#period;
    const result = new Int16Array((input.length / period) * output);
    const most = Math.max(1, Math.floor(CALL_FRAMES / period)) * period;
    for (let at = 0; at < input.length; at += most) {
      const part = input.subarray(at, at + most);
      const bytes = this.#speex.processChunk(
        Buffer.from(part.buffer, part.byteOffset, part.byteLength),
      );
      const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
      result.set(samples, (at / period) * output);
    }
    return result;
  }
}

// The package's WebAssembly loader installs listeners that abort the process with their own message
// at any unhandled rejection. Removing them restores the usual behaviour.
function dropAddedListeners(before: readonly NodeJS.UnhandledRejectionListener[]): void {
  for (const listener of process.listeners("unhandledRejection")) {
    if (!before.includes(listener)) process.off("unhandledRejection", listener);
  }
}
