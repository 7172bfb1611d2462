/** The child's end of `ChildTask`: answers every question; the process ends with its parent. */
export function answerParent<Q>(answer: (question: Q) => Promise<unknown>): void {
  process.on("message", (question) => {
    answer(question as Q).then(
      (result) => process.send?.({ result }),
      (error: unknown) => {
        process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : error });
      },
    );
  });
  process.on("disconnect", () => process.exit(0));
}

/** Microseconds of a clock that all processes of this machine share. */
export function sharedMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
