import fc, { type Arbitrary } from "fast-check";
import type { FuzzWorld } from "./world.ts";

export const TARGETS = ["http", "live", "device", "grpc", "multipart"] as const;

export type TargetName = (typeof TARGETS)[number];

/** One surface of the service, with the cases that are played against it. */
export interface Target<P = unknown> {
  readonly name: TargetName;
  /** Cases in flight at once. */
  readonly lanes: number;
  /** Cases as values that JSON can say, with `known:…` where the id of something real goes. */
  readonly plans: Arbitrary<P>;
  /**
   * Plays a case. Returns what came of it in a word or two, for the table of outcomes; throws an
   * Error that says what is wrong, if it is a finding.
   */
  play(plan: P, world: FuzzWorld): Promise<string>;
}

/** Cases that are generated together, so that early and late ones differ in size. */
const BATCH = 50;

/** The cases of a target: the same seed and number give the same case. */
export class Cases<P> {
  readonly #plans: Arbitrary<P>;
  readonly #seed: number;
  #batch = -1;
  #cases: readonly P[] = [];

  constructor(plans: Arbitrary<P>, seed: number) {
    this.#plans = plans;
    this.#seed = seed;
  }

  at(number: number): P {
    const batch = Math.floor(number / BATCH);
    if (batch !== this.#batch) {
      const seed = mixed(this.#seed, batch);
      this.#cases = fc.sample(this.#plans, { numRuns: BATCH, seed });
      this.#batch = batch;
    }
    return this.#cases[number % BATCH] as P;
  }
}

/** A 32-bit seed of its own for each batch. */
function mixed(seed: number, batch: number): number {
  let hash = (seed ^ Math.imul(batch + 1, 0x9e37_79b9)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) | 0;
}

interface Finding {
  count: number;
  /** What repeats the first one. */
  repeat: string;
  detail: string;
}

/** Findings by kind: what differs from one case to the next is left out of the kind. */
export class Findings {
  readonly #findings = new Map<string, Finding>();
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Of a case. */
  add(target: TargetName, number: number, reason: string, plan: unknown): void {
    const repeat = `npm run fuzz -- --only ${target} --seed ${this.#seed} --case ${number}`;
    this.#note(`${target}: ${shortened(reason)}`, repeat, JSON.stringify(plan));
  }

  /** Of the run as a whole. */
  addOfRun(reason: string): void {
    this.#note(reason, `npm run fuzz -- --seed ${this.#seed}`, "");
  }

  #note(kind: string, repeat: string, detail: string): void {
    const known = this.#findings.get(kind);
    if (known !== undefined) known.count += 1;
    else this.#findings.set(kind, { count: 1, repeat, detail });
  }

  /** As text for people, one entry for each kind. */
  get texts(): string[] {
    return [...this.#findings].map(([kind, { count, repeat, detail }]) =>
      [`${count} × ${kind}`, `    ${repeat}`, `    ${detail.slice(0, 1_200)}`].join("\n"),
    );
  }
}

/** Without what differs from one case to the next. */
function shortened(reason: string): string {
  return reason
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
    .replaceAll(/\?\S{40,}/g, "?…")
    .slice(0, 300);
}
