/** What is there at once is seen at once. */
const FIRST_WAIT_MS = 5;
/** What takes seconds is seen late by a few hundredths of them, and asking costs little meanwhile. */
const LONGEST_WAIT_MS = 50;
/** Of the time waited so far. */
const SHARE = 1 / 20;

/**
 * Polls until the condition holds, the less often the longer it takes: most conditions ask a service,
 * which shares the machine with all other tests. Throws after `ms`.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  ms = 30_000,
): Promise<void> {
  const begun = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - begun;
    if (waited > ms) throw new Error(`Waited ${ms} ms in vain: ${what}.`);
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS + waited * SHARE);
    await new Promise((wake) => setTimeout(wake, wait));
  }
}
