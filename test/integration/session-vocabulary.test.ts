import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import {
  chunkMessages,
  cutChunks,
  readConversation,
  readSession,
  textOf,
  utterancesOf,
} from "../support/read-session.ts";

const LIMIT_MS = 120_000;
const SECOND = 16_000;
/** Says "The team finished their work on Friday", which is misread without help. */
const spoken = chunkMessages(cutChunks(readConversation().subarray(0, 22 * SECOND), 2 * SECOND));

let engine: RunningEngine;

const read = (vocabulary: readonly string[]): Promise<ResponseMessage[]> =>
  readSession(engine, spoken, undefined, undefined, vocabulary);

beforeAll(async () => {
  engine = await startMoonshine();
}, LIMIT_MS);
afterAll(() => engine?.close());

describe("vocabulary", () => {
  it(
    "vocabulary: a phrase that is misread is found, and the next session is read as if it had never been told",
    async () => {
      const without = await read([]);
      expect(textOf(without)).not.toContain("their work on Friday");
      expect(textOf(await read(["their work on Friday"]))).toContain("their work on Friday");
      expect(utterancesOf(await read([]))).toEqual(utterancesOf(without));
    },
    LIMIT_MS,
  );

  it(
    "vocabulary: what was not said is not heard",
    async () => {
      const others = ["Kubernetes", "Silver Fern", "Okonkwo", "Tolliver"];
      const heard = textOf(await read(others));
      for (const name of others) expect(heard).not.toContain(name);
      expect(heard).toContain("we will talk about the launch of the new system");
    },
    LIMIT_MS,
  );

  it("vocabulary: a list of strange signs does no harm", async () => {
    const strange = ["<s>", "-99 <s>", "\\end\\", "a\nb", "'", "  ", "東京", "x".repeat(100)];
    expect(textOf(await read(strange))).toContain("we will talk about the launch");
  });
});
