import { describe, expect, it } from "vitest";
import { transcriptFormat } from "../../../../src/conversations/transcript/export.ts";
import { transcriptText } from "../../../../src/conversations/transcript/writing/export-formats.ts";

const segment = (start: number, label: string, text: string) => ({
  id: `${start}`,
  start,
  end: start + 16_000,
  label,
  text,
  words: [],
  confidence: 1,
  revision: 1,
});

describe("transcript", () => {
  it("transcript: text has a line per segment, with names where a label was claimed", () => {
    const segments = [
      segment(0, "S1", "hello"),
      segment(12.9 * 16_000, "S2", "hi there"),
      segment(61 * 16_000, "UU", ""),
      segment(3_725 * 16_000, "S1", "bye"),
    ];
    expect(transcriptText(segments, new Map([["S2", "Olga"]]))).toBe(
      "[00:00] S1: hello\n[00:12] Olga: hi there\n[1:02:05] S1: bye\n",
    );
    expect(transcriptText([], new Map())).toBe("");
  });

  it("transcript: format parameter wins over Accept, JSON is the default", () => {
    expect(transcriptFormat(undefined, undefined)).toBe("json");
    expect(transcriptFormat(undefined, "*/*")).toBe("json");
    expect(transcriptFormat(undefined, "text/plain; q=0.9, */*;q=0.1")).toBe("txt");
    expect(transcriptFormat(undefined, "text/html")).toBe("json");
    expect(transcriptFormat("txt", "application/json")).toBe("txt");
    expect(transcriptFormat("json", "text/plain")).toBe("json");
  });
});
