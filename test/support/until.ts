/** Polls until the condition holds; throws after `ms`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  ms = 10_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${ms} ms in vain: ${what}.`);
    await new Promise((wake) => setTimeout(wake, 5));
  }
}
