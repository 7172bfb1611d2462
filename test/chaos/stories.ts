import type { SeededRandom } from "../support/seeded-random.ts";

/**
 * How a device's chunks come. prompt: as recorded. held: some are kept back until their gap was
 * given up, then follow. stop-first: nothing comes before the session was stopped, then all of it.
 */
export const DELIVERIES = ["prompt", "held", "stop-first"] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** In which order what was kept back follows. */
export const ORDERS = ["in order", "newest first", "shuffled", "parallel", "twice"] as const;
export type Order = (typeof ORDERS)[number];

/** What a person does with the session meanwhile. */
export const DEEDS = [
  ...(["edit", "claim", "merge", "redact", "redo", "delete", "summarise", "raise"] as const),
] as const;
export type Deed = (typeof DEEDS)[number];

export interface Story {
  readonly delivery: Delivery;
  readonly order: Order;
  readonly deed?: Deed;
  /** Told with streamed audio, which comes in order or not at all. */
  readonly streamed?: true;
}

const tale = (delivery: Delivery, order: Order, deed?: Deed): Story =>
  deed === undefined ? { delivery, order } : { delivery, order, deed };
const prompt = (deed: Deed): Story => tale("prompt", "in order", deed);
const streamed = (deed: Deed): Story => ({ ...prompt(deed), streamed: true });

/** Every delivery, every order of both kinds of late audio, every deed, with and without a stream. */
export const ALL_STORIES: readonly Story[] = [
  tale("held", "in order", "edit"),
  tale("held", "newest first", "redact"),
  tale("held", "shuffled", "redo"),
  tale("held", "parallel", "claim"),
  tale("held", "twice", "merge"),
  tale("held", "shuffled"),
  tale("stop-first", "in order", "edit"),
  tale("stop-first", "newest first", "redo"),
  tale("stop-first", "shuffled", "redact"),
  tale("stop-first", "parallel", "delete"),
  tale("stop-first", "twice", "summarise"),
  tale("stop-first", "parallel"),
  ...DEEDS.map(prompt),
  streamed("edit"),
  streamed("redact"),
  streamed("redo"),
  streamed("delete"),
];

/** One of each kind of trouble, for those who have a minute. */
export const FEW_STORIES: readonly Story[] = [
  tale("held", "shuffled", "edit"),
  tale("stop-first", "newest first", "redo"),
  prompt("redact"),
  streamed("delete"),
];

export function nameOf({ delivery, order, deed, streamed: isStreamed }: Story): string {
  const how = delivery === "prompt" ? delivery : `${delivery}, ${order}`;
  return [...(isStreamed ? ["streamed"] : []), how, ...(deed === undefined ? [] : [deed])].join(
    ", ",
  );
}

/** Deals each story once, in an order that the seed decides. */
export class Deck {
  readonly #left: Story[] = [];

  constructor(stories: readonly Story[], random: SeededRandom) {
    const left = [...stories];
    while (left.length > 0) this.#left.push(...left.splice(random.below(left.length), 1));
  }

  /** The next one for such a device; undefined when there is none left. */
  deal(isStreaming: boolean): Story | undefined {
    const at = this.#left.findIndex(({ streamed: is = false }) => is === isStreaming);
    return at < 0 ? undefined : this.#left.splice(at, 1)[0];
  }
}
