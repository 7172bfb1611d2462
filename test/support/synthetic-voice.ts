import { seededRandom } from "../eval/made-conversation.ts";

const RATE = 16000;
/** First two resonances of some vowels, in Hz. */
const VOWELS = [
  [300, 2200],
  [500, 1800],
  [700, 1200],
  [450, 900],
  [350, 1500],
] as const;

/** How a made voice differs from others: its pitch, the length of its throat, its tone. */
export interface SyntheticVoice {
  pitch: number;
  stretch: number;
  /** Frequency and strength of a resonance all its own. */
  tone: number;
}

export const LOW_VOICE: SyntheticVoice = { pitch: 105, stretch: 1, tone: 3300 };
export const HIGH_VOICE: SyntheticVoice = { pitch: 210, stretch: 1.22, tone: 4600 };

/**
 * Speech-like sound: a pulse train through resonances that move from vowel to vowel. Good enough to
 * tell voices by their cepstra without any program that speaks.
 */
export function synthesise(voice: SyntheticVoice, seconds: number, seed: number): Int16Array {
  const random = seededRandom(seed);
  const out = new Int16Array(Math.round(seconds * RATE));
  const states = Array.from({ length: 3 }, () => ({ a: 0, b: 0 }));
  let phase = 0;
  let from: (typeof VOWELS)[number] = VOWELS[0];
  let to: (typeof VOWELS)[number] = VOWELS[1];
  const span = 2400;
  for (let i = 0; i < out.length; i++) {
    if (i % span === 0) {
      from = to;
      to = VOWELS[Math.floor(random() * VOWELS.length)] ?? VOWELS[0];
    }
    const share = (i % span) / span;
    phase += voice.pitch / RATE;
    const pulse = phase >= 1 ? 1 : 0;
    phase -= pulse;
    const source = pulse + 0.02 * (random() - 0.5);
    const resonances = [0, 1].map((k) => {
      const hz = ((from[k] ?? 0) * (1 - share) + (to[k] ?? 0) * share) * voice.stretch;
      return resonate(states[k] ?? { a: 0, b: 0 }, source, hz, 90);
    });
    const own = resonate(states[2] ?? { a: 0, b: 0 }, source, voice.tone, 200);
    const sum = (resonances[0] ?? 0) + 0.5 * (resonances[1] ?? 0) + 0.25 * own;
    out[i] = Math.max(-32768, Math.min(32767, Math.round(1800 * sum)));
  }
  return out;
}

function resonate(state: { a: number; b: number }, input: number, hz: number, width: number) {
  const radius = Math.exp((-Math.PI * width) / RATE);
  const value =
    input + 2 * radius * Math.cos((2 * Math.PI * hz) / RATE) * state.a - radius * radius * state.b;
  state.b = state.a;
  state.a = value;
  return value;
}
