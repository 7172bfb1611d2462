import { describe, expect, it } from "vitest";
import { FinalizeWait } from "../../../src/openai-deepgram/finalize-wait.ts";
import { FinalizeAnswers } from "../../../src/recognition/finalize-answers.ts";

const SECOND = 16_000;

describe("answers to Finalize, by what was read", () => {
  it("the last words before it are marked, however late they come", () => {
    const wait = new FinalizeWait<string>();
    expect(wait.take("before", 0)).toEqual([{ final: "before", isFinalized: false }]);
    wait.ask(7);
    // An utterance that ended before it.
    expect(wait.reached(4.9)).toBeUndefined();
    expect(wait.take("one", 10_000)).toEqual([]);
    expect(wait.take("two", 10_001)).toEqual([{ final: "one", isFinalized: false }]);
    expect(wait.reached(6.98)).toEqual({ final: "two", isFinalized: true });
    expect(wait.reached(9)).toBeUndefined();
    expect(wait.take("after", 20_000)).toEqual([{ final: "after", isFinalized: false }]);
  });

  it("without words the answer is empty; asked twice it is given once", () => {
    const wait = new FinalizeWait<string>();
    wait.ask(3);
    wait.ask(4);
    expect(wait.reached(3)).toBeUndefined();
    expect(wait.reached(4)).toBe("nothing");
    expect(wait.reached(5)).toBeUndefined();
  });

  it("words are not kept back for long, nor lost at the end", () => {
    const wait = new FinalizeWait<string>();
    wait.ask(3);
    wait.take("one", 100);
    expect(wait.overdue(2_000)).toEqual([]);
    expect(wait.overdue(2_100)).toEqual([{ final: "one", isFinalized: false }]);
    wait.take("two", 3_000);
    expect(wait.release()).toEqual([{ final: "two", isFinalized: false }]);
    expect(wait.release()).toEqual([]);
  });

  it("the end of an utterance that a client ended is told behind its final", () => {
    const ends: number[] = [];
    const answers = new FinalizeAnswers((end) => ends.push(end / SECOND));
    answers.ended(2 * SECOND, undefined);
    answers.ended(3 * SECOND, 5 * SECOND);
    // Read, and its final is on its way to the record.
    answers.ended(5 * SECOND, 5 * SECOND);
    answers.reached(5 * SECOND, false);
    expect(ends).toEqual([2, 3]);
    answers.recorded();
    answers.recorded();
    expect(ends).toEqual([2, 3, 5]);
    // No speech was in hand.
    answers.reached(6 * SECOND, true);
    expect(ends).toEqual([2, 3, 5, 6]);
  });
});
