import { describe, expect, it } from "vitest";
import { spreadWords } from "../../../../src/conversations/transcript/segments-store.ts";
import {
  srtCues,
  toMarkdown,
  toSrt,
  toVtt,
  transcriptText,
  vttCues,
} from "../../../../src/conversations/transcript/writing/export-formats.ts";
import type { SegmentRecord } from "../../../../src/conversations/transcript/writing/segment-record.ts";
import { heardText } from "../../../support/heard-text.ts";

const SECOND = 16_000;

/** One word a second; `[words?]` are unclear. */
function segment(start: number, marked: string, label = "S1"): SegmentRecord {
  const { text, unclear } = heardText(marked);
  const words = text.split(" ").map((word, n) => ({
    text: word,
    start: (start + n) * SECOND,
    end: (start + n + 0.5) * SECOND,
    confidence: 1,
    ...(unclear.includes(n) ? { unclear: true } : {}),
  }));
  const end = (start + words.length) * SECOND;
  return {
    id: `${start}`,
    start: start * SECOND,
    end,
    label,
    text,
    words,
    confidence: 1,
    revision: 1,
  };
}

describe("exports", () => {
  it("exports: captions carry the claimed name and the words' own times", () => {
    const said = [segment(3_661, "hello there")];
    const names = new Map([["S1", "Ann"]]);
    expect(toSrt(srtCues(said, names))).toBe(
      "1\n01:01:01,000 --> 01:01:02,500\nAnn: hello there\n",
    );
    expect(toVtt(vttCues(said, names))).toBe(
      "WEBVTT\n\n01:01:01.000 --> 01:01:02.500\n<v Ann>hello there</v>\n",
    );
  });

  it("exports: an edited text whose words do not match gets times in proportion", () => {
    const edited = { ...segment(0, "one two three four"), text: "just two" };
    expect(vttCues([edited], new Map())).toEqual([
      { start: 0, end: 4_000, speaker: "S1", lines: ["just two"], isTurn: true },
    ]);
  });

  it("exports: words without room on the timeline stand at their place long enough to be read", () => {
    const kept = segment(0, "one two");
    const at = { start: 2 * SECOND - 1, end: 2 * SECOND, confidence: 1, timesClamped: true };
    const words = [...kept.words, { ...at, text: "three" }, { ...at, text: "four" }];
    const long = { ...kept, text: "one two three four", words };
    expect(vttCues([long], new Map())).toEqual([
      { start: 0, end: 3_000, speaker: "S1", lines: ["one two three four"], isTurn: true },
    ]);
    expect(transcriptText([long], new Map())).toBe("[00:00] S1: one two three four\n");
    const alone = { ...long, start: at.start, text: "four", words: words.slice(3) };
    expect(vttCues([alone], new Map())).toEqual([
      { start: 2_000, end: 3_000, speaker: "S1", lines: ["four"], isTurn: true },
    ]);
  });

  it("exports: markup in names and words stays text", () => {
    const cues = vttCues([segment(0, "a<b & c", "S2")], new Map([["S2", "<Ann>"]]));
    expect(toVtt(cues)).toContain("<v &lt;Ann&gt;>a&lt;b &amp; c</v>");
    const markdown = toMarkdown({ title: "*T*" }, [segment(0, "not_italic")], new Map());
    expect(markdown).toBe("# \\*T\\*\n\n**S1** (00:00): not\\_italic\n");
  });

  it("exports: Markdown joins what one speaker says in a row, and empty transcripts are fine", () => {
    const segments = [segment(0, "a"), segment(2, "b"), segment(4, "c", "S2")];
    expect(toMarkdown({ title: "" }, segments, new Map())).toBe(
      "# Transcript\n\n**S1** (00:00): a b\n\n**S2** (00:04): c\n",
    );
    expect(toSrt([])).toBe("");
    expect(toVtt([])).toBe("WEBVTT\n");
  });

  it("exports: runs of unclear words are marked, and the mark is explained once", () => {
    const segments = [
      segment(0, "we fly to [tunisia and?] back"),
      segment(8, "on [monday?]"),
      segment(16, "fine", "S2"),
    ];
    const legend = "Words in [brackets?] were not heard clearly.";
    expect(transcriptText(segments, new Map())).toBe(
      `[00:00] S1: we fly to [tunisia and?] back\n[00:08] S1: on [monday?]\n[00:16] S2: fine\n\n${legend}\n`,
    );
    expect(toMarkdown({ title: "Trip" }, segments, new Map())).toBe(
      `# Trip\n\n*${legend}*\n\n**S1** (00:00): we fly to [tunisia and?] back on [monday?]\n\n**S2** (00:16): fine\n`,
    );
    expect(toSrt(srtCues(segments, new Map()))).toContain("S1: we fly to [tunisia and?] back\n");
    expect(toVtt(vttCues(segments, new Map()))).toContain(
      "<v S1>we fly to [tunisia and?] back</v>\n",
    );
  });

  it("exports: without unclear words nothing is marked and nothing explained", () => {
    const segments = [segment(0, "all is well")];
    expect(transcriptText(segments, new Map())).toBe("[00:00] S1: all is well\n");
    expect(toMarkdown({ title: "" }, segments, new Map())).toBe(
      "# Transcript\n\n**S1** (00:00): all is well\n",
    );
  });

  it("exports: each caption's lines mark their own words, within their length", () => {
    const text = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
    const cues = vttCues([segment(0, `[${text}?]`)], new Map());
    expect(cues.length).toBeGreaterThan(3);
    for (const line of cues.flatMap(({ lines }) => lines)) {
      expect(line).toMatch(/^\[[^[\]]+\?\]$/);
      expect(line.length).toBeLessThanOrEqual(42);
    }
  });

  it("exports: a name that is a guess has a question mark, which is explained once", () => {
    const segments = [
      { ...segment(0, "one"), speakerConfidence: 0.9 },
      { ...segment(4, "two"), speakerConfidence: 0.59 },
      { ...segment(8, "three"), speakerConfidence: 0 },
      { ...segment(12, "[four?]"), speakerConfidence: 0.6 },
    ];
    const names = new Map([["S1", "Ann"]]);
    const legend = "A name with a question mark is a guess: it is not sure who speaks.";
    const unclear = "Words in [brackets?] were not heard clearly.";
    expect(transcriptText(segments, names)).toBe(
      `[00:00] Ann: one\n[00:04] Ann?: two\n[00:08] Ann?: three\n[00:12] Ann: [four?]\n\n${unclear}\n${legend}\n`,
    );
    expect(toMarkdown({ title: "Trip" }, segments, names)).toBe(
      `# Trip\n\n*${unclear}*\n\n*${legend}*\n\n**Ann** (00:00): one\n\n**Ann?** (00:04): two three\n\n**Ann** (00:12): [four?]\n`,
    );
    expect(toVtt(vttCues(segments, names))).toContain("<v Ann?>two</v>\n");
  });

  it("exports: markup in unclear words stays text", () => {
    const odd = segment(0, "[a*b?] c");
    expect(toMarkdown({ title: "" }, [odd], new Map())).toContain("**S1** (00:00): [a\\*b?] c\n");
    expect(toVtt(vttCues([segment(0, "[a<b?] c")], new Map()))).toContain("[a&lt;b?] c");
  });

  it("exports: words that a person wrote have no mark", () => {
    const [heard] = segment(0, "[tunisia?]").words;
    const words = spreadWords("to Nicea", { start: 0, end: heard?.end ?? 0, confidence: 0.1 });
    const edited = { ...segment(0, "to [tunisia?]"), text: "to Nicea", words };
    expect(transcriptText([edited], new Map())).toBe("[00:00] S1: to Nicea\n");
  });

  it("exports: an edit's words cover its segment without overlap", () => {
    const words = spreadWords("ab c defg", { start: 100, end: 1_100, confidence: 0.5 });
    expect(words.map((word) => word.text)).toEqual(["ab", "c", "defg"]);
    expect([words[0]?.start, words.at(-1)?.end]).toEqual([100, 1_100]);
    for (const [n, word] of words.entries()) expect(word.start).toBe(words[n - 1]?.end ?? 100);
  });
});
