import { signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { findWords, type Hit, saidWords } from "../../../src/web/views/session/model/find-words.ts";
import { WordSearch } from "../../../src/web/views/session/model/word-search.ts";

const LINES = [
  { id: "a", words: "That is very good news.".split(" ") },
  { id: "b", words: "Good — news? In Zürich, we've the reports.".split(" ") },
];

const places = (hits: readonly Hit[]) =>
  hits.map(({ lineId, first, last }) => `${lineId}${first}-${last}`);
const found = (query: string) => places(findWords(LINES, query));

describe("words that are looked for", () => {
  it("are found without regard to capitals, accents and marks", () => {
    expect(found("GOOD")).toEqual(["a3-3", "b0-0"]);
    expect(found("zurich")).toEqual(["b4-4"]);
    expect(found("weve")).toEqual(["b5-5"]);
    expect(found("good news")).toEqual(["a3-4", "b0-2"]);
  });

  it("may be parts of a word, and the last of several its beginning", () => {
    expect(found("port")).toEqual(["b7-7"]);
    expect(found("very go")).toEqual(["a2-3"]);
    expect(found("ery good")).toEqual([]);
  });

  it("are those of a question that were said, the rarest first", () => {
    expect(saidWords(LINES, "Was there good news about the reports of Zurich?")).toEqual([
      ...["reports", "zurich", "good"],
    ]);
    expect(saidWords(LINES, "What is that?")).toEqual([]);
  });

  it("that are none are found nowhere", () => {
    for (const query of ["", "  ", "?!", "zanzibar", "news that"]) expect(found(query)).toEqual([]);
  });
});

describe("the search for words", () => {
  function open() {
    const lines = signal(LINES);
    const shown: string[] = [];
    const search = new WordSearch(lines, (hit) => shown.push(...places([hit])));
    search.open();
    return { lines, shown, search };
  }

  it("shows the first hit, the next, and after the last the first again", () => {
    const { shown, search } = open();
    search.search("good");
    search.step(1);
    search.step(1);
    search.step(-1);
    expect(shown).toEqual(["a3-3", "b0-0", "a3-3", "b0-0"]);
    search.search("zanzibar");
    search.step(1);
    expect(shown).toHaveLength(4);
  });

  it("finds what is said while it is open, and nothing once it is closed", () => {
    const { lines, search } = open();
    search.search("tomorrow");
    expect(search.hits.value).toEqual([]);
    lines.value = [...LINES, { id: "c", words: ["Tomorrow."] }];
    expect(places(search.hits.value)).toEqual(["c0-0"]);
    expect(search.byLine.value.get("c")).toHaveLength(1);
    search.close();
    expect(search.hits.value).toEqual([]);
  });
});
