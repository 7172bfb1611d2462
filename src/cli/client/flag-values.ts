import { InvalidArgumentError } from "commander";

const LONGEST_CHUNK_S = 900;
const MOST_LOSS = 0.9;

/** `2s`, `500ms` or `2` (seconds) → seconds. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text) ?? [];
  const seconds = Number(amount) / (unit === "ms" ? 1000 : 1);
  if (seconds >= 0.02 && seconds <= LONGEST_CHUNK_S) return seconds;
  throw new InvalidArgumentError("expected 20ms to 900s, for example 2s or 500ms");
}

/** A factor above 0, or `max` → Infinity. */
export function parseSpeed(text: string): number {
  if (text === "max") return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  if (text.trim() !== "" && speed > 0 && Number.isFinite(speed)) return speed;
  throw new InvalidArgumentError("expected a number above 0 (1 is real time), or max");
}

/** `2%` or `0.02` → 0.02. */
export function parseShare(text: string): number {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(text) ?? [];
  const share = Number(amount) / (percent ? 100 : 1);
  if (share >= 0 && share <= MOST_LOSS) return share;
  throw new InvalidArgumentError("expected 0 to 0.9, for example 0.02 or 2%");
}

/** A number of seconds within these bounds. */
export function parseSeconds(least: number, most: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text.trim() !== "" && seconds >= least && seconds <= most) return seconds;
    throw new InvalidArgumentError(`expected ${least} to ${most}`);
  };
}
