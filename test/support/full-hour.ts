import { setTimeout as sleep } from "node:timers/promises";

const HOUR = 3_600_000;
const ENOUGH = 45_000;

/** Waits over the full hour when it is near, for tests of what is counted by the hour. */
export async function awayFromFullHour(): Promise<void> {
  const left = HOUR - (Date.now() % HOUR);
  if (left < ENOUGH) await sleep(left + 1_000);
}
