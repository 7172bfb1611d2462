import { describe, expect, it } from "vitest";
import type { Checkpoint, Utterance } from "../../../../src/wire/gen/voice/v1/worker.ts";
import { ChannelTracker } from "../../../../workers/speech/channel-tracker.ts";
import type { ResponseMessage } from "../../../../workers/speech/reader.ts";
import type { RecognisedWord } from "../../../../workers/speech/recogniser.ts";
import { UtteranceReader } from "../../../../workers/speech/utterance-reader.ts";
import { StillRecogniser } from "../../../support/still-recogniser.ts";

const FRAME = 512;
const SECOND = 16_000;

/** Keeps what it was fed, and how its utterances ended. */
class KeepingRecogniser extends StillRecogniser {
  readonly utterances: { start: number; pcm: number[] }[] = [];
  readonly mayEndAt: number[] = [];

  get #last(): number[] {
    return this.utterances.at(-1)?.pcm ?? [];
  }

  override start(start: number): void {
    this.utterances.push({ start, pcm: [] });
  }

  override feed(pcm: Int16Array): void {
    this.#last.push(...pcm);
  }

  mayEnd(): void {
    this.mayEndAt.push(this.#last.length);
  }

  override finish(): RecognisedWord[] {
    const { start = 0, pcm = [] } = this.utterances.at(-1) ?? {};
    return [{ text: `${pcm.length}`, start, end: start + pcm.length, confidence: 1 }];
  }
}

class RewindingRecogniser extends KeepingRecogniser {
  truncate(samples: number): void {
    this.utterances.at(-1)?.pcm.splice(samples);
  }
}

/** Numbered samples where there is speech, zeroes elsewhere; quieter ones at `dips`, by frame. */
function speak(frames: number, isSpeech: (frame: number) => boolean): Int16Array {
  return Int16Array.from({ length: frames * FRAME }, (_, at) =>
    isSpeech(Math.floor(at / FRAME)) ? 1 + (at % 30_000) : 0,
  );
}

/** Notes which utterances it was asked for, and when, in samples that were taken. */
class AskedTracker extends ChannelTracker {
  readonly asked: { start: number; end: number; heard: number }[] = [];
  heard = 0;
  settle(start: number, end: number): boolean {
    this.asked.push({ start, end, heard: this.heard });
    return true;
  }
}

interface Reading {
  recogniser: KeepingRecogniser;
  tracker: AskedTracker;
  messages: ResponseMessage[];
}

/** What is zero is silence; `dip` frames are hardly speech. */
function read(
  pcm: Int16Array,
  recogniser: KeepingRecogniser = new RewindingRecogniser(),
  dip = -1,
  piece = 1_600,
): Reading {
  let taken = 0;
  const tracker = new AskedTracker(1, 0);
  const reader = new UtteranceReader({
    position: 0,
    recogniser,
    activity: {
      take: (frame) => {
        const probability = taken++ === dip ? 0.36 : frame[0] === 0 ? 0 : 0.9;
        return { pcm: frame.slice(), probability };
      },
      pass: (samples) => samples.slice(),
      skip: () => {},
      state: () => Uint8Array.of(taken % 251),
    },
    tracker,
    interimResults: false,
    pauses: undefined,
    isPressed: () => false,
    sparseCheckpoints: true,
    checkpointAt: (position, activity): Checkpoint => {
      const recogniser = Buffer.from(activity);
      return { position, recogniser, speakers: Buffer.alloc(0) };
    },
  });
  for (let at = 0; at < pcm.length; at += piece) {
    tracker.heard = at + piece;
    reader.samples(pcm.slice(at, at + piece));
    while (reader.isBehind) reader.catchUp();
  }
  while (!reader.breakOff()) reader.catchUp();
  reader.finish();
  return { recogniser, tracker, messages: reader.takeMessages() };
}

function utterances(messages: readonly ResponseMessage[]): Utterance[] {
  return messages.flatMap((message) => (message.$case === "utterance" ? [message.value] : []));
}

