import { CoalescedHeartbeats } from "./api/coalesced-heartbeats.ts";
import type { AppContext } from "./app-shared.ts";
import { AutoStop } from "./jobs/auto-stop.ts";
import type { Chore } from "./jobs/housekeeping.ts";
import { PresenceWatch } from "./jobs/presence-watch.ts";
import { PostgresHeartbeats } from "./store/heartbeats.ts";
import { PostgresRecordingDevices } from "./store/recording-devices.ts";
import { PostgresSilentSessions } from "./store/silent-sessions.ts";

/** What devices say of themselves, heard by this process; written before it goes. */
export function createHeartbeats(context: AppContext): CoalescedHeartbeats {
  const { clock, log, stack, shared, queues } = context;
  const book = new PostgresHeartbeats(shared.pool);
  const heartbeats = new CoalescedHeartbeats({ book, clock, log });
  queues.add(heartbeats);
  stack.push("heartbeats", () => heartbeats.stop());
  return heartbeats;
}

/** Stops sessions of silent devices, unless that is switched off. */
export function autoStopChores({ config, log, shared }: AppContext): Chore[] {
  if (config.autoStopSilence === 0) return [];
  const autoStop = new AutoStop({
    sessions: new PostgresSilentSessions(shared.pool, shared.work),
    notify: (rows) => shared.notifier.notify(rows),
    silence: config.autoStopSilence * 1_000,
    log,
  });
  // Each process knows only of itself since when it listens.
  const everywhere = true;
  const { every } = autoStop;
  return [{ name: "sessions of silent devices", every, everywhere, run: () => autoStop.run() }];
}

const LOOK_MS = 2_000;

/** Follows the devices of this host's sessions. */
export function startPresence(
  { log, stack, shared }: AppContext,
  owned: () => readonly number[],
): PresenceWatch {
  const watch = new PresenceWatch({
    devices: new PostgresRecordingDevices(shared.pool, shared.work),
    owned,
    publish: (sessionId, frame) => shared.fanout.publish(sessionId, [frame]),
    runtime: shared.background,
    log,
    every: LOOK_MS,
  });
  watch.start();
  stack.push("presence of devices", () => watch.stop());
  return watch;
}
