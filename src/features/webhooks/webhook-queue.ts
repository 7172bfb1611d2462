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

/**
 * Port: the messages that wait for delivery. All times are Unix milliseconds of
 * the record's clock, whatever the caller's host has: see `DatabaseClock`.
 *
 * An endpoint is leased to one caller at a time, so its messages go one after
 * the other, in the order in which they became due. A lease ends by itself, so
 * what a crashed process held comes back: delivery is at least once.
 */
export interface DeliveryQueue {
  /** One due message of each of at most `limit` endpoints, those served longest ago first. */
  claim(limit: number, now: number, leaseMs: number): Promise<DeliveryClaim[]>;
  /** Records that the message arrived, and frees the endpoint. */
  succeeded(claim: DeliveryClaim, result: AttemptResult): Promise<void>;
  /** Records a failure, and frees the endpoint; ignored when the lease was lost meanwhile. */
  failed(claim: DeliveryClaim, result: AttemptResult, verdict: FailureVerdict): Promise<void>;
  /** Gives an attempt back that was broken off: as if it had never been claimed. */
  release(claim: DeliveryClaim, now: number): Promise<void>;
  /** Ends what is past its time, deletes what is 30 days old, some at once; returns how many. */
  clean(now: number): Promise<number>;
}
