import type { TemplatedApp } from "uWebSockets.js";
import type { Authenticator } from "../../access/authenticator.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import type { Log } from "../../base/log.ts";
import type { QueueOwner } from "../../base/queue-metrics.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { Origins } from "../server/caller.ts";
import type { RateLimits } from "../server/limits.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { UpgradeCork } from "./upgrade.ts";

/** What the sockets of one server share. */
export interface ChannelContext {
  revocations: Pick<RevocationFeed, "subscribe">;
  limits: LiveLimits;
  authenticator: Authenticator;
  rates: RateLimits;
  origins: Origins;
  cork: UpgradeCork;
  trustProxy: number;
  runtime: Runtime;
  log: Log;
}

/** The sockets of one address: `mount` and `start`, then `drain`, then `stop`. */
export interface Channel extends QueueOwner {
  mount(app: TemplatedApp): void;
  start(): void;
  /** Closes every socket at a random moment of the next `spreadMs`, milliseconds. */
  drain(spreadMs: number): Promise<void>;
  stop(): void;
}
