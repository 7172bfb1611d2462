// `node --import …/skewed-clock.ts`: a process whose wall clock is wrong by TEST_CLOCK_SKEW_MS.
// Only what this process asks for as the date is shifted: its monotonic clock and its timers run
// true, and so do the clocks of the servers that it talks to.

const skew = Number(process.env.TEST_CLOCK_SKEW_MS ?? 0);
const TrueDate = Date;

if (skew !== 0) {
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [TrueDate.now() + skew] : args, newTarget),
    apply: () => new TrueDate(TrueDate.now() + skew).toString(),
    get: (target, key) => (key === "now" ? () => TrueDate.now() + skew : Reflect.get(target, key)),
  });
}
