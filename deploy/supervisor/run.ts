import type { Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { Supervisor, type SupervisorSettings } from "./supervisor.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
// one Ctrl-C arrives up to three times: from the terminal, from npm and from the launcher
const SAME_WISH_MS = 1_000;
// for a start that was interrupted to clean up behind itself
const SETTLE_MS = 500;

/**
 * Starts everything and stays until a signal, or until the launcher is gone. A second Ctrl-C
 * stops at once.
 * @returns the exit code
 */
export async function superviseUntilStopped(
  screen: Screen,
  readSettings: () => SupervisorSettings,
): Promise<number> {
  let supervisor: Supervisor | undefined;
  const wish = waitForStopWish(() => supervisor?.killNow());
  try {
    supervisor = await Supervisor.open(readSettings());
    const running = supervisor;
    const served = serve(running, wish.promise);
    await Promise.race([served, wish.promise]);
    await stopWithWord(screen, running, wish.reason());
    await settledWithin(served, SETTLE_MS);
    return 0;
  } catch (error) {
    tellFailure(screen, error);
    await supervisor?.stop();
    return 1;
  }
}

async function serve(supervisor: Supervisor, stopWish: Promise<void>): Promise<void> {
  await supervisor.start();
  await supervisor.demonstrate();
  await stopWish;
}

async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  const late = new Promise((settle) => setTimeout(settle, ms));
  await Promise.race([work.catch(() => undefined), late]);
}

async function stopWithWord(screen: Screen, supervisor: Supervisor, reason: string): Promise<void> {
  screen.line();
  const step = screen.step(`${reason}: stopping`);
  await supervisor.stop();
  step.done("everything has stopped");
}

function tellFailure(screen: Screen, error: unknown): void {
  if (error instanceof StepError) {
    screen.problem(error);
  } else {
    screen.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

function waitForStopWish(again: () => void): { promise: Promise<void>; reason: () => string } {
  let reason = "";
  let wishedAt = 0;
  const promise = new Promise<void>((settle) => {
    const wish = (why: string) => {
      if (reason !== "" && performance.now() - wishedAt > SAME_WISH_MS) again();
      if (reason !== "") return;
      reason = why;
      wishedAt = performance.now();
      settle();
    };
    for (const signal of SIGNALS) process.on(signal, () => wish(signal));
    process.once("disconnect", () => wish("the launcher has gone"));
  });
  return { promise, reason: () => reason };
}
