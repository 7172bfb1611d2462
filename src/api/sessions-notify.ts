import { withTimeout } from "../base/deferred.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { CommandNotifier, OutboxRow } from "./sessions-outbox.ts";

const NOTIFY_MS = 2_000;

/**
 * Hands committed rows on without making the caller wait or fail: what is
 * committed is safe, and the sweep publishes whatever this does not.
 */
export function notifyCommitted(
  notifier: CommandNotifier,
  log: Log,
  rows: readonly OutboxRow[],
): void {
  if (rows.length === 0) return;
  const work = Promise.resolve().then(() => notifier.notify(rows));
  withTimeout(work, NOTIFY_MS, "Publishing a command").catch((error: unknown) => {
    log.warn(
      { commands: rows.map(({ id }) => id), error: errorMessage(error) },
      "command was not published at once; the sweep will",
    );
  });
}
