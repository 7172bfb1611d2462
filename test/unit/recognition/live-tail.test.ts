import { describe, expect, it } from "vitest";
import type {
  LiveAudio,
  LiveFragment,
} from "../../../src/conversations/recording/chunk-assembler.ts";
import { StreamTail } from "../../../src/recognition/stream-tail.ts";

function fragment(sequence: number, index: number): LiveFragment {
  return {
    kind: "fragment",
    sequence,
    index,
    format: { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le", sampleRate: 16_000 },
    startFrame: index * 10,
    startByte: index * 20,
    frames: 10,
    data: Buffer.alloc(20, index),
    interim: true,
  };
}

/** A tail with a store that holds `stored` and counts how often it is asked. */
const wanted = (interim: boolean) => Promise.resolve({ interim });

function createTail(stored: LiveFragment[]) {
  let tell: (audio: LiveAudio) => void = () => {};
  const asked: [number, number][] = [];
  let stopped = false;
  const tail = new StreamTail(
    "session",
    {
      follow: (_id, listener) => {
        tell = listener;
        return () => {
          stopped = true;
        };
      },
    },
    {
      fragments: async (_id, sequence, from, limit) => {
        asked.push([sequence, from]);
        return stored
          .filter((each) => each.sequence === sequence && each.index >= from)
          .slice(0, limit);
      },
    },
  );
  let news = 0;
  tail.start(() => {
    news += 1;
  });
  return { tail, tell: (a: LiveAudio) => tell(a), asked, news: () => news, stopped: () => stopped };
}

/** Hands out as a reading does: one after the other, until there is none. */
async function drain(tail: StreamTail, sequence: number, from = 0): Promise<number[]> {
  const got: number[] = [];
  for (let next = from; ; next += 1) {
    const found = await tail.next(sequence, next);
    if (found === undefined) return got;
    expect(found.index).toBe(next);
    got.push(found.index);
  }
}

describe("live tail", () => {
  it("what was told is handed out in order, after one look into the store", async () => {
    const { tail, tell, asked, news } = createTail([]);
    for (const index of [0, 1, 2]) tell(fragment(0, index));
    expect(news()).toBe(3);
    expect(await drain(tail, 0)).toEqual([0, 1, 2]);
    tell(fragment(0, 3));
    expect(await drain(tail, 0, 3)).toEqual([3]);
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it("what was lost on its way comes from the store, each fragment once", async () => {
    const { tail, tell } = createTail([0, 1, 2, 3, 4].map((index) => fragment(0, index)));
    tell(fragment(0, 0));
    tell(fragment(0, 3));
    tell(fragment(0, 4));
    expect(await drain(tail, 0)).toEqual([0, 1, 2, 3, 4]);
  });

  it("a reading that begins anew gets everything again", async () => {
    const { tail, tell } = createTail([0, 1].map((index) => fragment(0, index)));
    tell(fragment(0, 0));
    tell(fragment(0, 1));
    expect(await drain(tail, 0)).toEqual([0, 1]);
    tail.rewind();
    expect(await drain(tail, 0)).toEqual([0, 1]);
  });

  it("an assembled chunk has no fragments, and those of the next one wait their turn", async () => {
    const { tail, tell } = createTail([]);
    tell(fragment(1, 0));
    expect(await tail.next(0, 2)).toBeUndefined();
    expect(await drain(tail, 1)).toEqual([0]);
  });

  it("more than is kept is read from the store", async () => {
    const all = Array.from({ length: 600 }, (_, index) => fragment(0, index));
    const { tail, tell } = createTail(all);
    for (const each of all) tell(each);
    expect(await drain(tail, 0)).toEqual(all.map((each) => each.index));
  });

  it("the end of an utterance is asked for once, after what came before it", () => {
    const { tail, tell } = createTail([]);
    tell({ kind: "finalize", sequence: 2, index: 3 });
    expect(tail.takeFinalize(1, 9)).toBe(false);
    expect(tail.takeFinalize(2, 2)).toBe(false);
    expect(tail.takeFinalize(2, 3)).toBe(true);
    expect(tail.takeFinalize(2, 4)).toBe(false);
  });

  it("hypotheses: none until it is known whether they are wanted", async () => {
    const { tail } = createTail([]);
    expect(tail.interim).toBe(false);
    await tail.learnInterim(wanted(true));
    expect(tail.interim).toBe(true);
  });

  it("hypotheses: a stored stream that wants none gets none, and no fragment of it says otherwise", async () => {
    const { tail } = createTail([{ ...fragment(0, 0), interim: false }]);
    await tail.learnInterim(wanted(false));
    expect(tail.interim).toBe(false);
    await drain(tail, 0);
    expect(tail.interim).toBe(false);
  });

  it("hypotheses: what the newest connection wants decides, also while the store is asked", async () => {
    const { tail, tell, stopped } = createTail([]);
    const asking = tail.learnInterim(wanted(true));
    tell({ ...fragment(0, 0), interim: false });
    await asking;
    expect(tail.interim).toBe(false);
    tell({ ...fragment(0, 1), interim: true });
    expect(tail.interim).toBe(true);
    tail.stop();
    expect(stopped()).toBe(true);
  });
});
