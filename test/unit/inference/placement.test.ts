import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { Placement } from "../../../src/inference/placement.ts";
import { MOONSHINE } from "../../../src/wire/speech-engines.ts";
import type { WorkerAnnouncement } from "../../../src/wire/worker-announcement.ts";
import { runtimeBy } from "../../support/manual-clock.ts";

class ManualClock implements Clock {
  ms = 1_000;
  now = (): number => this.ms;
  monotonic = (): number => this.ms;
}

function announcement(fields: Partial<WorkerAnnouncement> = {}): WorkerAnnouncement {
  return {
    worker_id: "a",
    address: "10.0.0.1:7000",
    capacity: 4,
    sessions: 0,
    version: "1.0.0",
    engines: ["moonshine-tiny-en"],
    draining: false,
    ...fields,
  };
}

const A = announcement();
const B = announcement({ worker_id: "b", address: "10.0.0.2:7000" });

function create(...announcements: WorkerAnnouncement[]) {
  const clock = new ManualClock();
  const placement = new Placement({ runtime: runtimeBy(clock) });
  for (const one of announcements) placement.update(one);
  return { clock, placement };
}

const HOUSE = { ...MOONSHINE, name: "house" };

describe("placement: language models", () => {
  const model = { name: "small", local: true, answers: false, reason: "Away.", abilities: [] };

  it("are told once each, as a worker tells whom it answers", () => {
    const { placement, clock } = create(
      { ...A, language_model: model },
      { ...B, language_model: { ...model, answers: true } },
      announcement({ worker_id: "c", address: "10.0.0.3:7000", language_model: model }),
    );
    expect(placement.languageModels()).toEqual([{ ...model, answers: true }]);
    clock.ms += 60_000;
    expect(placement.languageModels()).toEqual([]);
    expect(create(A).placement.languageModels()).toEqual([]);
  });

  it("a turn of a model goes to a worker that has it, however busy that is", () => {
    const busy = { ...B, sessions: 4, language_model: model };
    const { placement } = create(A, busy);
    const hasModel = ({ language_model: own }: WorkerAnnouncement) => own?.name === "small";
    expect(placement.pickForText()).toBe(A.address);
    expect(placement.pickForText(hasModel)).toBe(B.address);
    placement.update({ ...busy, draining: true });
    expect(placement.pickForText(hasModel)).toBeUndefined();
  });
});

describe("placement: engines", () => {
  const b = { ...B, engines: ["house"], speech: [HOUSE] };

  it("picks only workers that have the engine", () => {
    const { placement } = create(A, b);
    expect([placement.pick("house"), placement.pick("house")]).toEqual([B.address, B.address]);
    expect(placement.pick("moonshine-tiny-en")).toBe(A.address);
    expect(placement.pick("nobody")).toBeUndefined();
  });

  it("knows those of workers that are away, and the default before the first worker", () => {
    expect(create().placement.engines()).toEqual([MOONSHINE]);
    const { clock, placement } = create(A, b);
    clock.ms += 60_000;
    expect(placement.engines()).toEqual([{ ...MOONSHINE, model: undefined }, HOUSE]);
    expect(placement.hasEngine("house")).toBe(false);
  });

  it("tells each missing engine once", () => {
    const missing = [{ name: "neural", reason: "Its model is not there." }];
    const { placement } = create({ ...A, missing }, { ...b, missing });
    expect(placement.missingEngines()).toEqual(missing);
  });
});

describe("placement: pick", () => {
  it("has no answer without workers", () => {
    expect(create().placement.pick()).toBeUndefined();
  });

  it("takes the least loaded by share, not by number", () => {
    const big = announcement({ worker_id: "b", address: B.address, capacity: 16, sessions: 4 });
    const { placement } = create({ ...A, sessions: 2 }, big);
    expect(placement.pick()).toBe(B.address);
  });

  it("counts what it has placed until the worker tells it itself", () => {
    const { placement } = create(A, { ...B, sessions: 2 });
    const picks = Array.from({ length: 6 }, () => placement.pick());
    expect(picks.slice(0, 2)).toEqual([A.address, A.address]);
    expect(picks.filter((address) => address === B.address)).toHaveLength(2);
    expect(placement.pick()).toBeUndefined();
    placement.update({ ...A, sessions: 3 });
    expect(placement.pick()).toBe(A.address);
  });

  it("alternates between equals", () => {
    const { placement } = create(A, B);
    expect(new Set([placement.pick(), placement.pick()])).toEqual(new Set([A.address, B.address]));
  });

  it("leaves out draining, full and unable workers", () => {
    const { placement } = create({ ...A, draining: true }, { ...B, sessions: 4 });
    expect(placement.pick()).toBeUndefined();
    placement.update({ ...B, capacity: 0 });
    expect(placement.pick()).toBeUndefined();
    placement.update(A);
    expect(placement.pick()).toBe(A.address);
  });

  it("forgets a worker after 4 s of silence", () => {
    const { clock, placement } = create(A);
    clock.ms += 4_000;
    expect(placement.pick()).toBe(A.address);
    clock.ms += 1;
    expect(placement.pick()).toBeUndefined();
    expect(placement.status()).toEqual([]);
  });

  it("knows a worker that came back on another port by its new address only", () => {
    const { placement } = create(A, { ...A, address: "10.0.0.1:7001" });
    expect(placement.status().map(({ address }) => address)).toEqual(["10.0.0.1:7001"]);
  });
});

