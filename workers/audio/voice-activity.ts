import fvad from "@echogarden/fvad-wasm";

/** Samples per decision: 10 ms. */
export const ACTIVITY_FRAME = 160;

// From 0 (accepts most) to 3; the word error rates with 2 and 3 differed by less than a point.
const AGGRESSIVENESS = 2;
const RATE = 16_000;

/**
 * Size of libfvad's `Fvad` in bytes: 368 halfwords of plain numbers (its filters and Gaussians, no
 * pointers) and the index of the rate. A copy of it is the detector's whole state.
 */
const STATE_BYTES = 740;

/** The part of libfvad (WebRTC's detector), compiled to WebAssembly, that is used here. */
interface Fvad {
  HEAP16: Int16Array;
  HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _fvad_new(): number;
  _fvad_free(detector: number): void;
  _fvad_reset(detector: number): void;
  _fvad_set_mode(detector: number, mode: number): number;
  _fvad_set_sample_rate(detector: number, rate: number): number;
  _fvad_process(detector: number, frame: number, length: number): number;
}

/** Distinguishes speech from other sound, frame by frame, for one session. */
export class VoiceActivity {
  readonly #fvad: Fvad;
  readonly #detector: number;
  readonly #frame: number;

  /** Creates a detector. The module is compiled on first use; later calls take microseconds. */
  static async create(): Promise<VoiceActivity> {
    return new VoiceActivity(await loadFvad());
  }

  private constructor(module: Fvad) {
    this.#fvad = module;
    this.#detector = module._fvad_new();
    this.#frame = module._malloc(ACTIVITY_FRAME * 2);
    if (this.#detector === 0 || this.#frame === 0) throw new Error("no memory for the detector");
    this.reset();
  }

  /** Resets the detector to its initial state. */
  reset(): void {
    this.#fvad._fvad_reset(this.#detector);
    this.#fvad._fvad_set_mode(this.#detector, AGGRESSIVENESS);
    this.#fvad._fvad_set_sample_rate(this.#detector, RATE);
  }

  /** True when the next 10 ms (160 samples at 16 kHz) are voiced. */
  isVoiced(frame: Int16Array): boolean {
    this.#fvad.HEAP16.set(frame, this.#frame / 2);
    return this.#fvad._fvad_process(this.#detector, this.#frame, ACTIVITY_FRAME) === 1;
  }

  /** The detector's opaque state, which contains its estimates of voice and noise. */
  state(): Uint8Array {
    return this.#fvad.HEAPU8.slice(this.#detector, this.#detector + STATE_BYTES);
  }

  /** Restores a saved state. Throws RangeError for bytes of another length. */
  restore(state: Uint8Array): void {
    if (state.byteLength !== STATE_BYTES) {
      throw new RangeError(`voice activity state of ${state.byteLength} bytes is not ours`);
    }
    this.#fvad.HEAPU8.set(state, this.#detector);
  }

  close(): void {
    this.#fvad._free(this.#frame);
    this.#fvad._fvad_free(this.#detector);
  }
}

let shared: Promise<Fvad> | undefined;

function loadFvad(): Promise<Fvad> {
  shared ??= fvad() as Promise<Fvad>;
  return shared;
}
