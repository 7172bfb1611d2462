import type { Page } from "playwright-core";
import { quantile } from "./statistics.ts";

/** Times between the frames that a page drew, in milliseconds, and how many lines it held at most. */
export interface Frames {
  readonly times: readonly number[];
  readonly rows: number;
}

/** Records the page's frames until the function returned is called. */
export async function recordFrames(page: Page): Promise<() => Promise<Frames>> {
  await page.evaluate(`window.frames_ = { times: [], rows: 0, isOn: true };
    let before = performance.now();
    const look = (now) => {
      const { frames_ } = window;
      frames_.times.push(now - before);
      frames_.rows = Math.max(frames_.rows, document.querySelectorAll(".transcript-row").length);
      before = now;
      if (frames_.isOn) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);`);
  return async () => {
    await page.evaluate("window.frames_.isOn = false");
    const { times, rows } = (await page.evaluate("window.frames_")) as Frames;
    // The first one began before.
    return { times: times.slice(1), rows };
  };
}

/** `late` counts the frames that took longer than `markMs`. */
export function summariseFrames({ times, rows }: Frames, markMs: number) {
  return {
    p95: quantile(times, 0.95),
    longest: Math.max(...times),
    count: times.length,
    late: times.filter((each) => each > markMs).length,
    rows,
  };
}
