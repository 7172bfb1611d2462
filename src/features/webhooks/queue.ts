import { backOff } from "../../base/back-off.ts";
import type { WebhookData, WebhookError } from "../../session/webhook-event.ts";

/** A message that is this process's to send, and what is known of its endpoint. */
export interface DeliveryClaim {
  leaseId: string;
  webhookId: string;
  /** `webhook-id` on the wire. */
  id: string;
  url: string;
  /** The secret in force and, for a while after a rotation, the one before; sealed. */
  secrets: Uint8Array[];
  eventType: string;
  data: WebhookData;
  occurredAt: number;
  /** Including this one. */
  attempt: number;
  giveUpAt: number;
  /** How often in a row the endpoint has failed before this attempt. */
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

/** What follows from an attempt that failed. */
export interface FailureVerdict {
  /** Undefined when it was the last attempt. */
  retryAt: number | undefined;
  /** Nothing is sent to the endpoint before. */
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
/** Each wait is longer by up to this share, so that what failed together does not return together. */
const JITTER = 0.05;

/** Failures in a row after which an endpoint is given a rest, whatever else is due for it. */
const PATIENCE = 3;
const PAUSES = { firstMs: 5 * SECOND, mostMs: 5 * MINUTE };

/** An endpoint where nothing arrives for so long is switched off. */
const HOPELESS = 5 * 24 * HOUR;

/** What follows from a failure; `random` in [0, 1) spreads the retries. */
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

/** A dead endpoint must not keep a sender busy with all that waits for it. */
function pauseAfter(failures: number): number {
  if (failures < PATIENCE) return 0;
  return backOff(failures - PATIENCE + 1, PAUSES);
}
