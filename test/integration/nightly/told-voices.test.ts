import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { joined } from "../../../workers/speech/open-utterance.ts";
import { inRoom, pinkNoise, type Signal, toSignal, withNoise } from "../../eval/degraded-audio.ts";
import { runSession } from "../../eval/diarisation-run.ts";
import { SPEECH_AS_WORDS, SpeechAsWords } from "../../eval/speech-as-words.ts";
import { atLevel, laughter, mixed, music, television } from "../../support/background-sounds.ts";
import { asAnother, turnsOf, VOICES } from "../../support/demo-voices.ts";
import { type RunningEngine, startMoonshine } from "../../support/moonshine-engine.ts";
import { readConversation } from "../../support/read-session.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { TrackedTalk } from "../../support/tracked-talk.ts";

const LIMIT_MS = 600_000;
const HOUR = 3_600;
const PAUSE = new Int16Array(SESSION_RATE / 2);
/** Of ten people, each of the shipped voices by so many others. */
const SIZES = [0.75, 1, 1.3];

let engine: RunningEngine;

function random(seed: number): () => number {
  const numbers = new SeededRandom(seed);
  return () => numbers.next();
}

function toPcm(sound: Signal): Int16Array {
  return Int16Array.from(sound, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
}

/** As a second microphone across the room hears it: with echoes, less of the high frequencies, and noise. */
function acrossTheRoom(pcm: Int16Array): Int16Array {
  let before = 0;
  const dull = toSignal(pcm).map((sample) => {
    before += 0.6 * (sample - before);
    return 0.5 * before;
  });
  const heard = inRoom(dull, 0.4, random(3));
  return toPcm(withNoise(heard, pinkNoise(heard.length, random(4)), 25));
}

/** All of speech is of somebody, in whatever language: without a recogniser that knows one. */
async function labelsIn(pcm: Int16Array, pieceMs: number): Promise<string[]> {
  const all = { engine: SPEECH_AS_WORDS, create: async () => new SpeechAsWords() };
  const { final } = await runSession(pcm, { pieceMs, engine: { ...engine, ...all } });
  return [...new Set(final.map(({ speaker }) => speaker))].sort();
}

beforeAll(async () => {
  engine = await startMoonshine();
}, LIMIT_MS);

afterAll(() => engine?.close());

describe("voices told apart by the networks", () => {
  it(
    "told voices: two people with one sentence each are two",
    async () => {
      // Single sentences of the two men are too alike for the network, as one program made both.
      for (const other of ["Ben", "Alan"] as const) {
        for (const at of [0, 1, 2]) {
          const talk = new TrackedTalk(engine.voices());
          await talk.say("Anna", turnsOf("Anna")[at] ?? PAUSE);
          await talk.say(other, turnsOf(other)[at] ?? PAUSE);
          expect(talk.finish(), `${other}, ${at}`).toEqual({ Anna: [0], [other]: [1] });
        }
      }
    },
    LIMIT_MS,
  );

  it(
    "told voices: one alone for an hour is one",
    async () => {
      const talk = new TrackedTalk(engine.voices());
      const turns = turnsOf("Ben");
      for (let n = 0; talk.seconds < HOUR; n++) await talk.say("Ben", turns[n % 3] ?? PAUSE);
      expect(talk.finish()).toEqual({ Ben: [0] });
    },
    LIMIT_MS,
  );

  it(
    "told voices: ten people are ten",
    async () => {
      const people = SIZES.flatMap((factor) =>
        VOICES.map((voice) => ({
          name: `${voice} ${factor}`,
          turns: turnsOf(voice).map((turn) => asAnother(turn, factor)),
        })),
      );
      people.push({ name: "Anna 1.6", turns: turnsOf("Anna").map((turn) => asAnother(turn, 1.6)) });
      const talk = new TrackedTalk(engine.voices());
      for (const round of [0, 1, 2, 0, 1, 2]) {
        for (const { name, turns } of people) await talk.say(name, turns[round] ?? PAUSE);
      }
      const told = talk.finish();
      expect(Object.values(told).map((clusters) => clusters.length)).toEqual(people.map(() => 1));
      expect(new Set(Object.values(told).flat()).size).toBe(10);
    },
    LIMIT_MS,
  );

  it(
    "told voices: three people through two microphones are three, live and in chunks",
    async () => {
      const parts: Int16Array[] = [];
      for (let round = 0; round < 6; round++) {
        for (const voice of VOICES) {
          const turn = turnsOf(voice)[round % 3] ?? PAUSE;
          parts.push(round % 2 === 0 ? turn : acrossTheRoom(turn), PAUSE);
        }
      }
      for (const pieceMs of [100, 2_000]) {
        expect(await labelsIn(joined(parts), pieceMs)).toEqual(["S1", "S2", "S3"]);
      }
    },
    LIMIT_MS,
  );

  it.each([
    ["laughter", laughter(8, random(1))],
    ["music", music(8, random(2))],
  ])(
    "told voices: %s between the turns is nobody",
    async (_, sound) => {
      const turns = [0, 1, 2].flatMap((round) =>
        VOICES.map((voice) => turnsOf(voice)[round] ?? PAUSE),
      );
      const pcm = joined(turns.flatMap((turn) => [turn, PAUSE, toPcm(sound), PAUSE]));
      const { final } = await runSession(pcm, { pieceMs: 2_000, engine });
      expect([...new Set(final.map(({ speaker }) => speaker))]).toEqual(["S1", "S2", "S3"]);
    },
    LIMIT_MS,
  );

  it(
    "told voices: a television in the room is nobody",
    async () => {
      const conversation = toSignal(readConversation());
      const seconds = Math.floor(conversation.length / SESSION_RATE);
      const sound = atLevel(television(seconds, random(5)), 150);
      const { final } = await runSession(toPcm(mixed(conversation, sound)), {
        pieceMs: 2_000,
        engine,
      });
      expect([...new Set(final.map(({ speaker }) => speaker))]).toEqual(["S1", "S2", "S3"]);
    },
    LIMIT_MS,
  );
});
