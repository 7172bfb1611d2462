import type { AudioChunk } from "../../src/wire/gen/voice/v1/worker.ts";
import {
  babble,
  hum,
  inRoom,
  overTelephone,
  pinkNoise,
  type Signal,
  toChunks,
  toSignal,
  whiteNoise,
  withNoise,
} from "./degraded-audio.ts";
import { layTurns, seededRandom, speak } from "./made-conversation.ts";
import { normaliseWords } from "./normalise-words.ts";

/** What is said by which of flite's voices, and who is heard in the background. */
export interface Script {
  voices: readonly string[];
  background: readonly string[];
  texts: readonly string[];
  seed: number;
}

/** One conversation under one condition. */
export interface DegradedConversation {
  condition: string;
  reference: readonly string[];
  chunks: () => AudioChunk[];
}

const BACKGROUND_VOICES = 6;
const BACKGROUND_TEXTS = 5;

/** The same conversation clear and degraded, to be read in this order: one generator serves all. */
export async function degradedConversations(script: Script): Promise<DegradedConversation[]> {
  const random = seededRandom(script.seed);
  const clean = toSignal(await converse(script, random));
  const crowd = await speakTogether(script, random);
  const reference = script.texts.flatMap((text) => normaliseWords(text));
  const conditions = conditionsOf(clean, crowd, random);
  return Object.entries(conditions).map(([condition, chunks]) => ({
    condition,
    reference,
    chunks,
  }));
}

async function converse({ voices, texts }: Script, random: () => number): Promise<Int16Array> {
  const turns: { speaker: string; pcm: Int16Array }[] = [];
  for (const [turn, text] of texts.entries()) {
    const speaker = voices[turn % voices.length] ?? "";
    turns.push({ speaker, pcm: await speak(speaker, text) });
  }
  return layTurns("", turns, random).pcm;
}

async function speakTogether(
  { background, texts }: Script,
  random: () => number,
): Promise<Signal[]> {
  const spoken: Signal[] = [];
  for (let voice = 0; voice < BACKGROUND_VOICES; voice++) {
    const said = Array.from(
      { length: BACKGROUND_TEXTS },
      () => texts[Math.floor(random() * texts.length)] ?? "",
    );
    const name = background[voice % background.length] ?? "";
    spoken.push(toSignal(await speak(name, said.join(" "))));
  }
  return spoken;
}

/** In dB how far the voice lies above the noise, in seconds how long a room reverberates. */
function conditionsOf(
  clean: Signal,
  crowd: readonly Signal[],
  random: () => number,
): Record<string, () => AudioChunk[]> {
  const { length } = clean;
  const white = () => whiteNoise(length, random);
  const pink = () => pinkNoise(length, random);
  const mains = () => hum(length, random);
  const many = () => babble(crowd, length, random);
  const noisy = (name: string, noise: () => Signal, levels: readonly number[]) =>
    levels.map((snr): [string, () => AudioChunk[]] => [
      `${name}, ${snr} dB`,
      () => toChunks(withNoise(clean, noise(), snr)),
    ]);
  const rooms = [0.2, 0.4, 0.8].map((seconds): [string, () => AudioChunk[]] => [
    `room, ${seconds} s`,
    () => toChunks(inRoom(clean, seconds, random)),
  ]);
  return Object.fromEntries([
    ["clean", () => toChunks(clean)],
    ...noisy("white noise", white, [15, 10, 5, 0]),
    ...noisy("pink noise", pink, [15, 10, 5, 0]),
    ...noisy("mains hum", mains, [10, 0]),
    ...rooms,
    ["telephone", () => overTelephone(clean)],
    ["telephone, pink noise, 15 dB", () => overTelephone(withNoise(clean, pink(), 15))],
    ...noisy("babble", many, [15, 10, 5, 0]),
  ]);
}
