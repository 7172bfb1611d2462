import { afterEach, describe, expect, it } from "vitest";
import { SAMPLE_RATE } from "../../../src/session/timeline.ts";
import type { Segment, SpeakerUpdate } from "../../../src/wire/gen/voice/v1/worker.ts";
import { LateScene } from "../../support/late/late-scene.ts";
import { SeededRandom } from "../../support/seeded-random.ts";

const MINUTE = 60_000;

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n);
}

function chunks(count: number, seconds = 4): number[] {
  return Array.from({ length: count }, () => seconds * SAMPLE_RATE);
}

describe("late audio", () => {
  const open: LateScene[] = [];
  afterEach(() => Promise.all(open.splice(0).map((scene) => scene.close())));

  async function begin(lengths: readonly number[], seed?: number): Promise<LateScene> {
    const scene = await LateScene.open(lengths, seed);
    open.push(scene);
    return scene;
  }

  function all(scene: LateScene): string[] {
    return scene.words.map(({ text }) => text);
  }

  /** These come, each after a while; the others never did so far. */
  async function upload(scene: LateScene, sequences: readonly number[], every = 0): Promise<void> {
    for (const sequence of sequences) {
      await scene.upload(sequence);
      if (every > 0) await scene.pass(every);
    }
  }

  it("late audio: undisturbed, every word stands once", async () => {
    const scene = await begin(chunks(8));
    await upload(scene, range(0, 8), 4_000);
    await scene.stop();
    expect(scene.said).toEqual(all(scene));
    expect(scene.state.phase).toBe("completed");
    expect(scene.worker.streams).toHaveLength(1);
  });

  /** Chunks of which the first ends where nobody speaks. */
  function pausing(): number[] {
    const [length] = chunks(1, 32);
    const { words } = new LateScene([length ?? 0]);
    const pause = words.find(({ end }, n) => {
      return end > 8 * SAMPLE_RATE && (words[n + 1]?.start ?? 0) - end >= SAMPLE_RATE;
    });
    const first = (pause?.end ?? 0) + 0.9 * SAMPLE_RATE;
    return [first, (length ?? 0) - first];
  }

  it("late audio: while it waits for a worker's place, what is said now is heard at once", async () => {
    const scene = await begin(chunks(10));
    scene.worker.capacity = 1;
    await upload(scene, [0, 1, 3], 4_000);
    await scene.pass(11_000);
    await upload(scene, [4, 2, 5, 6, 7], 4_000);
    expect(scene.of("LateAudioDue")).toHaveLength(1);
    const sent = () => scene.worker.streams[0]?.sent ?? 0;
    for (const sequence of [8, 9]) {
      const before = sent();
      await scene.upload(sequence);
      expect(sent() - before).toBe(4 * SAMPLE_RATE);
    }
    await scene.stop();
    await scene.pass(10_000);
    expect(scene.said).toEqual(all(scene));
  });

  it("rest: a session to which no audio comes gives its worker's place back, and goes on", async () => {
    const scene = await begin(pausing());
    await scene.upload(0);
    await scene.pass(10_000);
    expect(scene.worker.placesTaken).toBe(1);
    await scene.pass(MINUTE);
    expect(scene.worker.placesTaken).toBe(0);
    await scene.upload(1);
    await scene.stop();
    expect(scene.said).toEqual(all(scene));
    expect(scene.worker.streams).toHaveLength(2);
    expect(scene.state.phase).toBe("completed");
  });

  it("rest: a stop that finds nothing more to read ends the session", async () => {
    const [first = 0] = pausing();
    const scene = await begin([first]);
    await scene.upload(0);
    await scene.pass(MINUTE);
    expect(scene.worker.placesTaken).toBe(0);
    await scene.stop();
    expect(scene.state.phase).toBe("completed");
    expect(scene.said).toEqual(all(scene));
  });

  it("rest: what was begun to be said keeps its place", async () => {
    const [first = 0, second = 0] = pausing();
    const scene = await begin([first - 1.2 * SAMPLE_RATE, second + 1.2 * SAMPLE_RATE]);
    await scene.upload(0);
    await scene.pass(2 * MINUTE);
    expect(scene.worker.placesTaken).toBe(1);
    await scene.upload(1);
    await scene.stop();
    expect(scene.said).toEqual(all(scene));
  });

  it("rest: what was begun to be said gives its place to those who wait, and is read again", async () => {
    const [first = 0, second = 0] = pausing();
    const scene = await begin([first - 1.2 * SAMPLE_RATE, second + 1.2 * SAMPLE_RATE]);
    scene.worker.isCrowded = true;
    await scene.upload(0);
    await scene.pass(8_000);
    expect(scene.worker.placesTaken).toBe(1);
    await scene.pass(12_000);
    expect(scene.worker.placesTaken).toBe(0);
    await scene.pass(2 * MINUTE);
    expect(scene.worker.streams).toHaveLength(1);
    await scene.upload(1);
    await scene.stop();
    expect(scene.said).toEqual(all(scene));
  });

  it("rest: while others wait, what a vanished device had said stands, and its place is free", async () => {
    const [first = 0] = pausing();
    const scene = await begin([first - 1.2 * SAMPLE_RATE]);
    scene.worker.isCrowded = true;
    await scene.upload(0);
    scene.presence = "offline";
    await scene.pass(20_000);
    expect(scene.worker.placesTaken).toBe(0);
    expect(scene.said.length).toBeGreaterThan(0);
    const said = scene.said;
    await scene.stop();
    expect(scene.said).toEqual(said);
  });

  it.each([0, 10, 5_000, 20_000, 40_000])(
    "late audio: two chunks that come %i ms apart after the stop leave no word out",
    async (apart) => {
      const scene = await begin(chunks(8));
      await upload(scene, [0, 1, 4, 5, 6, 7], 100);
      await scene.stop();
      await scene.pass(10 * MINUTE);
      expect(scene.state.phase).toBe("completed");
      await upload(scene, [2], apart);
      await upload(scene, [3], 10 * MINUTE);
      expect(scene.said).toEqual(all(scene));
    },
  );

  it("late audio: of a device that stops and uploads everything then, every word is heard", async () => {
    const scene = await begin(chunks(6));
    await scene.stop();
    await scene.pass(10 * MINUTE);
    expect(scene.state.phase).toBe("completed");
    expect(scene.said).toEqual([]);
    await upload(scene, range(0, 6), 1_000);
    await scene.pass(10 * MINUTE);
    expect(scene.said).toEqual(all(scene));
    expect(scene.of("TranscriptReplaced")).toHaveLength(1);
    expect(scene.state.timeline.position).toBe(24 * SAMPLE_RATE);
  });

  it("late audio: while the device of a stopped session lives, its text waits for it", async () => {
    const scene = await begin(chunks(4));
    await upload(scene, [0, 1]);
    await scene.stop();
    for (let beats = 0; beats < 8; beats += 1) {
      await scene.pass(30_000);
      scene.beat();
    }
    expect(scene.of("GapDeclared")).toEqual([]);
    expect(scene.asked).toBeGreaterThan(4);
    expect(scene.asked).toBeLessThan(30);
    await upload(scene, [3, 2]);
    expect(scene.said).toEqual(all(scene));
    expect(scene.state.phase).toBe("completed");
    expect(scene.worker.streams).toHaveLength(1);
  });

  it.each([
    ["silent for a minute", false, 60_000],
    ["that lives sends nothing for five", true, 5 * MINUTE],
  ])("late audio: a device %s is waited for no longer", async (_, lives, patience) => {
    const scene = await begin(chunks(2));
    await upload(scene, [0]);
    await scene.stop();
    const wait = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 10_000) {
        await scene.pass(10_000);
        if (lives) scene.beat();
      }
    };
    await wait(patience - 10_000);
    expect(scene.of("GapDeclared")).toEqual([]);
    await wait(30_000);
    expect(scene.of("GapDeclared")).toMatchObject([{ sequence: 1, tail: true }]);
    expect(scene.state.phase).toBe("completed");
  });

  it("late audio: what a device had said when it vanished stands soon, and not for one that lives", async () => {
    const { words } = new LateScene(chunks(3));
    // In the middle of what is said without a pause.
    const last = words.findIndex(
      ({ end }, n) => n > 10 && (words[n + 1]?.start ?? 0) < end + 2_000,
    );
    const end = words[last]?.end ?? 0;
    const scene = await begin([end, 4 * SAMPLE_RATE]);
    await upload(scene, [0]);
    const spoken = words.slice(0, last + 1).map(({ text }) => text);
    await scene.pass(60_000);
    expect(scene.said.length).toBeLessThan(spoken.length);
    scene.presence = "offline";
    await scene.pass(20_000);
    expect(scene.said).toEqual(spoken);
    expect(scene.state.phase).toBe("recording");
  });

  it("late audio: beside a first reading that is behind, no word is doubled or left out", async () => {
    for (const seed of range(1, 12)) {
      const scene = await begin(chunks(8, 3), seed);
      await upload(scene, [0, 1, 2]);
      await upload(scene, [4]);
      await scene.pass(10_000);
      const [first] = scene.worker.streams;
      if (first !== undefined) scene.worker.resting.add(first);
      await upload(scene, [5]);
      await upload(scene, [3], 30_000);
      expect(scene.said.length).toBe(new Set(scene.said).size);
      scene.worker.resting.clear();
      await upload(scene, [6], 1_000);
      await upload(scene, [7], 1_000);
      await scene.stop();
      expect(scene.said).toEqual(all(scene));
    }
  });

  it("late audio: what a person wrote stays, and every other word stands once", async () => {
    const scene = await begin(chunks(8));
    await upload(scene, [0, 1, 2, 4, 5, 6, 7]);
    await scene.stop();
    await scene.pass(10 * MINUTE);
    const { segments, timeline } = scene.state;
    const [gap] = timeline.gaps;
    const beside = segments.filter(({ end }) => end <= (gap?.start ?? 0)).slice(-1);
    const after = segments.filter(({ start }) => start >= 16 * SAMPLE_RATE).slice(0, 1);
    const edited = [...beside, ...after].map(({ id }) => id);
    const lost = edited.flatMap((id) => scene.record.segments.get(id)?.words ?? []);
    for (const segmentId of edited) {
      const edit = {
        type: "EditSegment",
        segmentId,
        editId: `by hand ${segmentId}`,
        label: "",
      } as const;
      await scene.run({ ...edit, byUserId: "u" });
    }
    await upload(scene, [3], 10 * MINUTE);
    const said = scene.said.filter((text) => !text.startsWith("by hand"));
    const written = lost.map(({ text }) => text.replace("~", ""));
    expect(said).toEqual(all(scene).filter((text) => !written.includes(text)));
    expect(scene.said.filter((text) => text.startsWith("by hand"))).toHaveLength(2);
  });

  it("late audio: a redo that comes while it is read again leaves every word once", async () => {
    const scene = await begin(chunks(8));
    await upload(scene, [0, 1, 4, 5, 6, 7]);
    await scene.stop();
    await scene.pass(10 * MINUTE);
    await upload(scene, [2], 30_000 - 1);
    await upload(scene, [3]);
    expect(await scene.run({ type: "Redo", byUserId: "u" })).toMatchObject({ edits: 0 });
    await scene.pass(10 * MINUTE);
    expect(scene.said).toEqual(all(scene));
    expect(scene.state.redo).toBeUndefined();
  });

  it("late audio: who speaks within a segment is whose words stand beside it, also when a redo regroups those", async () => {
    const scene = await begin(chunks(12));
    for (const [n, word] of scene.words.entries()) word.speaker = Math.floor(n / 2) % 2;
    await upload(scene, range(0, 12));
    await scene.stop();
    await scene.pass(10 * MINUTE);
    /** Places of the segments that others speak in, and of those with the others' words. */
    const beside = () => {
      const inOrder = [...scene.record.segments.values()].sort((a, b) => a.start - b.start);
      const ids = inOrder.map(({ segmentId }) => segmentId);
      return inOrder.flatMap(({ overlaps = [] }, place) =>
        overlaps.map(({ segmentId }) => [place, ids.indexOf(segmentId)]),
      );
    };
    const before = beside();
    expect(before.length).toBeGreaterThan(2);
    expect(before).toEqual(before.map(([place = 0]) => [place, place - 1]));
    const moved = before[0]?.[1] ?? -1;
    scene.worker.finalPass = (told) => ({
      segments: [{ start: told[moved]?.start ?? -1, cluster: 9 }],
      merges: [],
      finalPass: true,
    });
    await scene.run({ type: "Redo", byUserId: "u" });
    await scene.pass(10 * MINUTE);
    expect(beside()).toEqual(before);
  });

  it("late audio: a redo's final pass ends the confidence of what it regroups, and of no other", async () => {
    const scene = await begin(chunks(12));
    await upload(scene, range(0, 12));
    await scene.stop();
    await scene.pass(10 * MINUTE);
    const sure = () =>
      [...scene.record.segments.values()]
        .sort((a, b) => a.start - b.start)
        .map(({ speakerConfidence }) => speakerConfidence);
    expect(new Set(sure())).toEqual(new Set([0.8]));
    const redo = async (finalPass: (told: readonly Segment[]) => Partial<SpeakerUpdate>) => {
      const none = { segments: [], merges: [], finalPass: true };
      scene.worker.finalPass = (told) => ({ ...none, ...finalPass(told) });
      await scene.run({ type: "Redo", byUserId: "u" });
      await scene.pass(10 * MINUTE);
      return sure();
    };
    const moved = await redo((told) => ({
      segments: [{ start: told[2]?.start ?? -1, cluster: 9 }],
    }));
    expect(moved.length).toBeGreaterThan(4);
    expect(moved).toEqual(moved.map((_, n) => (n === 2 ? undefined : 0.8)));
    const merged = await redo(() => ({ merges: [{ from: 1, into: 0 }] }));
    expect(new Set(merged)).toEqual(new Set([undefined]));
    expect(new Set(await redo(() => ({})))).toEqual(new Set([0.8]));
  });

  it.each(range(0, 40))("late audio: any order, any time, any hosts, seed %i", async (seed) => {
    const scene = await begin(lengthsOf(seed), seed);
    await disturb(scene, seed);
    expect(scene.said).toEqual(all(scene));
    expect(scene.mixedUp).toEqual([]);
    expect(scene.state.phase).toBe("completed");
    expect(scene.state.timeline.gaps).toEqual([]);
  });

  it.each([
    ["in order", (order: number[]) => order],
    ["newest first", (order: number[]) => order.toReversed()],
    ["shuffled", (order: number[]) => shuffled(order)],
  ])(
    "late audio: what is read again is in proportion to what came late, %s",
    async (_, ordered) => {
      for (const every of [0, 8_000, 60_000]) {
        const scene = await begin(chunks(130, 8));
        await upload(scene, [...range(0, 5), ...range(125, 130)]);
        await scene.stop();
        await scene.pass(10 * MINUTE);
        await upload(scene, ordered(range(5, 125)), every);
        await scene.pass(10 * MINUTE);
        expect(scene.said).toEqual(all(scene));
        const stretches = scene.of("TranscriptReplaced").length;
        const seconds = scene.worker.readAgain / SAMPLE_RATE;
        expect(seconds).toBeLessThanOrEqual(2 * 120 * 8 + 30 * stretches);
        if (every === 0) expect(stretches).toBe(1);
      }
    },
  );
});