describe("placement: failures", () => {
  it("leaves a failing address alone, longer each time, and tries it again", () => {
    const { clock, placement } = create(A);
    let waited = 0;
    for (const wait of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
      placement.failed(A.address, "audio");
      expect(placement.pick()).toBeUndefined();
      expect(placement.status()[0]).toMatchObject({ state: "backing_off", back_off_ms: wait });
      for (const end = clock.ms + wait; clock.ms < end; clock.ms += 250) placement.update(A);
      waited += wait;
      expect(placement.pick()).toBe(A.address);
    }
    expect(waited).toBe(17_750);
    placement.succeeded(A.address, "audio");
    placement.failed(A.address, "audio");
    expect(placement.status()[0]?.back_off_ms).toBe(250);
  });

  it("at text says nothing of audio, and is forgotten when text went well", () => {
    const { clock, placement } = create(A);
    const pause = (): number => {
      placement.failed(A.address, "text");
      const since = clock.ms;
      while (placement.pickForText() === undefined) {
        clock.ms += 50;
        placement.update(A);
      }
      return clock.ms - since;
    };
    placement.failed(A.address, "text");
    expect(placement.pickForText()).toBeUndefined();
    expect(placement.pick()).toBe(A.address);
    expect(pause()).toBe(500);
    placement.succeeded(A.address, "audio");
    expect(pause()).toBe(1_000);
    placement.succeeded(A.address, "text");
    expect(pause()).toBe(250);
  });

  it("takes another one meanwhile", () => {
    const { placement } = create(A, { ...B, sessions: 3 });
    placement.failed(A.address, "audio");
    expect(placement.pick()).toBe(B.address);
  });

  it("starts afresh with a new worker at the address", () => {
    const { placement } = create(A);
    placement.failed(A.address, "audio");
    placement.update({ ...A, worker_id: "a2" });
    expect(placement.pick()).toBe(A.address);
  });

  it("ignores addresses it does not know", () => {
    const { placement } = create();
    placement.failed("10.9.9.9:1", "audio");
    placement.succeeded("10.9.9.9:1", "text");
    expect(placement.status()).toEqual([]);
  });
});

describe("placement: status", () => {
  it("tells each worker's state and silence, by id", () => {
    const { clock, placement } = create({ ...B, draining: true }, { ...A, sessions: 4 });
    clock.ms += 700;
    expect(placement.status()).toEqual([
      { ...A, sessions: 4, silent_ms: 700, back_off_ms: 0, state: "full" },
      { ...B, draining: true, silent_ms: 700, back_off_ms: 0, state: "draining" },
    ]);
  });
});

describe("placement: isGone", () => {
  const ONE = { ...A, instance: "one" };

  /** Announces while the question is open: a step of time, then perhaps a word. */
  async function ask(says: WorkerAnnouncement | undefined): Promise<boolean> {
    const { clock, placement } = create(ONE);
    const answer = placement.isGone(A.address, placement.instanceAt(A.address));
    const timer = setInterval(() => {
      clock.ms += 500;
      if (says !== undefined) placement.update(says);
    }, 20);
    return answer.finally(() => clearInterval(timer));
  }

  it("a process that is heard again lives", async () => {
    expect(await ask(ONE)).toBe(false);
  });

  it("one that is silent has ended", async () => {
    expect(await ask(undefined)).toBe(true);
  });

  it("another one in its place means that it has ended", async () => {
    expect(await ask({ ...ONE, instance: "two" })).toBe(true);
  });
});
