import { describe, expect, it } from "vitest";
import { srtCues, toMarkdown, toSrt } from "../../../src/features/transcript/export-formats.ts";
import { longTalk } from "../../support/long-talk.ts";
import { type WalkedInput, workOf } from "../../support/work-growth.ts";

const NOBODY = new Map<string, string>();
/** More segments than a session of eight hours has: enough to see what grows with the square. */
const LONG = { largest: "one speaker, 32 h", size: 20_000 };

const PLACES: readonly WalkedInput[] = [
  {
    ...{ place: "SubRip", ...LONG },
    prepare: (size) => of(longTalk(size), (talk) => toSrt(srtCues(talk, NOBODY))),
  },
  {
    ...{ place: "captions of a text of single letters", largest: "10,000 letters", size: 5_000 },
    prepare: (size) => of(edited("a ".repeat(size)), (talk) => toSrt(srtCues(talk, NOBODY))),
  },
  {
    ...{ place: "Markdown", ...LONG },
    prepare: (size) => of(longTalk(size), (talk) => toMarkdown("Talk", talk, NOBODY)),
  },
];

function of<T>(input: T, walk: (input: T) => unknown): () => unknown {
  return () => walk(input);
}

/** A session whose one segment was given this text. */
function edited(text: string) {
  return longTalk(1).map((segment) => ({ ...segment, text: text.trim() }));
}

/** In proportion it is 10; what grows with the square takes 100 times as long, beside any other work. */
const MOST_TIMES = 40;

describe("work", () => {
  it.each(PLACES)("work: $place takes in proportion to its input", (walked) => {
    const { largest, tenth } = workOf(walked);
    expect(largest / tenth).toBeLessThanOrEqual(MOST_TIMES);
  });
});
