import { beforeEach, describe, expect, it } from "vitest";
import { UtteranceEnds } from "../../../src/openai-deepgram/utterance-ends.ts";

describe("utterance ends", () => {
  let ends: UtteranceEnds;
  beforeEach(() => {
    ends = new UtteranceEnds(1_000);
  });

  /** A final came of a reader that is `lag` seconds behind. */
  function final(end: number, lag: number): void {
    ends.noteFinal([{ end }]);
    ends.noteRead({ readTo: end, received: end + lag });
  }

  /** A reader that is not behind has read as much. */
  function read(to: number): void {
    ends.noteRead({ readTo: to, received: to });
  }

  it("come once, when the silence was long enough", () => {
    final(2, 0);
    read(2.6);
    expect(ends.take(2.9)).toBeUndefined();
    expect(ends.take(3)).toBe(2);
    read(9);
    expect(ends.take(9)).toBeUndefined();
    final(10, 0);
    ends.noteWords([{ start: 10.4 }]);
    read(20);
    expect(ends.take(20)).toBeUndefined();
    expect(new UtteranceEnds(undefined).take(9)).toBeUndefined();
  });

  it("do not take audio that came and was not read for silence", () => {
    final(1.54, 2.06);
    expect(ends.take(3.6)).toBeUndefined();
    ends.noteSpeech(1.89);
    ends.noteRead({ readTo: 1.89, received: 3.7 });
    expect(ends.take(6)).toBeUndefined();
    final(4.6, 2);
    ends.noteRead({ readTo: 5.2, received: 7.2 });
    expect(ends.take(7.5)).toBeUndefined();
    expect(ends.take(7.6)).toBe(4.6);
  });

  it("do not come by what came while the reader stands", () => {
    final(1.5, 2);
    expect(ends.take(10)).toBeUndefined();
    ends.noteRead({ readTo: 2.4, received: 10 });
    expect(ends.take(10)).toBeUndefined();
    expect(ends.take(10.2)).toBe(1.5);
  });

  it("come by what was read where nothing more comes", () => {
    final(1.5, 8);
    expect(ends.take(9.5)).toBeUndefined();
    ends.noteRead({ readTo: 2.4, received: 9.5 });
    expect(ends.take(9.5)).toBeUndefined();
    ends.noteRead({ readTo: 2.5, received: 9.5 });
    expect(ends.take(9.5)).toBe(1.5);
  });

  it("come behind a noise that was taken for speech", () => {
    final(2, 0);
    ends.noteSpeech(2.5);
    read(4);
    expect(ends.take(4)).toBeUndefined();
    ends.noteSpeechEnd();
    expect(ends.take(4)).toBe(2);
    final(6, 0);
    ends.noteSpeech(6.5);
    read(36.4);
    expect(ends.take(36.4)).toBeUndefined();
    expect(ends.take(36.6)).toBe(6);
  });
});
