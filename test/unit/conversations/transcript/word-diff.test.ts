import { describe, expect, it } from "vitest";
import { diffRows, diffSummary } from "../../../../src/cli/view/diff-rows.ts";
import type { SpokenWord } from "../../../../src/conversations/transcript/writing/segment-row.ts";
import { diffWords } from "../../../../src/conversations/transcript/writing/word-diff.ts";

const SECOND = 16_000;

/** Words of a quarter second each, without pauses, from `start` seconds on. */
function said(text: string, speaker = "S1", start = 0): SpokenWord[] {
  return text.split(" ").map((word, index) => {
    const from = (start + index / 4) * SECOND;
    return { text: word, start: from, end: from + SECOND / 4, speaker };
  });
}

const textsOf = (words: readonly SpokenWord[]) => words.map(({ text }) => text).join(" ");

function partsOf(current: SpokenWord[], candidate: SpokenWord[]): string[][] {
  return diffWords(current, candidate).parts.map((part) => [
    part.kind,
    textsOf(part.current),
    textsOf(part.candidate),
  ]);
}

describe("word diff", () => {
  it("diff: tells replaced, added and removed words, and counts them", () => {
    const current = said("please ask mary saul whether he can come there");
    const candidate = said("please ask Marisol whether he can really come");
    expect(partsOf(current, candidate)).toEqual([
      ["same", "please ask", "please ask"],
      ["replaced", "mary saul", "Marisol"],
      ["same", "whether he can", "whether he can"],
      ["added", "", "really"],
      ["same", "come", "come"],
      ["removed", "there", ""],
    ]);
    const { counts } = diffWords(current, candidate);
    expect(counts).toEqual({ same: 6, replaced: 1, added: 1, removed: 2, speaker: 0 });
  });

  it("diff: case and marks make no other word", () => {
    const { counts } = diffWords(said("hello it's me"), said("Hello, it’s me."));
    expect(counts).toMatchObject({ same: 3, replaced: 0 });
  });

  it("diff: the same words of another speaker are told by both speakers", () => {
    const current = [...said("yes we can", "S1"), ...said("no", "S2", 5)];
    const candidate = [...said("yes we can", "S3"), ...said("no", "S2", 5)];
    const diff = diffWords(current, candidate);
    expect(diff.parts.map(({ kind }) => kind)).toEqual(["speaker", "same"]);
    expect(diff.speakers).toEqual([{ current: "S1", candidate: "S3", words: 3 }]);
    expect(diff.counts).toMatchObject({ same: 1, speaker: 3 });
  });

  it("diff: a word is not matched with the same word said at another time", () => {
    const current = [...said("the", "S1", 0), ...said("end", "S1", 10)];
    const candidate = [...said("start", "S1", 0), ...said("the end", "S1", 10)];
    expect(partsOf(current, candidate)).toEqual([
      ["replaced", "the", "start"],
      ["added", "", "the"],
      ["same", "end", "end"],
    ]);
  });

  it("diff: every word of both texts stands in it once, also in an hour without a pause", () => {
    const text = Array.from({ length: 9_000 }, (_, n) => `w${n % 97}`).join(" ");
    const other = text.replaceAll(/w7\b/g, "seven").replaceAll(/ w9\b/g, "");
    const [current, candidate] = [said(text), said(other)];
    const { parts, counts } = diffWords(current, candidate);
    expect(parts.flatMap((part) => part.current)).toEqual(current);
    expect(parts.flatMap((part) => part.candidate)).toEqual(candidate);
    expect(counts.same + counts.replaced + counts.removed).toBe(current.length);
    expect(counts.same + counts.replaced + counts.added).toBe(candidate.length);
  });

  it("diff: two texts of nothing have no parts", () => {
    expect(diffWords([], []).parts).toEqual([]);
    expect(partsOf([], said("hello"))).toEqual([["added", "", "hello"]]);
  });
});

describe("rows of a diff", () => {
  const side = (text: string, speaker = "S1") => ({ text, speakers: [speaker] });
  const same = (text: string, start: number) =>
    ({ kind: "same", start, end: start + 1, current: side(text), candidate: side(text) }) as const;
  const long = "one two three four five six seven eight nine ten eleven twelve";
  const parts = [
    same(long, 0),
    {
      kind: "replaced",
      start: 62,
      end: 63,
      current: side("mary"),
      candidate: side("Mari\u001bsol"),
    },
    same("and", 63),
    { kind: "speaker", start: 64, end: 65, current: side("yes"), candidate: side("yes", "S2") },
    same(long, 66),
    { kind: "removed", start: 70, end: 71, current: side("well") },
  ] as const;

  it("rows: each change has its time and the words around it; near ones share a row", () => {
    expect(diffRows({ parts: [...parts] }, false)).toEqual([
      "01:02  S1  … eight nine ten eleven twelve [-mary-]{+Mari sol+} and [S1 is S2: yes] one two three four five …",
      "01:10  S1  … eight nine ten eleven twelve [-well-]",
    ]);
  });

  it("rows: in colour removed words are red, added ones green, other speakers yellow", () => {
    const [first = ""] = diffRows({ parts: [...parts] }, true);
    expect(first).toContain("\u001b[31m[-mary-]\u001b[39m\u001b[32m{+Mari sol+}\u001b[39m");
    expect(first).toContain("\u001b[33m[S1 is S2: yes]\u001b[39m");
    expect(diffRows({ parts: [same("all", 0)] }, true)).toEqual([]);
  });

  it("rows: the summary counts words, speakers and edits", () => {
    const counts = { same: 9, replaced: 2, added: 1, removed: 0, speaker_changed: 3 };
    const comparison = {
      ...{ session_id: "s", job_id: "j", transcription_id: "t", parts: [], counts },
      speakers: [{ current: "S1", candidate: "S2", words: 3 }],
      engine: "moonshine-tiny-en",
      edits_replaced: 1,
      created_at: "2026-01-01T00:00:00.000Z",
      expires_at: "2026-01-08T00:00:00.000Z",
    };
    expect(diffSummary(comparison)).toEqual([
      "Read by moonshine-tiny-en. Words: 12 the same, 2 replaced, 1 added, 0 removed.",
      "Words of another speaker: 3 (S1 is S2: 3).",
      "1 edited segment will be replaced.",
      "It waits until 2026-01-08T00:00:00.000Z.",
    ]);
  });
});