describe("utterance reader", () => {
  it("an utterance has a quarter of a second before and behind its speech, every sample once", () => {
    const pcm = speak(100, (frame) => frame >= 20 && frame < 50);
    const { recogniser, messages } = read(pcm);
    expect(utterances(messages)).toMatchObject([{ start: 12 * FRAME, end: 58 * FRAME }]);
    expect(recogniser.utterances[0]?.pcm).toEqual([...pcm.subarray(12 * FRAME, 58 * FRAME)]);
  });

  it("the recogniser is told of a pause when it has all that the utterance will be", () => {
    const { recogniser } = read(speak(100, (frame) => frame >= 20 && frame < 50));
    expect(recogniser.mayEndAt).toEqual([46 * FRAME]);
  });

  it("who spoke is asked in the pause, for all that the utterance will be, and in any other", () => {
    const isSpeech = (frame: number) => frame >= 20 && frame < 60 && !(frame >= 30 && frame < 40);
    const { tracker } = read(speak(100, isSpeech), new RewindingRecogniser(), -1, FRAME);
    const ends = [...new Set(tracker.asked.map(({ end }) => end))];
    expect(ends).toEqual([38 * FRAME, 68 * FRAME]);
    const of = (end: number) => tracker.asked.filter((each) => each.end === end);
    // As long as it may end there.
    expect(of(38 * FRAME).map(({ heard }) => heard)).toEqual([38 * FRAME, 39 * FRAME, 40 * FRAME]);
    expect(of(68 * FRAME)[0]?.heard).toBe(68 * FRAME);
    expect(of(68 * FRAME).length).toBeGreaterThan(3);
  });

  it("a pause within speech is read once speech goes on, in order", () => {
    const pcm = speak(100, (frame) => frame >= 20 && frame < 60 && !(frame >= 30 && frame < 40));
    const { recogniser, messages } = read(pcm);
    expect(utterances(messages)).toHaveLength(1);
    expect(recogniser.utterances[0]?.pcm).toEqual([...pcm.subarray(12 * FRAME, 68 * FRAME)]);
  });

  it("speech soon behind an end has its lead from the pause", () => {
    const pcm = speak(120, (frame) => (frame >= 20 && frame < 50) || (frame >= 64 && frame < 90));
    const [first, second] = utterances(read(pcm).messages);
    expect(first?.end).toBe(58 * FRAME);
    expect(second?.start).toBe(58 * FRAME);
  });

  it("an utterance that is too long is cut behind the dip, and what follows is read again", () => {
    const pcm = speak(900, (frame) => frame >= 20 && frame < 800);
    const { recogniser, messages } = read(pcm, new RewindingRecogniser(), 500);
    const [first, second] = utterances(messages);
    expect(first).toMatchObject({ start: 12 * FRAME, end: 501 * FRAME });
    expect(first?.checkpoint).toBeUndefined();
    expect(second).toMatchObject({ start: 501 * FRAME });
    const read1 = recogniser.utterances.flatMap(({ pcm }) => pcm);
    expect(read1).toEqual([...pcm.subarray(12 * FRAME, second?.end)]);
  });

  it("where the engine cannot take back anything the cut is where it is", () => {
    const pcm = speak(900, (frame) => frame >= 20 && frame < 800);
    const { messages } = read(pcm, new KeepingRecogniser(), 500);
    const [first] = utterances(messages);
    expect((first?.end ?? 0) - (first?.start ?? 0)).toBeGreaterThan(19.5 * SECOND);
  });

  it("speech that never pauses has a checkpoint all the same", () => {
    const { messages } = read(speak(4_000, () => true));
    const kept = utterances(messages).flatMap(({ checkpoint }) => checkpoint?.position ?? []);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept[0]).toBeLessThan(90 * SECOND);
  });

  it("the state in a checkpoint is that of the place, not of the audio behind it", () => {
    const pcm = speak(900, (frame) => frame % 300 >= 20 && frame % 300 < 200);
    for (const { end, checkpoint } of utterances(read(pcm).messages)) {
      if (checkpoint === undefined || end === pcm.length) continue;
      expect(checkpoint.position).toBe(end);
      expect([...checkpoint.recogniser]).toEqual([(end / FRAME) % 251]);
    }
  });

  it.each([100, 4_711, 80_000])("pieces of %d samples give the same", (piece) => {
    const pcm = speak(2_000, (frame) => frame % 97 >= 13 && frame % 331 < 300);
    const whole = utterances(read(pcm).messages);
    const again = utterances(read(pcm, new RewindingRecogniser(), -1, piece).messages);
    expect(again).toEqual(whole);
  });
});
