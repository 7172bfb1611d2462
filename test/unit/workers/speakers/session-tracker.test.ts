import { describe, expect, it } from "vitest";
import { SessionTracker } from "../../../../workers/speakers/session-tracker.ts";
import type { SpeakerProposal, SpeakerTurn } from "../../../../workers/speakers/speaker-tracker.ts";
import { StateWriter } from "../../../../workers/speakers/state-codec.ts";
import { MOST_SUBSEGMENTS } from "../../../../workers/speakers/voice-subsegments.ts";
import { CodedVoices, codedSound } from "../../../support/coded-voices.ts";

const SECOND = 16_000;
const PAUSE = SECOND / 2;

type Part = readonly [voice: number, seconds: number, other?: number];
/** Utterances, of which each may have several voices without a pause. */
type Talk = readonly (readonly Part[])[];

/** Reads a talk and keeps the clusters of its segments as a viewer would have them. */
class Reading {
  readonly analysis = new CodedVoices();
  tracker = new SessionTracker(this.analysis);
  readonly turns: SpeakerTurn[] = [];
  readonly first = new Map<number, number>();
  readonly now = new Map<number, number>();
  merges: SpeakerProposal["merges"] = [];
  at = 0;

  hear(talk: Talk): this {
    for (const parts of talk) this.#utterance(parts);
    return this;
  }

  finish(): this {
    this.#apply(this.tracker.finalPass());
    return this;
  }

  goOnElsewhere(): void {
    const state = Buffer.from(this.tracker.checkpoint());
    this.tracker = new SessionTracker(new CodedVoices(), state);
  }

  #utterance(parts: readonly Part[]): void {
    const start = this.at;
    this.tracker.begin(start);
    for (const [n, [voice, seconds, other]] of parts.entries()) {
      const and = other === undefined ? {} : { other };
      const pcm = codedSound(seconds, { voice, ...and, seed: start + n });
      for (let from = 0; from < pcm.length; from += 1_600) {
        this.tracker.push(this.at + from, pcm.subarray(from, from + 1_600));
      }
      this.at += pcm.length;
    }
    expect(this.tracker.settle(start, this.at)).toBe(true);
    const turns = this.tracker.turns(start, this.at);
    this.turns.push(...turns);
    this.tracker.commit(turns, this.at);
    for (const turn of turns) {
      this.first.set(turn.start, turn.cluster);
      this.now.set(turn.start, turn.cluster);
    }
    this.#apply(this.tracker.revisions());
    this.tracker.push(this.at, new Int16Array(PAUSE));
    this.at += PAUSE;
  }

  #apply({ segments, merges }: SpeakerProposal): void {
    this.merges.push(...merges);
    for (const { from, into } of merges) {
      for (const [start, cluster] of this.now) if (cluster === from) this.now.set(start, into);
    }
    for (const { start, cluster } of segments) this.now.set(start, cluster);
  }

  get clusters(): number[] {
    return [...this.now.values()];
  }
}

function turnsOf(voices: readonly number[], seconds = 3): Talk {
  return voices.map((voice) => [[voice, seconds]]);
}