function shuffled(order: number[]): number[] {
  const random = new SeededRandom(7);
  const left = [...order];
  return order.map(() => left.splice(random.below(left.length), 1)[0] ?? 0);
}

function lengthsOf(seed: number): number[] {
  const random = new SeededRandom(seed);
  const lengths = range(0, 4 + random.below(10)).map(() => 8_000 * (4 + random.below(12)));
  return random.below(2) === 0 ? lengths.map(() => lengths[0] ?? 0) : lengths;
}

/** Some or all chunks come late, before or after the stop, and other hosts take over meanwhile. */
async function disturb(scene: LateScene, seed: number): Promise<void> {
  const random = new SeededRandom(seed + 10_000);
  const count = scene.count;
  const share = random.below(3) === 0 ? 1 : 3;
  const late = new Set(range(0, count).filter(() => random.below(share) === 0));
  const takeOver = async (): Promise<void> => {
    if (random.below(6) === 0) await scene.takeOver();
  };
  for (const sequence of range(0, count).filter((each) => !late.has(each))) {
    await scene.upload(sequence);
    await scene.pass(random.below(8_000));
    await takeOver();
  }
  const left = [...late];
  let isStopped = false;
  while (left.length > 0) {
    if (!isStopped && random.below(3) === 0) {
      await scene.stop();
      isStopped = true;
    }
    await scene.pass(random.below(random.below(3) === 0 ? 8 * MINUTE : 20_000));
    const [sequence = 0] = left.splice(random.below(left.length), 1);
    await scene.upload(sequence);
    await takeOver();
  }
  if (!isStopped) await scene.stop();
  await scene.pass(15 * MINUTE);
}
