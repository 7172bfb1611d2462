/** Lets everything go on that can. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
