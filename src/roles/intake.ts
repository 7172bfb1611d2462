import type { AudioWatch } from "../features/recording/durable-files/audio-watch.ts";
import type { OutboxBacklog } from "../postgres/outbox-backlog.ts";

/**
 * What an upload is refused by before it is received: a disk that hangs, commands that pile up. Streams
 * need no disk for their audio. `check` throws `unavailable` or `overloaded`.
 */
export function intakeOf(
  watch: Pick<AudioWatch, "admit">,
  backlog: Pick<OutboxBacklog, "check">,
): Pick<OutboxBacklog, "check"> {
  return {
    check(sessionId) {
      watch.admit();
      backlog.check(sessionId);
    },
  };
}