describe("speaker tracker", () => {
  it("tracker: voices in turns have a name each, and keep it", () => {
    const voices = [0, 1, 0, 1, 1, 0, 2, 1, 0, 2, 2, 1];
    const { clusters } = new Reading().hear(turnsOf(voices, 4)).finish();
    expect(clusters).toEqual(voices);
  });

  it("tracker: a change of voice within an utterance parts it where it is", () => {
    const talk: Talk = [[[0, 4]], [[1, 4]], [[0, 5]], ...turnsOf([1, 0], 4)];
    const { turns, clusters } = new Reading()
      .hear([
        ...talk,
        [
          [0, 3],
          [1, 3],
        ],
      ])
      .finish();
    const [before, after] = turns.slice(-2);
    expect(clusters.slice(-2)).toEqual([clusters[0], clusters[1]]);
    const change = (before?.start ?? 0) + 3 * SECOND;
    expect(Math.abs((after?.start ?? 0) - change)).toBeLessThan(SECOND / 10);
  });

  it("tracker: one alone for long is one, in a state that hardly grows once it is full", () => {
    const reading = new Reading();
    const sizes: number[] = [];
    for (let utterance = 0; utterance < 45; utterance++) {
      reading.hear(turnsOf([0], 10));
      sizes.push(reading.tracker.checkpoint().length);
    }
    expect(new Set(reading.finish().clusters)).toEqual(new Set([0]));
    expect(Math.max(...sizes)).toBeLessThan(MOST_SUBSEGMENTS * 60 + 100_000);
    expect((sizes.at(-1) ?? 0) / (sizes[36] ?? 1)).toBeLessThan(1.05);
  });

  it("tracker: who comes back after long has their own name", () => {
    const reading = new Reading().hear(turnsOf([0, 1, 0, 1, 0, 1], 4));
    for (let n = 0; n < 45; n++) reading.hear(turnsOf(n % 3 === 0 ? [2] : [1], 8));
    const { clusters } = reading.hear(turnsOf([0, 0], 4)).finish();
    expect(clusters.slice(-2)).toEqual([0, 0]);
    expect(new Set(clusters).size).toBe(3);
  });

  it("tracker: from any checkpoint, elsewhere, it goes on the same", () => {
    const talk = turnsOf([0, 1, 0, 2, 1, 2, 0, 1, 2, 0, 1], 3);
    const unbroken = new Reading().hear(talk).finish();
    const broken = new Reading();
    for (const part of talk) {
      broken.hear([part]);
      broken.goOnElsewhere();
    }
    broken.finish();
    expect(broken.turns).toEqual(unbroken.turns);
    expect(broken.now).toEqual(unbroken.now);
  });

  it("tracker: a word too short to have a voice takes that of what is about it", () => {
    const talk: Talk = [...turnsOf([0, 1, 0, 1, 0, 1], 4), [[1, 0.3]], [[0, 4]]];
    const { tracker, clusters, now } = new Reading().hear(talk);
    expect([-1, 0, 1]).toContain(clusters.at(-2));
    expect(now.size).toBe(8);
    expect(tracker.clusters()).toEqual([0, 1]);
  });

  it("tracker: a voice is told while it is spoken once 1.5 s are there, a new one by the name that it gets", () => {
    const reading = new Reading().hear(turnsOf([0, 1], 4));
    const { tracker } = reading;
    for (const [n, voice] of [1, 2, 0].entries()) {
      const at = reading.at + 3 * n * SECOND;
      tracker.begin(at);
      tracker.push(at, codedSound(1.4, { voice, seed: at }));
      expect(tracker.currentCluster()).toBe(-1);
      tracker.push(at + 1.4 * SECOND, codedSound(0.2, { voice, seed: at }));
      expect(tracker.currentCluster()).toBe(voice);
    }
    const first = new SessionTracker(new CodedVoices());
    first.begin(0);
    first.push(0, codedSound(2, { voice: 0, seed: 1 }));
    expect(first.currentCluster()).toBe(0);
    expect(first.clusters()).toEqual([]);
  });

  it("tracker: answers that come late are waited for, and are asked for once", () => {
    const analysis = new CodedVoices();
    const tracker = new SessionTracker(analysis);
    analysis.isHolding = true;
    let told = 0;
    tracker.onNews(() => {
      told += 1;
    });
    tracker.begin(0);
    tracker.push(0, codedSound(4, { voice: 0, seed: 1 }));
    expect(tracker.settle(0, 4 * SECOND)).toBe(false);
    const { asked } = analysis;
    expect(tracker.settle(0, 4 * SECOND)).toBe(false);
    expect(analysis.asked).toBe(asked);
    while (!tracker.settle(0, 4 * SECOND)) analysis.release();
    expect(told).toBeGreaterThan(0);
    expect(tracker.turns(0, 4 * SECOND)).toMatchObject([{ cluster: 0 }]);
  });

  it("tracker: states of earlier methods give up their voices and names, foreign bytes are refused", () => {
    const older = new StateWriter();
    older.uint32(3);
    older.float64(0);
    const tracker = new SessionTracker(new CodedVoices(), older.finish());
    tracker.begin(0);
    tracker.push(0, codedSound(3, { voice: 0, seed: 1 }));
    tracker.settle(0, 3 * SECOND);
    // The first names may be those of other voices.
    expect(tracker.turns(0, 3 * SECOND)[0]?.cluster).toBeGreaterThan(999);
    const foreign = () => new SessionTracker(new CodedVoices(), new Uint8Array([9, 9, 9, 9]));
    expect(foreign).toThrow(RangeError);
    expect(() => new SessionTracker(new CodedVoices(), new Uint8Array(2))).toThrow(RangeError);
  });

  it("tracker: silence that was taken for an utterance has no voice", () => {
    const tracker = new SessionTracker(new CodedVoices());
    tracker.push(0, new Int16Array(2 * SECOND));
    tracker.settle(0, 2 * SECOND);
    expect(tracker.turns(0, 2 * SECOND)).toMatchObject([
      { start: 0, end: 2 * SECOND, cluster: -1 },
    ]);
    tracker.commit([], 2 * SECOND);
    expect(tracker.finalPass()).toEqual({ segments: [], merges: [] });
  });

  it("session tracker: who speaks within another one's turn is told as that voice", () => {
    const reading = new Reading().hear([
      [[0, 6]],
      [[1, 6]],
      [
        [0, 4],
        [0, 1, 1],
        [1, 4],
      ],
    ]);
    const [first, second, third, fourth] = reading.turns;
    expect([third?.cluster, fourth?.cluster]).toEqual([first?.cluster, second?.cluster]);
    expect(third?.overlaps).toMatchObject([{ cluster: second?.cluster }]);
    const [overlap] = third?.overlaps ?? [];
    expect(((overlap?.start ?? 0) - 17 * SECOND) / SECOND).toBeCloseTo(0, 1);
    expect(((overlap?.end ?? 0) - 18 * SECOND) / SECOND).toBeCloseTo(0, 1);
    expect(fourth).not.toHaveProperty("overlaps");
  });
});
