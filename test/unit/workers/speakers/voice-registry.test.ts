import { describe, expect, it } from "vitest";
import { attribute, nearestVoice, reclusterAll } from "../../../../workers/speakers/recluster.ts";
import { StateReader, StateWriter } from "../../../../workers/speakers/state-codec.ts";
import {
  MOST_NAMED,
  MOST_PIECES,
  VoiceRegistry,
  WINDOW,
} from "../../../../workers/speakers/voice-registry.ts";
import { VoiceSketch, vectorOf } from "../../../../workers/speakers/voice-sketch.ts";
import { FRAME_SIZE } from "../../../../workers/voices/voice-frames.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";

const SECOND = 16_000;
/** Bytes of a piece with one name; each of the others takes 4. */
const PIECE_BYTES = 910;
const MEAN = new Float64Array(FRAME_SIZE / 2);

function speech(voice: number, frames: number, random: () => number): VoiceSketch {
  const rows = Float32Array.from(
    { length: frames * FRAME_SIZE },
    (_, n) => 3 * Math.sin(1 + voice * ((n % FRAME_SIZE) + 1)) + 2 * (random() + random() - 1),
  );
  const pitches = new Float32Array(frames).fill(7 + voice / 10);
  return VoiceSketch.of({ starts: [], rows, pitches }, MEAN);
}

const SKETCHES = new Map<string, VoiceSketch>();

/** One of sixteen stretches of a voice, of 0.4 to 1.9 s. */
function heard(voice: number, which: number): VoiceSketch {
  const key = `${voice}/${which}`;
  const sketch =
    SKETCHES.get(key) ?? speech(voice, 40 + 10 * which, seededRandom(100 * voice + which));
  SKETCHES.set(key, sketch);
  return sketch;
}

/** A segment of its own utterance. */
function add(store: VoiceRegistry, starts: number[], cluster: number, sketch: VoiceSketch): void {
  store.add({ starts, cluster, sketch, within: undefined, utterance: starts[0] });
}

function written(store: VoiceRegistry): Buffer {
  const to = new StateWriter();
  store.write(to);
  return Buffer.from(to.finish());
}

function restored(bytes: Uint8Array): VoiceRegistry {
  const store = new VoiceRegistry();
  store.read(new StateReader(bytes));
  return store;
}

/** Adds segments `from` to before `to` of a conversation of four, and groups now and then. */
function talk(store: VoiceRegistry, from: number, to: number): void {
  for (let n = from; n < to; n++) {
    const random = seededRandom(n + 1);
    const cluster = Math.floor(4 * random());
    const sketch = heard(cluster, Math.floor(16 * random()));
    add(store, [5 * n * SECOND], cluster, sketch);
    if (n % 100 === 0) store.rename(attribute(store, []).revised);
  }
}

describe("voice book", () => {
  it("voice book: keeps its size over thousands of segments", () => {
    const store = new VoiceRegistry();
    talk(store, 0, MOST_PIECES);
    const full = written(store).length;
    talk(store, MOST_PIECES, 3_000);
    expect(store.pieces).toHaveLength(MOST_PIECES);
    expect(written(store).length).toBeLessThan(full + 4 * MOST_NAMED + 100);
    expect(written(store).length).toBeLessThan(MOST_PIECES * PIECE_BYTES + 4 * MOST_NAMED);
    const names = store.pieces.flatMap(({ starts }) => starts).sort((a, b) => a - b);
    expect(names).toEqual(
      Array.from({ length: MOST_NAMED }, (_, n) => 5 * (3_000 - MOST_NAMED + n) * SECOND),
    );
    const newest = store.pieces.slice(-WINDOW);
    expect(newest.map(({ starts }) => starts)).toEqual(names.slice(-WINDOW).map((n) => [n]));
  }, 60_000);

  it("voice book: goes on the same from any checkpoint of a long session", () => {
    const unbroken = new VoiceRegistry();
    let resumed = new VoiceRegistry();
    const random = seededRandom(7);
    for (let at = 0; at < 2_100; ) {
      const to = Math.min(2_100, at + 1 + Math.floor(300 * random()));
      talk(unbroken, at, to);
      talk(resumed, at, to);
      expect(written(resumed).equals(written(unbroken))).toBe(true);
      resumed = restored(written(resumed));
      at = to;
    }
    reclusterAll(unbroken);
    reclusterAll(resumed);
    expect(resumed.pieces).toEqual(unbroken.pieces);
    expect(resumed.known()).toEqual(unbroken.known());
  }, 60_000);

  it("voice book: knows the voices of the first segments at the end", () => {
    const store = new VoiceRegistry();
    talk(store, 0, 600);
    const random = seededRandom(99);
    const nearest = [0, 1, 2, 3].map((n) => {
      const sketch = speech(n, 200, random);
      return nearestVoice(store, { sketch, vector: vectorOf(sketch, store.mean) });
    });
    expect(nearest).toEqual([0, 1, 2, 3]);
  }, 60_000);

  it("voice book: gives up the voice with the least speech where each old piece is another's", () => {
    const store = new VoiceRegistry();
    const random = seededRandom(3);
    for (let n = 0; n <= MOST_PIECES; n++) {
      add(store, [n * SECOND], n, speech(n, n === 7 ? 11 : 12 + n, random));
    }
    expect(store.pieces).toHaveLength(MOST_PIECES);
    expect(store.known()).not.toContain(7);
    expect(restored(written(store)).known()).toEqual(store.known());
    expect(store.nextCluster).toBe(MOST_PIECES + 1);
  });

  it("voice book: a voice that is given up takes no room from the names of the others", () => {
    const store = new VoiceRegistry();
    const random = seededRandom(5);
    const sketch = speech(0, 12, random);
    // Its first segments are given up as a whole, as the others are voices of their own.
    const many = Array.from({ length: 100 }, (_, n) => n * SECOND);
    add(store, many, 0, speech(0, 2, random));
    for (let n = 1; n <= MOST_PIECES; n++) {
      add(store, [(100 + n) * SECOND], n, sketch);
    }
    const named = () => store.pieces.reduce((sum, { starts }) => sum + starts.length, 0);
    expect(named()).toBe(MOST_PIECES);
    for (let n = 1; named() < MOST_NAMED && n <= MOST_NAMED; n++) {
      add(store, [(200 + n) * SECOND], MOST_PIECES, sketch);
    }
    expect(named()).toBe(MOST_NAMED);
  }, 60_000);
});
