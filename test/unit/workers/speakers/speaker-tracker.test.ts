import { describe, expect, it } from "vitest";
import { FeatureStream } from "../../../../workers/speakers/feature-stream.ts";
import { createSpeakerTracker } from "../../../../workers/speakers/session-tracker.ts";
import type { SpeakerTracker, SpeakerTurn } from "../../../../workers/speakers/speaker-tracker.ts";
import { StateReader, StateWriter } from "../../../../workers/speakers/state-codec.ts";
import { MOST_PIECES, VoiceRegistry } from "../../../../workers/speakers/voice-registry.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";
import {
  HIGH_VOICE,
  LOW_VOICE,
  type SyntheticVoice,
  synthesise,
} from "../../../support/synthetic-voice.ts";

const RATE = 16000;
const PAUSE = RATE / 2;

interface Spoken {
  pcm: Int16Array;
  utterances: { start: number; end: number }[];
}

function converse(voices: readonly SyntheticVoice[], seconds = 3): Spoken {
  const parts: Int16Array[] = [];
  const utterances: Spoken["utterances"] = [];
  let at = 0;
  voices.forEach((voice, i) => {
    const pcm = synthesise(voice, seconds, i + 1);
    utterances.push({ start: at, end: at + pcm.length });
    parts.push(pcm, new Int16Array(PAUSE));
    at += pcm.length + PAUSE;
  });
  const pcm = new Int16Array(at);
  let offset = 0;
  for (const part of parts) {
    pcm.set(part, offset);
    offset += part.length;
  }
  return { pcm, utterances };
}

interface Answers {
  turns: SpeakerTurn[];
  proposals: unknown[];
  current: number[];
}

/** Reads a conversation in blocks; `relay` may hand the reading to another tracker in between. */
function read(
  { pcm, utterances }: Spoken,
  block = 1600,
  relay = (tracker: SpeakerTracker, _end: number) => tracker,
): Answers & { tracker: SpeakerTracker } {
  let tracker = createSpeakerTracker();
  const answers: Answers = { turns: [], proposals: [], current: [] };
  let position = 0;
  for (const { start, end } of utterances) {
    for (; position < end + PAUSE / 2; position += block) {
      tracker.push(position, pcm.subarray(position, position + block));
    }
    answers.current.push(tracker.currentCluster());
    const turns = tracker.turns(start, end);
    tracker.commit(turns, end);
    answers.turns.push(...turns);
    answers.proposals.push(tracker.revisions());
    tracker = relay(tracker, end);
  }
  answers.proposals.push(tracker.finalPass());
  return { ...answers, tracker };
}

/** What the first release would have written, with all segments so many times one after the other. */
function asVersion1(checkpoint: Uint8Array, times = 1): Uint8Array {
  const [from, to] = [new StateReader(checkpoint), new StateWriter()];
  expect(from.uint32()).toBe(2);
  to.uint32(1);
  to.float64(from.float64());
  const features = new FeatureStream();
  features.read(from);
  features.write(to);
  const store = new VoiceRegistry();
  store.read(from);
  to.uint32(store.nextCluster);
  to.uint32(times * store.pieces.length);
  for (let round = 0; round < times; round++) {
    for (const { starts, cluster, voice } of store.pieces) {
      to.float64(60 * RATE * round + (starts[0] ?? 0));
      to.float64(60 * RATE * round + (starts[0] ?? 0) + RATE);
      to.int32(cluster);
      voice.write(to);
    }
  }
  return to.finish();
}

const AB = [LOW_VOICE, HIGH_VOICE, LOW_VOICE, HIGH_VOICE, HIGH_VOICE, LOW_VOICE];

