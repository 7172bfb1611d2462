import { isDeepStrictEqual } from "node:util";
import type { SessionCommand } from "../../src/session/command.ts";
import { GAP_WAIT } from "../../src/session/decide-audio.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import type { Mutation } from "./mutation.ts";
import { type Host, SESSION_ID, SessionWorld } from "./session-world.ts";

interface Pending {
  id: string;
  command: SessionCommand;
}

/** How one run went; `fault` says what was wrong. */
export interface Outcome {
  fault: Error | undefined;
  refused: number;
  crashes: number;
  gaps: number;
  redos: number;
}

/**
 * One session under fire: what a device and people send reaches hosts late,
 * twice, out of order and over crashes, owners change in the middle, workers
 * answer late. In the end everything was delivered, and the record must tell
 * one story.
 */
export async function runScenario(seed: number, mutation?: Mutation): Promise<Outcome> {
  const scenario = new Scenario(seed, mutation);
  const { world } = scenario;
  try {
    await scenario.run();
  } catch (error) {
    world.fault ??= error as Error;
  }
  for (const host of world.hosts) await host.drain();
  const { events } = world.record.read(SESSION_ID);
  const count = (type: string) => events.filter(({ event }) => event.type === type).length;
  const { fault, refused, crashes } = world;
  return { fault, refused, crashes, gaps: count("GapDeclared"), redos: count("RedoRequested") };
}

class Scenario {
  readonly world: SessionWorld;
  readonly #random: SeededRandom;
  readonly #chunks: Pending[];
  /** Committed commands that nobody has finished: deliveries get lost, the sweep finds these. */
  #outbox: Pending[] = [];
  #held: Pending[] = [];
  readonly #wishes: Pending[] = [];

