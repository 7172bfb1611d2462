import { describe, expect, it } from "vitest";
import { Encryption } from "../../../../src/access/encryption.ts";
import type { SessionFacts } from "../../../../src/access/policy.ts";
import type { Principal, UserPrincipal } from "../../../../src/access/principal.ts";
import { createDeferred } from "../../../../src/base/deferred.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { Suggester, voiceOwner } from "../../../../src/conversations/voices/suggester.ts";
import type {
  HeardLabel,
  KnownVoice,
  SuggestionStore,
} from "../../../../src/conversations/voices/suggestions-store.ts";

const SECOND = 16_000;
const WORKSPACE = "w";
const encryption = new Encryption(new Uint8Array(32).fill(1));
const owner: UserPrincipal = {
  kind: "user",
  id: "o",
  role: "participant",
  tokenId: "t",
  expiresAt: 0,
};

function facts(more: Partial<SessionFacts> = {}): SessionFacts {
  return {
    kind: "session",
    id: "1",
    workspaceId: WORKSPACE,
    relation: "owner",
    workspaceRole: "member",
    deleted: false,
    ended: undefined,
    guestAccess: "open",
    deviceId: undefined,
    startedAt: 0,
    elevatedUntil: undefined,
    ...more,
  };
}

/** Its labels and voices change as a test says; comparisons are counted. */
class World {
  voices: KnownVoice[] = [voice("v1", "anna")];
  labels: HeardLabel[] = [label("S1", 20 * SECOND)];
  compared: string[] = [];
  ratio = 10;
  speechMs = 20_000;
  kept: Parameters<SuggestionStore["keep"]>[0][] = [];
  /** When set, a worker answers only after it. */
  gate: Promise<void> = Promise.resolve();
  readonly suggester: Suggester;

  constructor(patienceMs = 10_000) {
    const store = {
      voiceIds: async () => this.voices.map(({ id }) => id),
      voices: async (ids: readonly string[]) => this.voices.filter(({ id }) => ids.includes(id)),
      labels: async () => this.labels,
      read: async () => [],
      keep: async (comparison: (typeof this.kept)[number]) => this.#keep(comparison),
    } as unknown as SuggestionStore;
    this.suggester = new Suggester({
      store,
      encryption,
      tenants: { ofSession: async (sessionId) => `owner of ${sessionId}` },
      log: silentLog,
      patienceMs,
      speech: {
        read: async (_session, name, most) => {
          this.compared.push(name);
          const { samples } = this.labels.find((each) => each.label === name) ?? { samples: 0 };
          return { pcm: Buffer.alloc(2 * Math.min(samples, most)), spans: [] };
        },
      },
      voices: {
        compare: async (_pcm, prints) => {
          await this.gate;
          const logRatios = prints.map(() => this.ratio);
          return { method: "m", print: Buffer.alloc(0), speechMs: this.speechMs, logRatios };
        },
      },
    });
  }

  ask(more: Partial<SessionFacts> = {}, principal: Principal = owner) {
    return this.suggester.for({ principal, facts: facts(more) });
  }

  #keep(comparison: (typeof this.kept)[number]): void {
    this.kept.push(comparison);
    const { samples, heard, voices } = comparison;
    this.labels = this.labels.map((each) =>
      each.label === comparison.label
        ? { ...each, comparedSamples: samples, comparedHeard: heard, comparedVoices: voices }
        : each,
    );
  }

  grow(samples: number): void {
    const [first = label("S1", 0)] = this.labels;
    this.labels = [{ ...first, samples, heard: Buffer.from(String(samples)) }];
  }
}

function voice(id: string, userId: string): KnownVoice {
  return {
    id,
    userId,
    encrypted: encryption.encrypt(voiceOwner(WORKSPACE, userId), Buffer.from(id)),
  };
}

function label(name: string, samples: number): HeardLabel {
  return { label: name, samples, heard: Buffer.from(String(samples)) };
}