describe("speaker tracker: labels", () => {
  it("tells two voices apart and knows them again", () => {
    const { turns, proposals } = read(converse(AB));
    expect(turns.map((turn) => turn.cluster)).toEqual([0, 1, 0, 1, 1, 0]);
    expect(proposals.at(-1)).toEqual({ segments: [], merges: [] });
  });

  it("keeps one label for one voice", () => {
    const { turns, proposals } = read(converse(new Array<SyntheticVoice>(40).fill(LOW_VOICE)));
    expect(new Set(turns.map((turn) => turn.cluster))).toEqual(new Set([0]));
    expect(proposals.every((p) => JSON.stringify(p) === '{"merges":[],"segments":[]}')).toBe(true);
  });

  it("covers each utterance with turns, in order, without holes", () => {
    const spoken = converse(AB);
    const { turns } = read(spoken);
    for (const { start, end } of spoken.utterances) {
      const own = turns.filter((turn) => turn.start >= start && turn.end <= end);
      expect(own[0]?.start).toBe(start);
      expect(own.at(-1)?.end).toBe(end);
      expect(own.slice(1).map((turn) => turn.start)).toEqual(
        own.slice(0, -1).map((turn) => turn.end),
      );
    }
  });

  it("splits an utterance in which the voice changes at a short pause", () => {
    const { pcm, utterances } = converse([LOW_VOICE, HIGH_VOICE, LOW_VOICE, HIGH_VOICE]);
    const [a, b, c, d] = utterances;
    const joined = [a, b, { start: c?.start ?? 0, end: d?.end ?? 0 }].flatMap((u) => u ?? []);
    const { turns } = read({ pcm, utterances: joined });
    expect(turns.map((turn) => turn.cluster)).toEqual([0, 1, 0, 1]);
    expect(Math.abs((turns[3]?.start ?? 0) - (d?.start ?? 0))).toBeLessThan(RATE / 10);
  });

  it("knows nobody in silence, and -1 before anybody spoke", () => {
    const tracker = createSpeakerTracker();
    expect(tracker.currentCluster()).toBe(-1);
    tracker.push(0, new Int16Array(RATE));
    expect(tracker.currentCluster()).toBe(-1);
    expect(tracker.turns(0, RATE)).toEqual([{ start: 0, end: RATE, cluster: -1, confidence: 0 }]);
  });

  it("names the speaker of the newest audio", () => {
    const { current } = read(converse(AB));
    expect(current).toEqual([-1, 0, 0, 1, 1, 0]);
  });

  it("goes on after missing audio", () => {
    const { pcm, utterances } = converse([LOW_VOICE, HIGH_VOICE, LOW_VOICE]);
    const tracker = createSpeakerTracker();
    const labels = utterances.map(({ start, end }) => {
      tracker.skip(3600 * RATE + start);
      tracker.push(3600 * RATE + start, pcm.subarray(start, end));
      const turns = tracker.turns(3600 * RATE + start, 3600 * RATE + end);
      tracker.commit(turns, 3600 * RATE + end);
      return turns.map((turn) => turn.cluster);
    });
    expect(labels).toEqual([[0], [1], [0]]);
  });
});

describe("speaker tracker: repeatability", () => {
  it("does not depend on how the audio was cut", () => {
    const spoken = converse(AB);
    const { tracker: _, ...whole } = read(spoken, 1600);
    for (const block of [160, 777, 4000]) {
      const { turns, proposals } = read(spoken, block);
      expect({ turns, proposals }).toEqual({ turns: whole.turns, proposals: whole.proposals });
    }
  });

  it("answers the same from a checkpoint after every utterance", () => {
    const spoken = converse([...AB, ...AB, ...AB], 2);
    const { tracker: unbroken, ...expected } = read(spoken);
    const { tracker: relayed, ...answers } = read(spoken, 1600, (tracker) =>
      createSpeakerTracker(Buffer.from(tracker.checkpoint())),
    );
    expect(answers).toEqual(expected);
    expect(relayed.checkpoint()).toEqual(unbroken.checkpoint());
  });

  it("answers the same when audio after the last utterance is pushed again", () => {
    const spoken = converse(AB);
    const { tracker: _, ...expected } = read(spoken);
    const { tracker: __, ...answers } = read(spoken, 1600, (tracker, end) => {
      const restored = createSpeakerTracker(tracker.checkpoint());
      restored.push(end - 320, spoken.pcm.subarray(end - 320, end + 3200));
      return restored;
    });
    expect(answers).toEqual(expected);
  });

  it("refuses a checkpoint that is none", () => {
    expect(() => createSpeakerTracker(new Uint8Array([9, 9, 9]))).toThrow(RangeError);
    expect(() => createSpeakerTracker(new Uint8Array(64))).toThrow(RangeError);
  });

  it("answers the same from checkpoints of a session that is longer than what it keeps", () => {
    const turns = Array.from({ length: MOST_PIECES + 20 }, (_, n) => AB[(n >> 1) % 6] ?? LOW_VOICE);
    const spoken = converse(turns, 1);
    const { tracker: unbroken, ...expected } = read(spoken);
    const random = seededRandom(5);
    const { tracker: relayed, ...answers } = read(spoken, 1600, (tracker) =>
      random() < 0.8 ? tracker : createSpeakerTracker(Buffer.from(tracker.checkpoint())),
    );
    expect(answers).toEqual(expected);
    expect(relayed.checkpoint()).toEqual(unbroken.checkpoint());
    expect(relayed.checkpoint().length).toBeLessThan(MOST_PIECES * 880);
  }, 60_000);

  it("goes on from a checkpoint of version 1, which held every segment", () => {
    const spoken = converse(AB);
    const { tracker: newest, ...expected } = read(spoken);
    const { tracker: upgraded, ...answers } = read(spoken, 1600, (tracker) =>
      createSpeakerTracker(asVersion1(tracker.checkpoint())),
    );
    expect(answers).toEqual(expected);
    expect(upgraded.checkpoint()).toEqual(newest.checkpoint());
  });

  it("takes up a checkpoint of version 1 of any length", () => {
    const { tracker } = read(converse([LOW_VOICE, HIGH_VOICE]));
    const long = createSpeakerTracker(asVersion1(tracker.checkpoint(), 500));
    expect(long.clusters()).toEqual([0, 1]);
    expect(long.checkpoint().length).toBeLessThan(MOST_PIECES * 880 + 4 * 1000);
    const again = createSpeakerTracker(long.checkpoint());
    expect(again.finalPass()).toEqual(long.finalPass());
  }, 60_000);
});
