import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";

const LOWEST_HZ = 70;
const HIGHEST_HZ = 400;
const SHORTEST = Math.floor(SESSION_RATE / HIGHEST_HZ);
const LONGEST = Math.ceil(SESSION_RATE / LOWEST_HZ);
/** Samples of one look, 40 ms. */
const WINDOW = 640;
/** Every fourth sample and every second lag will do to tell voice from noise. */
const STRIDE = 4;
/** From one look to the next, 100 ms. */
const STEP = SESSION_RATE / 10;
const LAG_STEP = 2;

/** Looks of a span that count as voiced from here on; in strong noise they fall below. */
const VOICED = 0.7;
const PERIODIC = 0.8;

/**
 * How periodic the 40 ms of samples at `offset` are, in the range of voices' pitches: the highest
 * normalised autocorrelation, 0..1, as far as `PERIODIC`, or undefined where too few samples follow.
 */
function periodicity(pcm: Int16Array, offset: number): number | undefined {
  if (offset + WINDOW + LONGEST > pcm.length) return undefined;
  let highest = 0;
  for (let lag = SHORTEST; lag <= LONGEST; lag += LAG_STEP) {
    let [both, here, there] = [0, 1, 1];
    for (let at = offset; at < offset + WINDOW; at += STRIDE) {
      const [one, other] = [pcm[at] ?? 0, pcm[at + lag] ?? 0];
      both += one * other;
      here += one * one;
      there += other * other;
    }
    highest = Math.max(highest, both / Math.sqrt(here * there));
    if (highest >= PERIODIC) break;
  }
  return highest;
}

/** With fewer looks nothing is decided: half a second. */
const LEAST_LOOKS = 5;
/**
 * In speech a third and more of the looks are voiced, in as much noise as voice a tenth; of a crowd and
 * a keyboard a fortieth.
 */
const LEAST_VOICED = 0.05;
/** With fewer looks, 2 s, all of an utterance may be periodic: vowels and nasals alone. */
const JUDGED_LOOKS = 20;
/** Speech is periodic for three quarters of its time: between there are consonants. */
const MOST_PERIODIC = 0.93;

/**
 * Tells speech from clatter, chords and crowds, which are hardly ever periodic in the range of voices, and
 * from tunes, which always are. A look at 40 ms takes place every 100 ms.
 */
export class Voicing {
  #looks = 0;
  #voiced = 0;
  #periodic = 0;

  push(pcm: Int16Array): void {
    for (let at = 0; ; at += STEP) {
      const found = periodicity(pcm, at);
      if (found === undefined) return;
      this.#looks += 1;
      if (found >= VOICED) this.#voiced += 1;
      if (found >= PERIODIC) this.#periodic += 1;
    }
  }

  /** False where the span was no voice; true also while too little was heard to tell. */
  get isLikelyVoice(): boolean {
    if (this.#looks < LEAST_LOOKS) return true;
    return this.#voiced >= LEAST_VOICED * this.#looks && !this.isTune;
  }

  /** Whether nearly all of the span was periodic. */
  get isTune(): boolean {
    return this.#looks >= JUDGED_LOOKS && this.#periodic >= MOST_PERIODIC * this.#looks;
  }
}
