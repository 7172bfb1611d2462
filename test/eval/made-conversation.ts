import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SpokenTurn } from "./diarisation-score.ts";
import { readRecording } from "./read-recording.ts";

const RATE = 16000;
export const SENTENCES = [
  "I think we should begin with the plan for the coming week.",
  "The boat left the harbour early in the morning, long before the sun was up.",
  "Could you tell me where the nearest station is?",
  "We bought apples, bread and a little cheese at the market on the corner.",
  "Yes, that is right.",
  "Nobody knew why the old clock had stopped at a quarter past nine.",
  "My sister plays the violin, and her husband sings in a choir.",
  "It has been raining for three days now and the river is very high.",
  "Please send me the figures when you have them.",
  "There is a small garden behind the house with roses and a wooden bench.",
  "I am not sure about that.",
  "The train was late again, so everyone had to wait on the cold platform.",
  "What would you do if you had a whole month of free time?",
  "He opened the letter slowly, read it twice, and put it in his pocket.",
  "The new bridge will be finished before the end of the year.",
  "Let us look at the other side of the question for a moment.",
  "They walked along the beach and talked about the summer.",
  "The kitchen smelled of coffee and fresh bread.",
  "You can leave your coat and your bag over there.",
  "Most people agree that the second version is much better than the first.",
];

export interface Conversation {
  name: string;
  pcm: Int16Array;
  reference: SpokenTurn[];
}

/** A seeded generator of numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Lays turns one after the other with pauses of about half a second, and notes when each one
 * speaks. Turns are trimmed to what is audible.
 */
export function layTurns(
  name: string,
  turns: readonly { speaker: string; pcm: Int16Array }[],
  random: () => number,
): Conversation {
  const parts: Int16Array[] = [new Int16Array(RATE / 2)];
  const reference: SpokenTurn[] = [];
  let at = RATE / 2;
  for (const { speaker, pcm } of turns) {
    const heard = trimmed(pcm);
    reference.push({ speaker, start: at / RATE, end: (at + heard.length) / RATE });
    const pause = new Int16Array(Math.round(RATE * (0.45 + 0.3 * random())));
    parts.push(heard, pause);
    at += heard.length + pause.length;
  }
  const pcm = new Int16Array(at);
  let offset = 0;
  for (const part of parts) {
    pcm.set(part, offset);
    offset += part.length;
  }
  return { name, pcm, reference };
}

/** A conversation of flite voices with seeded order, sentences and pauses. */
export async function makeConversation(
  voices: readonly string[],
  turns: number,
  seed: number,
): Promise<Conversation> {
  const random = seededRandom(seed);
  const spoken: { speaker: string; pcm: Int16Array }[] = [];
  let voice = "";
  for (let i = 0; i < turns; i++) {
    const others = voices.length > 1 ? voices.filter((other) => other !== voice) : voices;
    voice = others[Math.floor(random() * others.length)] ?? "";
    const count = 1 + Math.floor(random() * 2);
    const text = Array.from(
      { length: count },
      () => SENTENCES[Math.floor(random() * SENTENCES.length)] ?? "",
    ).join(" ");
    spoken.push({ speaker: voice, pcm: await speak(voice, text) });
  }
  return layTurns(`flite ${voices.join("+")} #${seed}`, spoken, random);
}

/** Has Debian's `flite` say a text, at 16 kHz. Throws when it is not installed. */
export async function speak(voice: string, text: string): Promise<Int16Array> {
  const folder = await mkdtemp(join(tmpdir(), "flite-"));
  try {
    const file = join(folder, "speech.wav");
    await promisify(execFile)("flite", ["-voice", voice, "-t", text, "-o", file], {
      timeout: 30_000,
    });
    return readRecording(await readFile(file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function trimmed(pcm: Int16Array): Int16Array {
  const loud = (sample: number) => Math.abs(sample) > 200;
  const first = pcm.findIndex(loud);
  const last = pcm.findLastIndex(loud);
  return first < 0 ? pcm : pcm.subarray(first, last + 1);
}
