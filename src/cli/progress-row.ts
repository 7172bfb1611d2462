import cliProgress from "cli-progress";
import { clockTime } from "./transcript-line.ts";

const BAR_WIDTH = 30;

/** `audio ██████░░░░ 00:12 / 00:42`: how much of a recording has been sent, in one row. */
export function progressRow(sent: number, total: number): string {
  const share = total > 0 ? Math.min(1, sent / total) : 0;
  const bar = cliProgress.Format.BarFormat(share, {
    barsize: BAR_WIDTH,
    barCompleteString: "█".repeat(BAR_WIDTH),
    barIncompleteString: "░".repeat(BAR_WIDTH),
    barGlue: "",
  });
  return `audio  ${bar}  ${clockTime(sent)} / ${clockTime(total)}`;
}
