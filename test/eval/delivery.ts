import { isSoundFormat, SOUND_FORMATS, type SoundFormat } from "./encoded-sound.ts";

/**
 * How a recording reaches the service: in chunks of so many seconds, as a device's live stream, or as
 * one file of a format.
 */
export type Delivery = number | "stream" | SoundFormat;

/** Throws on what is none of them. */
export function parseDelivery(given: string): Delivery {
  const text = given.trim();
  if (text === "stream" || isSoundFormat(text)) return text;
  const seconds = Number(text);
  if (!(seconds > 0)) {
    throw new Error(`${text}: seconds, "stream", or a format (${SOUND_FORMATS.join(", ")})`);
  }
  return seconds;
}

export function nameOf(delivery: Delivery): string {
  return typeof delivery === "number" ? `${delivery} s` : delivery;
}

/** Chunks first, from short to long, then the stream, then the formats. */
export function inOrder(deliveries: Iterable<Delivery>): Delivery[] {
  return [...new Set(deliveries)].sort((a, b) => rank(a) - rank(b));
}

function rank(delivery: Delivery): number {
  if (typeof delivery === "number") return delivery;
  return 1e9 + (delivery === "stream" ? 0 : 1 + SOUND_FORMATS.indexOf(delivery));
}
