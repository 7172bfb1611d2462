/** Work cut into steps of a few milliseconds, so that what shares its thread need not wait. */
export type Steps<T> = Generator<undefined, T>;

/** All steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
