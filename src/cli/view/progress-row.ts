import { clockTime } from "../../wire/clock-time.ts";
import { fitted } from "./terminal-text.ts";

const WIDEST_BAR = 30;
/** A shorter one says nothing. */
const SHORTEST_BAR = 4;

/** `audio  ██████░░░░  00:12 / 00:42`: how much of a recording has been sent, in one row. */
export function progressRow(sent: number, total: number, columns: number): string {
  const share = total > 0 ? Math.min(1, sent / total) : 0;
  const clock = `${clockTime(sent)} / ${clockTime(total)}`;
  const room = columns - `audio    ${clock}`.length - 1;
  if (room < SHORTEST_BAR) return fitted(clock, columns - 1);
  const width = Math.min(WIDEST_BAR, room);
  const full = Math.round(share * width);
  return `audio  ${"█".repeat(full)}${"░".repeat(width - full)}  ${clock}`;
}
