import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { layTurns, seededRandom, speak } from "../eval/made-conversation.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import {
  chunkMessages,
  cutChunks,
  readSession,
  textOf,
  utterancesOf,
} from "../support/read-session.ts";

const LIMIT_MS = 300_000;
const SECOND = 16_000;
const SAID = [
  "the report about Okonkwo came from Tolliver last week",
  "please ask Marisol whether Sokolov can come to the meeting",
];
const NAMES = ["Okonkwo", "Tolliver", "Marisol", "Sokolov"];

let recognisers: RecogniserPool;
let spoken: ReturnType<typeof chunkMessages>;

const read = (vocabulary: readonly string[]): Promise<ResponseMessage[]> =>
  readSession(recognisers, spoken, undefined, undefined, vocabulary);

beforeAll(async () => {
  const library = loadNativeLibrary(findSpeechRoot());
  // One recogniser, so that each reading gets the one that the reading before had.
  const options = { size: 1, waitMs: 1_000, waiters: 1 };
  recognisers = new RecogniserPool(() => PocketsphinxRecogniser.load(library), options);
  const turns: { speaker: string; pcm: Int16Array }[] = [];
  for (const text of SAID) turns.push({ speaker: "slt", pcm: await speak("slt", text) });
  const { pcm } = layTurns("", turns, seededRandom(1));
  spoken = chunkMessages(cutChunks(pcm, 2 * SECOND));
}, LIMIT_MS);

afterAll(async () => {
  await recognisers.close();
});

describe("vocabulary", () => {
  it(
    "vocabulary: names that the engine does not know are heard, and the next session is read as if they had never been told",
    async () => {
      const without = await read([]);
      for (const name of NAMES) expect(textOf(without)).not.toContain(name.toLowerCase());
      const withNames = textOf(await read(NAMES));
      const found = NAMES.filter((name) => withNames.includes(name.toLowerCase()));
      expect(found.length).toBeGreaterThanOrEqual(3);
      expect(utterancesOf(await read([]))).toEqual(utterancesOf(without));
      // Another vocabulary does not bring back the words of the one before.
      const others = textOf(await read(["Kubernetes", "Silver Fern"]));
      for (const name of NAMES) expect(others).not.toContain(name.toLowerCase());
    },
    LIMIT_MS,
  );

  it(
    "vocabulary: the same vocabulary gives the same reading again, and what nobody can pronounce is left out",
    async () => {
      const first = utterancesOf(await read([...NAMES, "東京", "  ", "(!)"]));
      expect(utterancesOf(await read(NAMES))).toEqual(first);
    },
    LIMIT_MS,
  );

  it("vocabulary: a list of nothing but strange signs changes nothing", async () => {
    const strange = ["<s>", "</s>", "-99 <s>", "\\end\\", "a\nb", "word(2)", "'", "x".repeat(100)];
    expect(utterancesOf(await read(strange)).length).toBeGreaterThan(0);
  });
});
