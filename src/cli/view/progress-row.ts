import { clockTime } from "../../wire/clock-time.ts";
import { columnsOf, fitted } from "./terminal-text.ts";

const WIDEST_BAR = 30;
/** A shorter bar is not shown, as it would say nothing. */
const SHORTEST_BAR = 4;

/** A row such as `audio  ██████░░░░  00:12 / 00:42`; `share` is 0 to 1. */
export function barRow(label: string, share: number, figures: string, columns: number): string {
  const room = columns - columnsOf(label) - 4 - columnsOf(figures) - 1;
  if (room < SHORTEST_BAR) return fitted(figures, columns - 1);
  const width = Math.min(WIDEST_BAR, room);
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `${label}  ${"█".repeat(full)}${"░".repeat(width - full)}  ${figures}`;
}

/** A bar that shows how many seconds of a recording were sent. */
export function progressRow(sent: number, total: number, columns: number): string {
  const figures = `${clockTime(sent)} / ${clockTime(total)}`;
  return barRow("audio", total > 0 ? sent / total : 0, figures, columns);
}
