import { describe, expect, it } from "vitest";
import { createSpeakerTracker } from "../../../../workers/speakers/session-tracker.ts";
import type { SpeakerTracker, SpeakerTurn } from "../../../../workers/speakers/speaker-tracker.ts";
import { StateWriter } from "../../../../workers/speakers/state-codec.ts";
import type { VoiceEmbedder } from "../../../../workers/speakers/voice-embedder.ts";
import { MOST_PIECES } from "../../../../workers/speakers/voice-registry.ts";
import { CEPSTRA, FRAME_LENGTH, MelCepstrum } from "../../../../workers/voices/mel-cepstrum.ts";
import { pitchOf } from "../../../../workers/voices/pitch.ts";
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

/**
 * Reads a conversation in blocks; `relay` may hand the reading to another tracker in between.
 * Revisions, which take longest, are asked for from an utterance on.
 */
function read(
  { pcm, utterances }: Spoken,
  block = 1600,
  relay = (tracker: SpeakerTracker, _end: number) => tracker,
  tracker = createSpeakerTracker(),
  { askedFrom = 0 } = {},
): Answers & { tracker: SpeakerTracker } {
  const answers: Answers = { turns: [], proposals: [], current: [] };
  let position = 0;
  for (const [n, { start, end }] of utterances.entries()) {
    for (; position < end + PAUSE / 2; position += block) {
      tracker.push(position, pcm.subarray(position, position + block));
    }
    answers.current.push(tracker.currentCluster());
    const turns = tracker.turns(start, end);
    tracker.commit(turns, end);
    answers.turns.push(...turns);
    if (n >= askedFrom) answers.proposals.push(tracker.revisions());
    tracker = relay(tracker, end);
  }
  answers.proposals.push(tracker.finalPass());
  return { ...answers, tracker };
}

/** What releases before wrote for a voice: sums and products of cepstra of frames 40 ms apart. */
function writeOldVoice(to: StateWriter, pcm: Int16Array): void {
  const cepstrum = new MelCepstrum();
  const row = new Float32Array(CEPSTRA);
  const sums = new Float64Array(CEPSTRA);
  const products = new Float64Array((CEPSTRA * (CEPSTRA + 1)) / 2);
  let count = 0;
  for (let at = 0; at + FRAME_LENGTH <= pcm.length; at += 640, count++) {
    cepstrum.analyse(pcm, at, row);
    for (let i = 0, n = 0; i < CEPSTRA; i++) {
      sums[i] = (sums[i] ?? 0) + (row[i] ?? 0);
      for (let j = 0; j <= i; j++, n++) {
        products[n] = (products[n] ?? 0) + (row[i] ?? 0) * (row[j] ?? 0);
      }
    }
  }
  to.uint32(count);
  for (const sum of sums) to.float32(sum);
  for (const product of products) to.float32(product);
}

/** A state of version 1 or 2 after these utterances, which has their voices as cluster 0 and 1. */
function olderState({ pcm, utterances }: Spoken, version: 1 | 2): Uint8Array {
  const to = new StateWriter();
  const end = (utterances.at(-1)?.end ?? 0) + PAUSE;
  to.uint32(version);
  to.float64(end);
  to.float64(end);
  to.float64(70);
  to.float64(25);
  to.bytes(new Uint8Array(0));
  to.uint32(0);
  to.uint32(2);
  to.uint32(utterances.length);
  for (const [n, utterance] of utterances.entries()) {
    if (version === 1) {
      to.float64(utterance.start);
      to.float64(utterance.end);
    }
    to.int32(n % 2);
    if (version === 2) {
      to.uint32(1);
      to.float64(utterance.start);
    }
    writeOldVoice(to, pcm.subarray(utterance.start, utterance.end));
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
    const { turns, proposals } = read(converse(new Array<SyntheticVoice>(24).fill(LOW_VOICE)));
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
    // The second voice is like none that is known yet.
    expect(current).toEqual([-1, -1, 0, 1, 1, 0]);
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
    const options = { askedFrom: MOST_PIECES - 10 };
    const stay = (tracker: SpeakerTracker) => tracker;
    const plain = read(spoken, 1600, stay, createSpeakerTracker(), options);
    const { tracker: unbroken, ...expected } = plain;
    const random = seededRandom(5);
    const relay = (tracker: SpeakerTracker) =>
      random() < 0.8 ? tracker : createSpeakerTracker(Buffer.from(tracker.checkpoint()));
    const broken = read(spoken, 1600, relay, createSpeakerTracker(), options);
    const { tracker: relayed, ...answers } = broken;
    expect(answers).toEqual(expected);
    expect(relayed.checkpoint()).toEqual(unbroken.checkpoint());
    expect(relayed.checkpoint().length).toBeLessThan(MOST_PIECES * 930);
  }, 60_000);

  for (const version of [1, 2] as const) {
    it(`knows voices again from a checkpoint of version ${version}, which held less of them`, () => {
      const before = converse([LOW_VOICE, HIGH_VOICE, LOW_VOICE, HIGH_VOICE]);
      const tracker = createSpeakerTracker(olderState(before, version));
      expect(tracker.clusters()).toEqual([0, 1]);
      const { pcm, utterances } = converse([HIGH_VOICE, LOW_VOICE]);
      const origin = before.pcm.length;
      tracker.push(origin, pcm);
      for (const [n, { start, end }] of utterances.entries()) {
        const turns = tracker.turns(origin + start, origin + end);
        expect(new Set(turns.map(({ cluster }) => cluster))).toEqual(new Set([1 - n]));
        tracker.commit(turns, origin + end);
      }
      expect(createSpeakerTracker(tracker.checkpoint()).clusters()).toEqual([0, 1]);
    });
  }
});

