/** How a recording reaches the service: in chunks of so many seconds, or as a device's live stream. */
export type Delivery = number | "stream";

/** Throws on what is neither. */
export function parseDelivery(text: string): Delivery {
  if (text.trim() === "stream") return "stream";
  const seconds = Number(text);
  if (!(seconds > 0)) throw new Error(`${text}: seconds, or "stream"`);
  return seconds;
}

export function nameOf(delivery: Delivery): string {
  return delivery === "stream" ? "stream" : `${delivery} s`;
}

/** Chunks first, from short to long. */
export function inOrder(deliveries: Iterable<Delivery>): Delivery[] {
  const rank = (each: Delivery) => (each === "stream" ? Number.POSITIVE_INFINITY : each);
  return [...new Set(deliveries)].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
