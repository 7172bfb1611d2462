import type { Cost, Statement } from "./growth-meter.ts";
import { KNOWN_GROWTH } from "./known-growth.ts";
import { medianRatio } from "./rounds.ts";
import type { BenchRow } from "./row.ts";
import { median } from "./statistics.ts";

const MARK = 1.2;
const NAMED = 3;
const SHOWN_CHARACTERS = 140;

/** A part of what a stretch of work cost, and the statements' share of it, where it has one. */
interface Part {
  name: string;
  unit: string;
  of(cost: Cost): number;
  statement?: (statement: Statement) => number;
}

const CPU: readonly Part[] = [
  { name: "CPU of our process", unit: "ms", of: ({ mainMs }) => mainMs },
  {
    name: "CPU of PostgreSQL",
    unit: "ms",
    of: ({ postgresMs }) => postgresMs,
    statement: ({ ms }) => ms,
  },
];
const WORK: readonly Part[] = [
  ...CPU,
  {
    name: "write-ahead log",
    unit: "bytes",
    of: ({ walBytes }) => walBytes,
    statement: ({ walBytes }) => walBytes,
  },
  { name: "page images beside it", unit: "bytes", of: ({ imageBytes }) => imageBytes },
  { name: "statements", unit: "", of: ({ statements }) => statements },
];

/** What statements took of each, by text; one map of each round. */
type Shares = Map<string, number>[];

interface Figure {
  unit: string;
  /** By size; one sample of each round. */
  samples: Map<string, number[]>;
  shares: Map<string, Shares>;
}

/** Samples of costs at several sizes, taken round after round, and the rows they make. */
export class GrowthFigures {
  readonly #axis: string;
  readonly #sizes: readonly string[];
  readonly #figures = new Map<string, Figure>();

  constructor(axis: string, sizes: readonly string[]) {
    this.#axis = axis;
    this.#sizes = sizes;
  }

  add(name: string, unit: string, size: string, value: number): Figure {
    const figure: Figure = this.#figures.get(name) ?? {
      unit,
      samples: new Map(),
      shares: new Map(),
    };
    this.#figures.set(name, figure);
    figure.samples.set(size, [...(figure.samples.get(size) ?? []), value]);
    return figure;
  }

  /** Processor time that `each` of something cost, without what the house costs by itself meanwhile. */
  addCost(name: string, size: string, cost: Cost, each: number, idle?: Cost): void {
    for (const part of CPU) this.#addPart(name, part, size, cost, each, idle);
  }

  /** The same with what it wrote and asked. */
  addWork(name: string, size: string, cost: Cost, each: number, idle?: Cost): void {
    for (const part of WORK) this.#addPart(name, part, size, cost, each, idle);
  }

  #addPart(
    name: string,
    part: Part,
    size: string,
    cost: Cost,
    each: number,
    idle: Cost | undefined,
  ): void {
    const share = idle === undefined ? 0 : (part.of(idle) * cost.seconds) / idle.seconds;
    const value = (part.of(cost) - share) / each;
    const figure = this.add(`${name}: ${part.name}`, part.unit, size, value);
    const { statement } = part;
    if (statement === undefined) return;
    const shares = new Map(cost.byStatement.map((one) => [one.text, statement(one) / each]));
    figure.shares.set(size, [...(figure.shares.get(size) ?? []), shares]);
  }

  rows(): BenchRow[] {
    // What no size costs anything says nothing.
    return [...this.#figures]
      .filter(([, { samples }]) => [...samples.values()].flat().some((value) => value !== 0))
      .map(([name, figure]) => this.#row(name, figure));
  }

  #row(name: string, figure: Figure): BenchRow {
    const { unit, samples } = figure;
    const costs = this.#sizes.map((size) => ({ size, cost: median(samples.get(size) ?? []) }));
    const [first = "", ...others] = this.#sizes;
    const ratio = Math.max(
      ...others.map((size) => medianRatio(samples.get(size) ?? [], samples.get(first) ?? [])),
    );
    const grown = ratio > MARK ? this.#grown(figure) : "";
    const known = KNOWN_GROWTH[`${this.#axis}: ${name}`];
    return {
      figure: name,
      unit,
      ours: costs.at(-1)?.cost ?? Number.NaN,
      peer: { name: first, value: costs[0]?.cost ?? Number.NaN },
      ...(Number.isFinite(ratio) ? { ratio, met: ratio <= (known ?? MARK) } : {}),
      mark: known === undefined ? `<= ${MARK}x` : `<= ${known}x, known`,
      growth: { axis: this.#axis, costs },
      ...(grown === "" ? {} : { detail: grown }),
    };
  }

  /** The statements whose own share grew most from the first size to the last. */
  #grown({ shares, unit, samples }: Figure): string {
    const [first, last] = [this.#sizes[0] ?? "", this.#sizes.at(-1) ?? ""];
    const before = typical(shares.get(first) ?? []);
    // What is a hundredth of all of it is not the reason.
    const notable = median(samples.get(last) ?? []) / 100;
    return [...typical(shares.get(last) ?? [])]
      .map(([text, to]) => ({ text, from: before.get(text) ?? 0, to }))
      .filter(({ from, to }) => to - from > notable)
      .sort((a, b) => b.to - b.from - (a.to - a.from))
      .slice(0, NAMED)
      .map(({ text, from, to }) => `${short(from)} -> ${short(to)} ${unit}: ${cut(text)}`)
      .join("; ");
  }
}

function short(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);
}

function cut(text: string): string {
  return text.slice(0, SHOWN_CHARACTERS);
}

/** Of each statement the median of the rounds. */
function typical(rounds: Shares): Map<string, number> {
  const texts = new Set(rounds.flatMap((round) => [...round.keys()]));
  return new Map(
    [...texts].map((text) => [text, median(rounds.map((round) => round.get(text) ?? 0))]),
  );
}