describe("speaker tracker: a network for voices", () => {
  /** As far apart as the vectors of a trained network are: a right angle for an octave. */
  class PitchEmbedder implements VoiceEmbedder {
    readonly name: string;
    readonly dimension = 2;

    constructor(name = "pitch-1") {
      this.name = name;
    }

    embed(samples: Int16Array): Float32Array | undefined {
      const pitches: number[] = [];
      for (let at = 0; at < samples.length; at += 640) {
        const pitch = pitchOf(samples, at);
        if (pitch !== undefined) pitches.push(Math.log2(pitch));
      }
      const median = pitches.sort((a, b) => a - b)[pitches.length >> 1];
      if (median === undefined) return undefined;
      const angle = (Math.PI / 2) * (median - 6.5);
      return Float32Array.of(Math.cos(angle), Math.sin(angle));
    }

    close(): void {}
  }

  const withNetwork = (checkpoint?: Uint8Array) =>
    createSpeakerTracker(checkpoint, new PitchEmbedder());

  it("tells voices apart by its vectors, and names it", () => {
    const { turns, tracker } = read(converse(AB), 1600, (same) => same, withNetwork());
    expect(turns.map((turn) => turn.cluster)).toEqual([0, 1, 0, 1, 1, 0]);
    expect(tracker.modelVersion).toBe("map-supervector-2+pitch-1");
  });

  it("follows the network also where the built-in method would say something else", () => {
    const { pcm, utterances } = converse(AB);
    let calls = 0;
    const embedder: VoiceEmbedder = {
      name: "one-voice",
      dimension: 2,
      embed: () => {
        calls += 1;
        return Float32Array.of(1, 0);
      },
      close: () => {},
    };
    const { turns } = read(
      { pcm, utterances },
      1600,
      (same) => same,
      createSpeakerTracker(undefined, embedder),
    );
    expect(new Set(turns.map((turn) => turn.cluster))).toEqual(new Set([0]));
    expect(calls).toBeGreaterThanOrEqual(utterances.length);
  });

  it("answers the same from a checkpoint after every utterance", () => {
    const spoken = converse([...AB, ...AB], 2);
    const { tracker: unbroken, ...expected } = read(spoken, 1600, (same) => same, withNetwork());
    const { tracker: relayed, ...answers } = read(
      spoken,
      1600,
      (tracker, end) => {
        const restored = withNetwork(Buffer.from(tracker.checkpoint()));
        // Whoever resumes brings the audio after the checkpoint again.
        const heard = 1600 * Math.ceil((end + PAUSE / 2) / 1600);
        restored.push(end, spoken.pcm.subarray(end, heard));
        return restored;
      },
      withNetwork(),
    );
    expect(answers).toEqual(expected);
    expect(relayed.checkpoint()).toEqual(unbroken.checkpoint());
  });

  it("compares nothing with vectors of another network, and goes on without one", () => {
    const { tracker } = read(converse(AB), 1600, (same) => same, withNetwork());
    const state = tracker.checkpoint();
    const other = new PitchEmbedder("pitch-2");
    for (const next of [createSpeakerTracker(state), createSpeakerTracker(state, other)]) {
      expect(next.clusters()).toEqual([0, 1]);
      expect(next.checkpoint().length).toBeLessThan(state.length);
      expect(next.finalPass().merges).toEqual([]);
    }
  });
});
