import type { Steps } from "../../workers/text/retrieval/document.ts";

/** All steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
