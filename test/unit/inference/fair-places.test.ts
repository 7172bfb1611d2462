import { describe, expect, it } from "vitest";
import type { AppError } from "../../../src/base/errors.ts";
import { FairSlots } from "../../../src/inference/fair-slots.ts";

/** Workers with some places, and sessions of tenants that ask for them and wait to be woken. */
class Workers {
  now = 0;
  readonly #places = new FairSlots({ monotonic: () => this.now });
  /** As the workers announced it last. */
  #room: number;
  #unannounced = 0;
  readonly held: { tenant: string; id: string; ended?: AppError; leave(): void }[] = [];
  readonly woken: string[] = [];

  constructor(count: number) {
    this.#room = count;
  }

  /** A new session, unless it has an id. */
  ask(tenant: string, id = `${tenant} ${this.held.length} ${this.woken.length}`): boolean {
    if (!this.#places.mayOpen(id, this.#room)) {
      this.#places.wait({ tenant, engine: "any" }, { id, wake: () => this.woken.push(id) });
      return false;
    }
    this.#room -= 1;
    const leave = this.#places.take(
      {
        tenant,
        end: (error) => {
          one.ended = error;
          one.leave();
        },
      },
      id,
    );
    const one: (typeof this.held)[number] = {
      tenant,
      id,
      leave: () => {
        this.#unannounced += 1;
        leave();
      },
    };
    this.held.push(one);
    return true;
  }

  /** The workers tell how many places are free. */
  announce(): void {
    this.#room += this.#unannounced;
    this.#unannounced = 0;
    this.#places.serve(() => this.#room);
  }

  /** Those that were woken ask again. */
  answer(): void {
    for (const id of this.woken.splice(0)) this.ask(id.split(" ")[0] ?? "", id);
  }

  get isCrowded(): boolean {
    return this.#places.isCrowded;
  }

  get ended(): number {
    return this.held.filter(({ ended }) => ended !== undefined).length;
  }

  count(tenant: string): number {
    return this.held.filter((one) => one.tenant === tenant && one.ended === undefined).length;
  }
}

function crowded(count: number): Workers {
  const workers = new Workers(count);
  for (let n = 0; n < count + 2; n += 1) workers.ask("mallory", `mallory ${n}`);
  return workers;
}

describe("places of workers that are too few", () => {
  it("are all one tenant's while nobody else asks", () => {
    const workers = crowded(8);
    expect(workers.count("mallory")).toBe(8);
    expect(workers.ended).toBe(0);
  });

  it("are crowded while somebody waits for one", () => {
    const workers = new Workers(1);
    workers.ask("mallory");
    expect(workers.isCrowded).toBe(false);
    workers.ask("alice");
    expect(workers.isCrowded).toBe(true);
    workers.now += 8_000;
    expect(workers.isCrowded).toBe(false);
  });

  it("go to a tenant that has none, whoever asks meanwhile, and it is woken for it", () => {
    const workers = crowded(8);
    expect(workers.ask("alice", "alice 1")).toBe(false);
    for (let n = 0; n < 10; n += 1) expect(workers.ask("mallory", `mallory ${20 + n}`)).toBe(false);
    workers.announce();
    expect(workers.woken).toEqual(["alice 1"]);
    for (let n = 0; n < 10; n += 1) expect(workers.ask("mallory", `mallory ${40 + n}`)).toBe(false);
    expect(workers.ask("alice", "alice 1")).toBe(true);
    expect([workers.count("mallory"), workers.count("alice")]).toEqual([7, 1]);
    expect(workers.held.find(({ ended }) => ended)?.ended?.code).toBe("overloaded");
  });

  it("go to the tenant with fewest as they get free, and to its session that waits longest", () => {
    const workers = crowded(3);
    workers.ask("alice", "alice 1");
    workers.announce();
    workers.answer();
    expect([workers.count("mallory"), workers.count("alice")]).toEqual([2, 1]);
    workers.ask("alice", "alice 2");
    workers.ask("alice", "alice 3");
    workers.held.find(({ tenant, ended }) => tenant === "mallory" && ended === undefined)?.leave();
    workers.announce();
    // Mallory has one place and alice has one: whoever waits longest.
    expect(workers.woken).toEqual(["mallory 3"]);
    workers.answer();
    workers.held
      .filter(({ tenant }) => tenant === "mallory")
      .at(-1)
      ?.leave();
    workers.held
      .filter(({ tenant }) => tenant === "alice")
      .at(-1)
      ?.leave();
    workers.announce();
    expect(workers.woken).toEqual(["alice 2", "mallory 4"]);
  });

  it("are shared evenly among those who go on asking, and then stay where they are", () => {
    const workers = crowded(8);
    for (let round = 0; round < 50; round += 1) {
      for (const tenant of ["alice", "mallory", "bob", "mallory"]) {
        workers.ask(tenant, `${tenant} ${100 + round}`);
        workers.announce();
        workers.answer();
      }
    }
    expect([workers.count("alice"), workers.count("bob"), workers.count("mallory")].sort()).toEqual(
      [2, 3, 3],
    );
    const ended = workers.ended;
    for (const tenant of ["alice", "bob", "mallory"]) workers.ask(tenant);
    expect(workers.ended).toBe(ended);
  });

  it("that are kept for somebody who does not come back are anybody's again", () => {
    const workers = new Workers(2);
    for (let n = 0; n < 2; n += 1) workers.ask("mallory");
    workers.ask("alice", "alice 1");
    workers.announce();
    expect(workers.woken).toEqual(["alice 1"]);
    expect(workers.ask("mallory", "mallory 9")).toBe(false);
    workers.now = 2_001;
    expect(workers.ask("mallory", "mallory 9")).toBe(true);
  });

  it("are for nobody who waits no more", () => {
    const workers = crowded(1);
    workers.now = 8_001;
    workers.held[0]?.leave();
    workers.announce();
    expect(workers.woken).toEqual([]);
    expect(workers.ask("bob")).toBe(true);
  });

  it("wake only who waits for an engine that has room", () => {
    const places = new FairSlots({ monotonic: () => 0 });
    const woken: string[] = [];
    for (const engine of ["large", "small"]) {
      places.wait({ tenant: engine, engine }, { id: engine, wake: () => woken.push(engine) });
    }
    places.serve((engine) => (engine === "small" ? 1 : 0));
    expect(woken).toEqual(["small"]);
  });
});
