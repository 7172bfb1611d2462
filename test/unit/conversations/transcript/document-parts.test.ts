import { describe, expect, it } from "vitest";
import {
  type TranscriptOrder,
  writeTranscript,
} from "../../../../src/conversations/transcript/writing/transcript-document.ts";

const said = (start: number, label: string, text: string) => ({
  ...{ id: `${start}`, start: start * 16_000, end: (start + 1) * 16_000, label, text },
  ...{ words: [], confidence: 1, revision: 1 },
});
const SAID = [said(0, "S1", "Hello."), said(65, "S2", "Bye."), said(70, "S3", "")];

const ORDER: Omit<TranscriptOrder, "format"> = {
  ...{ hasWords: false, gaps: [], marks: [], soundEnd: 71_000 },
  about: { session_id: "s", title: "A *plan*", language: "en", status: "completed", speakers: [] },
  names: new Map([
    ["S1", "Ada"],
    ["S2", "Speaker 2"],
  ]),
  head: {
    startedAt: Date.UTC(2026, 10, 28, 13, 4),
    notes: [
      {
        ...{ title: "In *brief*", kind: "brief" },
        items: [{ text: "Hello.", startMs: 0, speaker: "S1" }],
      },
      {
        ...{ title: "Topics", kind: "topics" },
        items: [{ text: "hello (once, at 00:00)", startMs: 0 }],
      },
      {
        ...{ title: "Next steps", kind: "action_items" },
        items: [
          { text: "I write [it].", startMs: 65_000, speaker: "S2", owner: "S2", due: "by Friday" },
          { text: "Send it.", startMs: 0, done: true },
        ],
      },
      { title: "Decisions", kind: "decisions", items: [] },
      { title: "In detail", kind: "detailed", items: [{ text: "Hello.", startMs: 0 }] },
      { title: "Prices", kind: "custom", items: [{ text: "Ten euros.", startMs: 65_000 }] },
    ],
  },
};

const document = (order: Partial<TranscriptOrder>) =>
  writeTranscript({ format: "md", ...ORDER, ...order }, SAID, SAID);

describe("documents for people", () => {
  it("have title, date, length and people above the words, Markdown the notes as well, as they are arranged", () => {
    expect(document({ format: "txt" })).toBe(
      "A *plan*\n2026-11-28 13:04 UTC · 01:11 · Ada, Speaker 2\n\n[00:00] Ada: Hello.\n[01:05] Speaker 2: Bye.\n",
    );
    expect(document({})).toBe(`# A \\*plan\\*

2026-11-28 13:04 UTC · 01:11 · Ada, Speaker 2

## Notes

### In \\*brief\\*

- Ada: Hello. (00:00)

### Topics

- hello (once, at 00:00)

### Next steps

- [ ] I write \\[it\\]. – Speaker 2, by Friday (01:05)
- [x] Send it. (00:00)

### Prices

- Ten euros. (01:05)

## Transcript

**Ada** (00:00): Hello.

**Speaker 2** (01:05): Bye.
`);
  });

  it("without notes, or a length that is known, leave these out", () => {
    const head = { startedAt: 0, notes: [] };
    expect(document({ head, soundEnd: undefined })).toMatch(
      /^# A \\\*plan\\\*\n\n1970-01-01 00:00 UTC · Ada, Speaker 2\n\n\*\*Ada\*\*/,
    );
  });

  it("have nothing above the words where only these are wanted", () => {
    expect(document({ head: undefined, format: "txt" })).toMatch(/^\[00:00\] Ada/);
    expect(document({ head: undefined })).toMatch(/^# A \\\*plan\\\*\n\n\*\*Ada\*\*/);
  });

  it("call speakers by name where a language model worded the notes, and quote words as they were said", () => {
    const items = [{ text: "S1 said that the files are in S3.", startMs: 0, speaker: "S2" }];
    const notes = [{ title: "In brief", kind: "brief", items }];
    const head = { startedAt: 0, notes };
    expect(document({ head })).toContain("- Speaker 2: S1 said that the files are in S3. (00:00)");
    const worded = { startedAt: 0, notes: notes.map((each) => ({ ...each, model: "small" })) };
    expect(document({ head: worded })).toContain("- Ada said that the files are in S3. (00:00)");
  });
});
