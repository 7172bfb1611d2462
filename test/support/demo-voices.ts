import { readFileSync } from "node:fs";

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
  const { turns } = JSON.parse(readFileSync(new URL("conversation.json", DEMO), "utf8")) as {
    turns: Turn[];
  };
  const file = readFileSync(new URL("conversation.wav", DEMO)).subarray(44);
  const own = turns.filter(({ speaker }) => speaker === voice).filter((_, n) => n % 2 === half);
  const bytes = (ms: number) => 2 * Math.round((ms * RATE) / 1_000);
  const once = own.map(({ start_ms: from, end_ms: to }) => file.subarray(bytes(from), bytes(to)));
  const all = Buffer.concat(Array.from({ length: TIMES }, () => once).flat());
  return new Int16Array(Uint8Array.from(all).buffer);
}
