import { describe, expect, it } from "vitest";
import type { Checkpoint, Utterance } from "../../../../src/wire/gen/voice/v1/worker.ts";
import { ChannelReaders } from "../../../../workers/speech/channel-readers.ts";
import type { ResponseMessage } from "../../../../workers/speech/reader.ts";
import type { RecognisedWord } from "../../../../workers/speech/recogniser.ts";
import { StillRecogniser } from "../../../support/still-recogniser.ts";

const SECOND = 16_000;
const FRAME = 512;
const LOUD = 5_000;

/** Hears a word in each 300 ms; words tell how many utterances of their channel it has heard. */
class CountingRecogniser extends StillRecogniser {
  #utterances = 0;
  #start = 0;
  #fed = 0;
  isRunning = false;

  override start(position: number): void {
    if (this.isRunning) throw new Error("two utterances at once");
    this.isRunning = true;
    this.#start = position;
    this.#fed = 0;
  }

  override feed(pcm: Int16Array): void {
    this.#fed += pcm.length;
  }

  override finish(): RecognisedWord[] {
    this.isRunning = false;
    this.#utterances += 1;
    const count = Math.floor(this.#fed / 4_800);
    return Array.from({ length: count }, (_, n) => ({
      text: `${this.#utterances}.${n}`,
      start: this.#start + n * 4_800,
      end: this.#start + (n + 1) * 4_800,
      confidence: 1,
    }));
  }
}

/** Everything that is not zero is voice. */
const detector = {
  take: (frame: Int16Array) => ({ pcm: frame.slice(), probability: frame[0] === 0 ? 0 : 0.9 }),
  pass: (samples: Int16Array) => samples.slice(),
  skip: () => {},
  state: () => new Uint8Array(0),
  restore: () => {},
};

/** As speech has, there are consonants between the vowels, at 125 Hz. */
function isUpInNoise(sample: number): boolean {
  return (Math.imul(sample, 0x9e3779b1) >>> 16) % 2 === 0;
}

type Speaking = (second: number) => boolean;

/** Reads `seconds` of channels that speak as the functions tell, `piece` samples at a time. */
function read(seconds: number, piece: number, ...speaking: Speaking[]): ResponseMessage[] {
  const readers = new ChannelReaders({
    position: 0,
    recognisers: speaking.map(() => new CountingRecogniser()),
    activities: speaking.map(() => detector),
    states: [],
    interimResults: false,
    isPressed: () => false,
    checkpointAt: (position): Checkpoint => ({
      position,
      recogniser: Buffer.alloc(0),
      speakers: Buffer.alloc(0),
    }),
  });
  const count = speaking.length;
  const catchUp = (): void => {
    while (readers.isBehind) readers.catchUp();
  };
  for (let at = 0; at < seconds * SECOND; at += piece) {
    const samples = Math.min(piece, seconds * SECOND - at);
    const pcm = new Int16Array(samples * count);
    for (let sample = 0; sample < samples; sample++) {
      for (const [channel, speaks] of speaking.entries()) {
        const frame = Math.floor((at + sample) / FRAME);
        // Each channel has a curve of its own.
        const level = LOUD * (1.2 + Math.sin(frame / (3 + 2 * channel)));
        const isUp = frame % 8 < 2 ? isUpInNoise(at + sample) : (at + sample) % 128 < 64;
        const said = isUp ? level : -level;
        pcm[sample * count + channel] = speaks((at + sample) / SECOND) ? said : 0;
      }
    }
    readers.samples(pcm);
    catchUp();
  }
  while (!readers.breakOff()) catchUp();
  readers.finish();
  return readers.takeMessages();
}

function finals(messages: readonly ResponseMessage[]): Utterance[] {
  return messages.flatMap((message) => (message.$case === "utterance" ? [message.value] : []));
}

const always: Speaking = () => true;
const never: Speaking = () => false;

/** Speaks for 3 s and is silent for 1 s, `offset` seconds later than another. */
function turns(offset: number): Speaking {
  return (second) => (second + offset) % 4 < 3;
}

describe("channel readers", () => {
  it("channel readers: each is read by a recogniser of its own, also where two speak at once", () => {
    const messages = read(12, FRAME, turns(0), turns(2));
    const heard = finals(messages);
    const begun = messages.flatMap((message) =>
      message.$case === "speechStarted" ? [message.value.channel] : [],
    );
    expect(begun.slice(0, 4)).toEqual([0, 1, 1, 0]);
    for (const channel of [0, 1]) {
      const segments = heard.flatMap(({ segments }) =>
        segments.filter((segment) => segment.channel === channel),
      );
      const learnt = segments.map(({ words }) => words[0]?.text);
      expect(learnt).toEqual(segments.map((_, n) => `${n + 1}.0`));
      const spoken = segments.reduce((sum, { words }) => sum + words.length, 0);
      expect(spoken).toBeGreaterThan(25);
    }
  });

  it.each([1_600, 4_711, 80_000])(
    "channel readers: in pieces of %d samples the finals are the same",
    (piece) => {
      const speaking = [turns(0), turns(2), never];
      expect(finals(read(100, piece, ...speaking))).toEqual(finals(read(100, FRAME, ...speaking)));
    },
  );

  it("channel readers: a common pause gives a checkpoint when one is due", () => {
    const pausing: Speaking = (second) => second % 10 < 8;
    const kept = finals(read(60, 1_600, pausing, pausing)).flatMap(({ checkpoint }) =>
      checkpoint ? [checkpoint.position / SECOND] : [],
    );
    expect(kept.length).toBeGreaterThanOrEqual(2);
    for (const second of kept) expect(second % 10 === 0 || second % 10 >= 8).toBe(true);
  });

  it("channel readers: without a common pause all are cut after a minute", () => {
    const messages = finals(read(130, 1_600, always, turns(0), turns(2)));
    const kept = messages.flatMap(({ checkpoint }) => (checkpoint ? [checkpoint] : []));
    expect(kept.slice(0, 2).map(({ position }) => position / SECOND)).toEqual([60, 120]);
    // Nothing reaches over the cut.
    for (const { segments } of messages) {
      for (const { start, end } of segments) {
        expect(Math.floor((start + 8) / (60 * SECOND))).toBe(Math.floor((end - 1) / (60 * SECOND)));
      }
    }
  });

  it("channel readers: no two segments have the same start", () => {
    const pausing: Speaking = (second) => second % 5 < 3;
    const starts = finals(read(40, 1_600, pausing, pausing, pausing)).flatMap(({ segments }) =>
      segments.map(({ start }) => start),
    );
    expect(starts.length).toBeGreaterThan(20);
    expect(new Set(starts).size).toBe(starts.length);
  });
});
