import { describe, expect, it } from "vitest";
import { CEPSTRA } from "../../../../workers/speakers/mel-cepstrum.ts";
import { reclusterAll, reclusterNewest } from "../../../../workers/speakers/recluster.ts";
import { StateReader, StateWriter } from "../../../../workers/speakers/state-codec.ts";
import {
  MOST_NAMED,
  MOST_PIECES,
  VoiceRegistry,
  WINDOW,
} from "../../../../workers/speakers/voice-registry.ts";
import { VoiceStatistics } from "../../../../workers/speakers/voice-statistics.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";

const SECOND = 16_000;
/** Statistics of a piece with one name, and 4 bytes for each of the others. */
const PIECE_BYTES = 860;

function speech(voice: number, frames: number, random: () => number): VoiceStatistics {
  const rows = Float32Array.from(
    { length: frames * CEPSTRA },
    (_, n) => 8 * Math.sin(1 + voice * ((n % CEPSTRA) + 1)) + 6 * (random() + random() - 1),
  );
  return VoiceStatistics.of(rows).rounded();
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
    const voice = speech(cluster, 10 + Math.floor(40 * random()), random);
    store.add({ starts: [5 * n * SECOND], cluster, voice });
    if (n % 100 === 0) reclusterNewest(store);
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
    expect(resumed.clusters()).toEqual(unbroken.clusters());
  }, 60_000);

  it("voice book: knows the voices of the first segments at the end", () => {
    const store = new VoiceRegistry();
    talk(store, 0, 600);
    const random = seededRandom(99);
    const nearest = [0, 1, 2, 3].map((n) => store.compare(speech(n, 50, random))[0]?.cluster);
    expect(nearest).toEqual([0, 1, 2, 3]);
  }, 60_000);

  it("voice book: gives up the voice with the least speech where each old piece is another's", () => {
    const store = new VoiceRegistry();
    const random = seededRandom(3);
    for (let n = 0; n <= MOST_PIECES; n++) {
      const voice = speech(n, n === 7 ? 11 : 12 + n, random);
      store.add({ starts: [n * SECOND], cluster: n, voice });
    }
    expect(store.pieces).toHaveLength(MOST_PIECES);
    expect(store.known()).not.toContain(7);
    expect(store.clusters()).not.toContain(7);
    expect(restored(written(store)).known()).toEqual(store.known());
    expect(store.nextCluster).toBe(MOST_PIECES + 1);
  });

  it("voice book: a voice that is given up takes no room from the names of the others", () => {
    const store = new VoiceRegistry();
    const random = seededRandom(5);
    const voice = speech(0, 12, random);
    // Its first segments are given up as a whole, as the others are voices of their own.
    const many = Array.from({ length: 100 }, (_, n) => n * SECOND);
    store.add({ starts: many, cluster: 0, voice: speech(0, 2, random) });
    for (let n = 1; n <= MOST_PIECES; n++) {
      store.add({ starts: [(100 + n) * SECOND], cluster: n, voice });
    }
    const named = () => store.pieces.reduce((sum, { starts }) => sum + starts.length, 0);
    expect(named()).toBe(MOST_PIECES);
    for (let n = 1; named() < MOST_NAMED && n <= MOST_NAMED; n++) {
      store.add({ starts: [(200 + n) * SECOND], cluster: MOST_PIECES, voice });
    }
    expect(named()).toBe(MOST_NAMED);
  }, 60_000);
});
