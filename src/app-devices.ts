import { CoalescedHeartbeats } from "./api/coalesced-heartbeats.ts";
import type { AppContext } from "./app-shared.ts";
import { PostgresHeartbeats } from "./store/heartbeats.ts";

/** What devices say of themselves, heard by this process; written before it goes. */
export function createHeartbeats({ clock, log, stack, shared }: AppContext): CoalescedHeartbeats {
  const book = new PostgresHeartbeats(shared.pool);
  const heartbeats = new CoalescedHeartbeats({ book, clock, log });
  stack.push("heartbeats", () => heartbeats.stop());
  return heartbeats;
}
