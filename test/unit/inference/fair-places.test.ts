import { describe, expect, it } from "vitest";
import type { AppError } from "../../../src/base/errors.ts";
import { FairPlaces } from "../../../src/inference/fair-places.ts";

/** Workers with some places, and tenants that ask for them again and again. */
class Workers {
  now = 0;
  readonly #places = new FairPlaces({ monotonic: () => this.now });
  readonly #free: { count: number };
  readonly held: { tenant: string; ended?: AppError }[] = [];

  constructor(count: number) {
    this.#free = { count };
  }

  ask(tenant: string): boolean {
    if (this.#free.count === 0 || !this.#places.mayOpen(tenant)) {
      this.#places.makeRoom(tenant);
      return false;
    }
    this.#free.count -= 1;
    const one: { tenant: string; ended?: AppError } = { tenant };
    this.held.push(one);
    const leave = this.#places.take({
      tenant,
      end: (error) => {
        one.ended = error;
        this.#free.count += 1;
        leave();
      },
    });
    return true;
  }

  get isCrowded(): boolean {
    return this.#places.isCrowded;
  }

  count(tenant: string): number {
    return this.held.filter((one) => one.tenant === tenant && one.ended === undefined).length;
  }
}

describe("places of workers that are too few", () => {
  it("are all one tenant's while nobody else asks", () => {
    const workers = new Workers(8);
    for (let n = 0; n < 10; n += 1) workers.ask("mallory");
    expect(workers.count("mallory")).toBe(8);
    expect(workers.held.some(({ ended }) => ended)).toBe(false);
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

  it("go to a tenant that has none, whoever asks meanwhile", () => {
    const workers = new Workers(8);
    for (let n = 0; n < 10; n += 1) workers.ask("mallory");
    expect(workers.ask("alice")).toBe(false);
    for (let n = 0; n < 10; n += 1) expect(workers.ask("mallory")).toBe(false);
    expect(workers.ask("alice")).toBe(true);
    expect([workers.count("mallory"), workers.count("alice")]).toEqual([7, 1]);
    expect(workers.held.find(({ ended }) => ended)?.ended?.code).toBe("overloaded");
  });

  it("are shared evenly among those who go on asking, and then stay where they are", () => {
    const workers = new Workers(8);
    for (let n = 0; n < 10; n += 1) workers.ask("mallory");
    for (let round = 0; round < 50; round += 1) {
      for (const tenant of ["alice", "mallory", "bob", "mallory"]) workers.ask(tenant);
    }
    expect([workers.count("alice"), workers.count("bob"), workers.count("mallory")].sort()).toEqual(
      [2, 3, 3],
    );
    const ended = workers.held.filter((one) => one.ended !== undefined).length;
    for (const tenant of ["alice", "bob", "mallory"]) workers.ask(tenant);
    expect(workers.held.filter((one) => one.ended !== undefined)).toHaveLength(ended);
  });

  it("that are kept for somebody who does not come back are anybody's again", () => {
    const workers = new Workers(2);
    for (let n = 0; n < 2; n += 1) workers.ask("mallory");
    workers.ask("alice");
    expect(workers.ask("mallory")).toBe(false);
    workers.now = 60_000;
    expect(workers.ask("mallory")).toBe(true);
  });
});
