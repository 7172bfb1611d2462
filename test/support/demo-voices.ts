import { readFileSync } from "node:fs";
import { joined } from "../../workers/speech/open-utterance.ts";

const DEMO = new URL("../../deploy/demo/", import.meta.url);
const RATE = 16_000;
/** Each half of a voice's turns is said so often, so that it is long enough. */
const TIMES = 4;

export const VOICES = ["Anna", "Ben", "Alan"] as const;

type VoiceName = (typeof VOICES)[number];

interface Turn {
  speaker: string;
  start_ms: number;
  end_ms: number;
}

/** One half of what a voice says in the shipped conversation: every second turn, several times. */
export function halfOf(voice: VoiceName, half: 0 | 1): Int16Array {
  const own = turnsOf(voice).filter((_, n) => n % 2 === half);
  return joined(Array.from({ length: TIMES }, () => own).flat());
}

/** What a voice says in the shipped conversation, turn by turn, at 16 kHz. */
export function turnsOf(voice: VoiceName): Int16Array[] {
  const { turns } = JSON.parse(readFileSync(new URL("conversation.json", DEMO), "utf8")) as {
    turns: Turn[];
  };
  const file = readFileSync(new URL("conversation.wav", DEMO)).subarray(44);
  const bytes = (ms: number) => 2 * Math.round((ms * RATE) / 1_000);
  return turns
    .filter(({ speaker }) => speaker === voice)
    .map(({ start_ms: from, end_ms: to }) => file.subarray(bytes(from), bytes(to)))
    .map((turn) => new Int16Array(Uint8Array.from(turn).buffer));
}

/**
 * The speech of somebody else: played faster by `factor`, so that pitch and formants are higher as of a
 * smaller person. Voices are taught to networks so, too, as if they were of other people.
 */
export function asAnother(pcm: Int16Array, factor: number): Int16Array {
  return Int16Array.from({ length: Math.floor((pcm.length - 1) / factor) }, (_, at) => {
    const from = Math.floor(at * factor);
    const [one = 0, other = 0] = [pcm[from], pcm[from + 1]];
    return Math.round(one + (at * factor - from) * (other - one));
  });
}
