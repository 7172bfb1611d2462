import { describe, expect, it } from "vitest";
import {
  plainCues,
  srtCues,
  toSrt,
  toVtt,
  vttCues,
} from "../../../../src/conversations/transcript/writing/export-formats.ts";
import type { SegmentRecord } from "../../../../src/conversations/transcript/writing/segment-record.ts";

const SECOND = 16_000;
const NOBODY = new Map<string, string>();

/** Words from `start` s on, each of `pace` s; `|` is a pause of 0.6 s. */
function spoken(start: number, marked: string, pace = 0.35, label = "S1"): SegmentRecord {
  let at = start;
  const words = marked.split(" ").flatMap((text) => {
    if (text === "|") {
      at += 0.6;
      return [];
    }
    const word = { text, start: at * SECOND, end: (at + 0.9 * pace) * SECOND, confidence: 0.5 };
    at += pace;
    return [word];
  });
  const text = words.map((word) => word.text).join(" ");
  const span = { start: start * SECOND, end: at * SECOND };
  return { id: `${start}`, ...span, label, text, words, confidence: 0.9, revision: 1 };
}

const LONG =
  "We walked along the river until the bridge came into sight, | and then nobody knew the way. | Robert asked an old man who was sitting on a bench, | but he had never been on the other side of the water himself. | So we turned round and went home before it got dark.";

describe("captions", () => {
  it("captions: lines, length and time keep to what people can read, and no word is lost", () => {
    const cues = vttCues([spoken(0, LONG)], NOBODY);
    expect(cues.flatMap(({ lines }) => lines).join(" ")).toBe(LONG.replaceAll("| ", ""));
    expect(cues.length).toBeGreaterThan(4);
    for (const [place, { lines, start, end }] of cues.entries()) {
      expect(lines.length).toBeLessThanOrEqual(2);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(42);
      expect(end - start).toBeLessThanOrEqual(7_000);
      expect(end - start).toBeGreaterThanOrEqual(1_000);
      expect(start).toBeGreaterThanOrEqual(cues[place - 1]?.end ?? 0);
    }
  });

  it("captions: the last one ends with the sound, unless its words do later", () => {
    const said = [spoken(4, "we did not find any big problems", 0.1)];
    const ends = (soundEnd?: number) => [
      srtCues(said, NOBODY, soundEnd).at(-1)?.end,
      vttCues(said, NOBODY, soundEnd).at(-1)?.end,
      plainCues(said, soundEnd).at(-1)?.end,
    ];
    const [, vtt = 0, plain = 0] = ends();
    expect(Math.min(vtt, plain)).toBeGreaterThan(4_900);
    expect(ends(4_900)).toEqual([4_900, 4_900, 4_900]);
    expect(ends(4_500)).toEqual([4_690, 4_690, 4_690]);
  });

  it("captions: they end with sentences and at pauses rather than in the middle of a phrase", () => {
    const ends = vttCues([spoken(0, LONG)], NOBODY).map(({ lines }) => lines.at(-1)?.at(-1));
    expect(ends.filter((end) => end === "." || end === ",")).toEqual(ends);
  });

  it("captions: a line breaks before a joining word, about in the middle", () => {
    const [cue] = vttCues(
      [spoken(0, "we looked for the red umbrella and found it in the hall")],
      NOBODY,
    );
    expect(cue?.lines).toEqual(["we looked for the red umbrella", "and found it in the hall"]);
  });

  it("captions: another speaker begins another caption, and SubRip names them once", () => {
    const said = [
      spoken(0, "shall we go", 0.3, "S1"),
      spoken(
        1,
        "yes | let us take the long way round and look at the old harbour and the boats before we eat",
        0.3,
        "S2",
      ),
    ];
    const cues = srtCues(said, new Map([["S2", "Olga"]]));
    expect(cues.map(({ speaker }) => speaker)).toEqual(["S1", "Olga", "Olga"]);
    const texts = toSrt(cues).match(/^(?:S1|Olga): /gm);
    expect(texts).toEqual(["S1: ", "Olga: "]);
    for (const line of toSrt(cues).split("\n")) expect(line.length).toBeLessThanOrEqual(42);
    expect(toVtt(vttCues(said, NOBODY)).match(/<v S2>/g)).toHaveLength(2);
  });

  it("captions: a short word stays for a second, but not into the next caption", () => {
    const [yes, no] = vttCues([spoken(0, "yes", 0.3), spoken(0.5, "no", 0.3, "S2")], NOBODY);
    expect([yes?.end, no?.end]).toEqual([500, 1_500]);
  });

  it("captions: what was said fast stays until it can be read, where nobody speaks", () => {
    const [cue] = vttCues([spoken(0, "this was said much faster than people read", 0.1)], NOBODY);
    expect(cue?.end).toBeGreaterThan(2_000);
  });

  it("captions: a pause of 1.5 s ends a caption, and a word longer than a line stands alone", () => {
    const long = "a".repeat(60);
    const cues = vttCues([spoken(0, "before"), spoken(3, `after ${long} it`)], NOBODY);
    expect(cues.map(({ lines }) => lines)).toEqual([["before"], ["after"], [long], ["it"]]);
  });
});
