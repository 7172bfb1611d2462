import { describe, expect, it } from "vitest";
import { ChannelTracker } from "../../../../workers/speech/channel-tracker.ts";
import type { ResponseMessage } from "../../../../workers/speech/reader.ts";
import { UtteranceReader } from "../../../../workers/speech/utterance-reader.ts";
import { StillRecogniser } from "../../../support/still-recogniser.ts";

const SECOND = 16_000;
const PIECE = SECOND / 10;

/** Keeps what it was fed. */
class KeepingRecogniser extends StillRecogniser {
  readonly knowsNoise: boolean;
  readonly fed: number[] = [];

  constructor(knowsNoise: boolean) {
    super();
    this.knowsNoise = knowsNoise;
  }

  override feed(pcm: Int16Array): void {
    this.fed.push(...pcm);
  }
}

/** Numbered samples where there is voice, zeroes elsewhere. */
function speak(seconds: number, isVoice: (second: number) => boolean): Int16Array {
  return Int16Array.from({ length: seconds * SECOND }, (_, at) =>
    isVoice(at / SECOND) ? 1 + (at % 30_000) : 0,
  );
}

/** What was fed after each 100 ms, and all messages. */
function read(
  pcm: Int16Array,
  knowsNoise = false,
): { fed: number[][]; messages: ResponseMessage[] } {
  const recogniser = new KeepingRecogniser(knowsNoise);
  const reader = new UtteranceReader({
    position: 0,
    recogniser,
    activity: { isVoiced: (frame) => frame[0] !== 0 },
    tracker: new ChannelTracker(1),
    interimResults: false,
    pauses: undefined,
    isPressed: () => false,
    sparseCheckpoints: true,
  });
  const fed: number[][] = [];
  for (let at = 0; at < pcm.length; at += PIECE) {
    reader.samples(pcm.slice(at, at + PIECE));
    while (reader.isBehind) reader.catchUp();
    fed.push([...recogniser.fed]);
  }
  return { fed, messages: reader.takeMessages() };
}

function utterances(messages: readonly ResponseMessage[]): { start: number; end: number }[] {
  return messages.flatMap((message) => (message.$case === "utterance" ? [message.value] : []));
}

describe("utterance reader: pauses", () => {
  it("of the pause that ends an utterance only the beginning is read", () => {
    const pcm = speak(2, (second) => second < 1);
    const { fed, messages } = read(pcm);
    expect(fed.at(-1)).toEqual([...pcm.subarray(0, 1.1 * SECOND)]);
    const [utterance] = utterances(messages);
    expect(utterance?.start).toBe(0);
    expect(utterance?.end).toBeGreaterThan(1.15 * SECOND);
    expect(utterances(messages)).toHaveLength(1);
  });

  it("an engine that tells words from noise is given the whole pause", () => {
    const pcm = speak(2, (second) => second < 1);
    const { fed, messages } = read(pcm, true);
    const [utterance] = utterances(messages);
    expect(fed.at(-1)).toEqual([...pcm.subarray(0, utterance?.end)]);
  });

  it("a pause within speech is read once the speech goes on, every sample in order", () => {
    const pcm = speak(2.5, (second) => second < 1 || (second >= 1.2 && second < 1.8));
    const { fed, messages } = read(pcm);
    expect(fed[11]).toEqual([...pcm.subarray(0, 1.1 * SECOND)]);
    expect(fed.at(-1)).toEqual([...pcm.subarray(0, 1.9 * SECOND)]);
    expect(utterances(messages)).toHaveLength(1);
  });
});