  constructor(seed: number, mutation: Mutation | undefined) {
    this.#random = new SeededRandom(seed);
    const random = this.#random;
    this.world = new SessionWorld(random, 1 + random.below(3), mutation);
    this.#chunks = Array.from({ length: 2 + random.below(9) }, (_, n) => {
      const frames = 8_000 + random.below(4) * 4_000;
      this.world.stored.set(n, frames);
      return chunk(n, frames);
    });
  }

  get #host(): Host {
    return this.#random.pick(this.world.hosts);
  }

  async run(): Promise<void> {
    const { world } = this;
    await this.#deliver({ id: "start", command: { type: "Start", jobId: "j", language: "en" } });
    world.failing = this.#random.chance(0.6) ? 0.25 : 0;
    await this.#record();
    await this.#stop();
    await this.#until(() => world.model.completed);
    await this.#afterwards();
    world.failing = 0;
    await this.#drainOutbox();
    await this.#until(() => world.model.settled);
    await this.#finish();
  }

  /** Chunks come, some of them only after the end; people are at it meanwhile. */
  async #record(): Promise<void> {
    const random = this.#random;
    const waiting = [...this.#chunks];
    const underWay: Promise<unknown>[] = [];
    while (waiting.length > 0 && this.world.fault === undefined) {
      const at = random.chance(0.7) ? 0 : random.below(waiting.length);
      const [pending] = waiting.splice(at, 1) as [Pending];
      if (random.chance(0.1)) this.#held.push(pending);
      else underWay.push(this.#try(pending));
      if (random.chance(0.2)) underWay.push(this.#try(random.pick(this.#chunks), false));
      if (random.chance(0.25)) underWay.push(this.#person());
      await this.#disturb();
      if (random.chance(0.5)) await Promise.all(underWay.splice(0));
    }
    await Promise.all(underWay);
  }

  async #disturb(): Promise<void> {
    const random = this.#random;
    const { world } = this;
    // The transport brings a wish again that was carried out long ago.
    if (this.#wishes.length > 0 && random.chance(0.1)) {
      const { id, command } = random.pick(this.#wishes);
      await world.send(this.#host, command, id);
    }
    if (random.chance(0.08)) await world.lose(this.#host);
    if (random.chance(0.05)) await world.release(this.#host);
    if (random.chance(0.15)) world.now += random.below(2 * GAP_WAIT);
    if (random.chance(0.3)) await this.#sweep();
    if (random.chance(0.3)) await world.settle(random.below(10));
  }

  async #stop(): Promise<void> {
    // The highest that was committed; held ones are on their way and may fill gaps.
    const lastSequence = this.#chunks.length - 1;
    this.#outbox.push({ id: "stop", command: { type: "Stop", lastSequence } });
    await this.#until(() => this.#isFinished("stop"));
  }

  /** Late chunks, second readings, and more of what people do. */
  async #afterwards(): Promise<void> {
    const random = this.#random;
    this.#outbox.push(...this.#held.splice(0));
    for (let n = random.below(6); n > 0; n -= 1) {
      await this.#person();
      await this.#disturb();
    }
  }

  /** One delivery, which may get lost; what is not finished stays in the outbox. */
  async #try(pending: Pending, isNew = true): Promise<void> {
    if (isNew) this.#outbox.push(pending);
    else if (!this.#outbox.includes(pending) && !this.#isFinished(pending.id)) return;
    if (this.#random.chance(0.15)) return;
    await this.world.send(this.#host, pending.command, pending.id);
  }

  async #sweep(): Promise<void> {
    this.#outbox = this.#outbox.filter(({ id }) => !this.#isFinished(id));
    await Promise.all(
      this.#outbox.map(({ id, command }) => this.world.send(this.#host, command, id)),
    );
  }

  async #drainOutbox(): Promise<void> {
    await this.#until(() => this.#outbox.every(({ id }) => this.#isFinished(id)));
  }

  #isFinished(id: string): boolean {
    return this.world.record.read(SESSION_ID).finished.has(id);
  }

  async #deliver({ id, command }: Pending): Promise<void> {
    for (let tries = 0; tries < 50; tries += 1) {
      if (await this.world.send(this.#host, command, id)) return;
    }
    throw new Error(`${id} was never taken`);
  }

  /** Time goes on, lost work is found, owners change, until it is so. */
  async #until(done: () => boolean): Promise<void> {
    const { world } = this;
    for (let n = 0; n < 120 && world.fault === undefined; n += 1) {
      if (done()) return;
      // Failures end at last, or a run would not.
      if (n === 60) world.failing = 0;
      await this.#sweep();
      await world.settle(12);
      if (n % 3 === 2) world.now += GAP_WAIT / 2;
      if (this.#random.chance(0.3)) await world.lose(this.#host);
      await this.#host.activate(SESSION_ID).catch(() => {});
    }
    if (world.fault === undefined) throw new Error("it does not come to an end");
  }

  /** A person's wish; sent again with the same id when its answer got lost. */
  async #person(): Promise<void> {
    const id = `person-${this.#wishes.length + 1}`;
    const command = this.#wish();
    this.#wishes.push({ id, command });
    for (let tries = 0; tries < 3; tries += 1) {
      if (await this.world.send(this.#host, command, id)) return;
    }
  }

  #wish(): SessionCommand {
    const random = this.#random;
    const state = this.world.replayed();
    const byUserId = random.pick(["ann", "bob"]);
    const label = `S${1 + random.below(Math.max(1, state.speakers.labels.length))}`;
    const source = random.pick(["self_claim", "moderator_assignment"] as const);
    const byOwner = random.chance(0.5);
    const segment = state.segments.length > 0 ? random.pick(state.segments) : undefined;
    switch (random.below(9)) {
      case 0:
      case 1:
        return { type: "Claim", label, source, claimedUserId: byUserId, byUserId, byOwner };
      case 2:
        return { type: "Unclaim", label, byUserId, byOwner };
      case 3: {
        const editId = random.chance(0.5) ? "" : "e";
        return { type: "EditSegment", segmentId: segment?.id ?? "none", editId, label, byUserId };
      }
      case 4:
        return { type: "MergeSpeakers", from: label, into: `S${1 + random.below(3)}` };
      case 5: {
        const from = random.below(state.timeline.position + 16_000);
        const to = from + 1 + random.below(40_000);
        const whose = random.chance(0.6) ? "" : label;
        const redactionId = `r${this.#wishes.length}`;
        return { type: "Redact", redactionId, from, to, label: whose, byUserId };
      }
      case 6:
        return { type: "ConcernStored", concernId: `c${random.below(4)}` };
      case 7:
        return random.chance(0.5)
          ? { type: "CancelRedo", byUserId }
          : { type: "SummaryStored", jobId: "j", summaryType: "brief" };
      default:
        return { type: "Redo", byUserId };
    }
  }

  async #finish(): Promise<void> {
    const { world } = this;
    world.check(() => world.model.finish(this.#chunks.map((_, n) => n)));
    for (const host of world.hosts) await world.release(host);
    const [loaded, replayed] = [await world.loaded(), world.replayed()];
    world.check(() => {
      if (!isDeepStrictEqual(loaded, replayed)) {
        throw new Error("the snapshot with the events behind it is not the whole");
      }
    });
  }
}

function chunk(sequence: number, frames: number): Pending {
  const command = { chunkId: `c${sequence}`, sequence, frames, sampleRate: 16_000 };
  return { id: `chunk-${sequence}`, command: { type: "ChunkStored", ...command } };
}
