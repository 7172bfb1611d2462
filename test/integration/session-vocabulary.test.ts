import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import { layTurns, seededRandom, speak } from "../eval/made-conversation.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
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

let engine: RunningEngine;
let spoken: ReturnType<typeof chunkMessages>;

const read = (vocabulary: readonly string[]): Promise<ResponseMessage[]> =>
  readSession(engine, spoken, undefined, undefined, vocabulary);

beforeAll(async () => {
  engine = await startMoonshine();
  const turns: { speaker: string; pcm: Int16Array }[] = [];
  for (const text of SAID) turns.push({ speaker: "slt", pcm: await speak("slt", text) });
  const { pcm } = layTurns("", turns, seededRandom(1));
  spoken = chunkMessages(cutChunks(pcm, 2 * SECOND));
}, LIMIT_MS);

afterAll(() => engine?.close());

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