describe("suggester", () => {
  it("suggester: compares a label once, and while it is recorded again only with half as much more", async () => {
    const world = new World();
    await world.ask();
    await world.ask();
    expect(world.compared).toEqual(["S1"]);
    world.grow(25 * SECOND);
    await world.ask();
    expect(world.compared).toHaveLength(1);
    world.grow(30 * SECOND);
    await world.ask();
    expect(world.compared).toHaveLength(2);
    world.grow(31 * SECOND);
    await world.ask({ ended: "completed" });
    expect(world.compared, "what is over is compared whole").toHaveLength(3);
    world.grow(12 * SECOND);
    await world.ask();
    expect(world.compared, "less: it was read again").toHaveLength(4);
  });

  it("suggester: compares again when somebody else is remembered", async () => {
    const world = new World();
    await world.ask();
    world.voices = [...world.voices, voice("v2", "ben")];
    await world.ask();
    expect(world.compared).toHaveLength(2);
    world.voices = [];
    await world.ask();
    expect(world.compared).toHaveLength(2);
  });

  it("suggester: keeps only what is likely enough, and no print of another key", async () => {
    const world = new World();
    const foreign = { ...voice("v3", "eve"), userId: "ben" };
    world.voices = [voice("v1", "anna"), foreign];
    await world.ask();
    expect(world.kept[0]?.suggested).toMatchObject([{ voiceId: "v1" }]);
    world.ratio = 1;
    world.grow(200 * SECOND);
    await world.ask();
    expect(world.kept[1]?.suggested).toEqual([]);
  });

  it("suggester: says nothing of little speech, as where the sound is not stored yet, and looks again", async () => {
    const world = new World();
    world.speechMs = 4_000;
    await world.ask();
    expect(world.kept[0]?.suggested).toEqual([]);
    await world.ask();
    expect(world.compared, "nothing is new").toHaveLength(1);
    world.grow(21 * SECOND);
    world.speechMs = 20_000;
    await world.ask();
    expect(world.kept[1]?.suggested).toMatchObject([{ voiceId: "v1" }]);
  });

  it("suggester: looks once more when the session is over at what was not all stored before", async () => {
    const world = new World();
    world.speechMs = 4_000;
    await world.ask();
    await world.ask();
    expect(world.compared).toHaveLength(1);
    await world.ask({ ended: "completed" });
    await world.ask({ ended: "completed" });
    expect(world.compared).toHaveLength(2);
  });

  it("suggester: of one who spoke long it is the growth of all that counts, not of what was read", async () => {
    const world = new World();
    world.speechMs = 45_000;
    world.grow(600 * SECOND);
    await world.ask();
    world.grow(610 * SECOND);
    await world.ask();
    expect(world.compared).toHaveLength(1);
  });

  it("suggester: does nothing for who may not know of it", async () => {
    const world = new World();
    await world.ask({ workspaceRole: undefined });
    await world.ask({ relation: "guest" }, { ...owner, kind: "guest" } as unknown as Principal);
    await world.ask({ relation: "none" });
    await world.ask({}, { ...owner, kind: "service" } as unknown as Principal);
    expect(world.compared).toEqual([]);
    await world.ask({ relation: "participant" });
    expect(world.compared).toEqual(["S1"]);
  });

  it("suggester: those who ask at once share one comparison, and do not wait for ever", async () => {
    const world = new World(5);
    const gate = createDeferred<void>();
    world.gate = gate.promise;
    await Promise.all([world.ask(), world.ask(), world.ask()]);
    expect(world.compared).toEqual(["S1"]);
    expect(world.kept).toEqual([]);
    gate.resolve();
    await world.suggester.close();
    expect(world.kept).toHaveLength(1);
  });

  it("suggester: waits for few at a time, leaves out what is too much, and ends", async () => {
    const world = new World(1);
    const gate = createDeferred<void>();
    world.gate = gate.promise;
    for (let n = 0; n < 40; n++) await world.ask({ id: String(n) });
    const [queue] = world.suggester.queues;
    expect(world.compared).toHaveLength(2);
    expect(queue).toMatchObject({ length: 34, limit: 34, refused: 6 });
    const closed = world.suggester.close();
    gate.resolve();
    await closed;
    expect(world.compared).toHaveLength(2);
    await world.ask({ id: "late" });
    expect(world.compared).toHaveLength(2);
  });

  it("suggester: a comparison that fails is tried again by the next who asks", async () => {
    const world = new World();
    world.gate = Promise.reject(new Error("the worker is gone"));
    world.gate.catch(() => {});
    expect(await world.ask()).toEqual(new Map());
    world.gate = Promise.resolve();
    await world.ask();
    expect(world.kept).toHaveLength(1);
  });
});
