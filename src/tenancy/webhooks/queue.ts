import { backOff } from "../../base/back-off.ts";
import type { WebhookData, WebhookError } from "../../session/webhook-event.ts";

/** A message claimed by this process, and the state of its endpoint. */
export interface DeliveryClaim {
  leaseId: string;
  webhookId: string;
  /** The value of the `webhook-id` header. */
  id: string;
  url: string;
  /** The current secret and, for a while after a rotation, the previous one; encrypted. */
  secrets: Uint8Array[];
  eventType: string;
  data: WebhookData;
  occurredAt: number;
  /** Number of attempts, including this one. */
  attempt: number;
  giveUpAt: number;
  /** Number of consecutive failures of the endpoint before this attempt. */
  failures: number;
  failingSince?: number | undefined;
}

export interface AttemptResult {
  at: number;
  durationMs: number;
  statusCode?: number | undefined;
  /** Undefined when the message arrived. */
  error?: WebhookError | undefined;
}

/** The consequences of a failed attempt. */
export interface FailureVerdict {
  /** Undefined when it was the last attempt. */
  retryAt: number | undefined;
  /** Nothing is sent to the endpoint before this time. */
  pauseUntil: number;
  failingSince: number;
  disable: "gone" | "failing" | undefined;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits after the first, second, … failure: ten attempts within 72 h, jitter included. */
const WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  16 * HOUR,
  20 * HOUR,
];
/**
 * Each wait is longer by up to this share, so that messages that failed together are not retried
 * together.
 */
const JITTER = 0.05;

/** Consecutive failures after which the endpoint is paused, whatever else is due for it. */
const PATIENCE = 3;
const PAUSES = { firstMs: 5 * SECOND, mostMs: 5 * MINUTE };

/** An endpoint to which nothing could be delivered for this long is disabled, milliseconds. */
const HOPELESS = 5 * 24 * HOUR;

/** Computes the consequences of a failure; `random` in [0, 1) spreads the retries. */
export function judgeFailure(
  claim: Pick<DeliveryClaim, "attempt" | "giveUpAt" | "failures" | "failingSince">,
  { at, durationMs, error }: AttemptResult,
  random: number,
): FailureVerdict {
  const now = at + durationMs;
  const failingSince = claim.failingSince ?? at;
  return {
    retryAt: retryAt(claim, now, random),
    pauseUntil: now + pauseAfter(claim.failures + 1),
    failingSince,
    disable: error === "gone" ? "gone" : now - failingSince >= HOPELESS ? "failing" : undefined,
  };
}

function retryAt(
  { attempt, giveUpAt }: Pick<DeliveryClaim, "attempt" | "giveUpAt">,
  now: number,
  random: number,
): number | undefined {
  const wait = WAITS[attempt - 1];
  if (wait === undefined) return undefined;
  const at = Math.round(now + wait * (1 + JITTER * random));
  return at < giveUpAt ? at : undefined;
}

/** The pause after this many failures, so that a dead endpoint does not occupy a sender. */
function pauseAfter(failures: number): number {
  if (failures < PATIENCE) return 0;
  return backOff(failures - PATIENCE + 1, PAUSES);
}
