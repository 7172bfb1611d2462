import {
  AckPolicy,
  createInbox,
  DeliverPolicy,
  type Msg,
  type NatsConnection,
  nanos,
  ReplayPolicy,
  type Subscription,
} from "nats";
import { createDeferred } from "../base/deferred.ts";
import { LEASE_BUCKET } from "../wire/subjects.ts";
import type { LeaseRecord } from "./lease-records.ts";

/** So long the server keeps it for one that went away, milliseconds. */
const FORGOTTEN_MS = 10_000;
/** Longest wait for an answer, milliseconds: well within a lease. */
export const ANSWER_MS = 750;
const PREFIX = `$KV.${LEASE_BUCKET}.`;

export interface LeaseWatchParts {
  /** `at`: when it was written, Unix milliseconds. */
  onRecord(record: LeaseRecord, at: number): void;
  /** Something did not come: what is known from here on is not all. */
  onGap(): void;
}

/**
 * The newest of each record of the bucket, then each that changes, over a consumer of its own. The
 * library's ordered consumer makes itself anew for each message that comes while it does so, which
 * in a cluster may never end.
 */
export class LeaseWatch {
  readonly #connection: NatsConnection;
  readonly #parts: LeaseWatchParts;
  readonly #whole = createDeferred<void>();
  #subscription: Subscription | undefined;
  #delivered = 0;

  constructor(connection: NatsConnection, parts: LeaseWatchParts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  /** Resolves when every record has come. */
  async start(): Promise<void> {
    const inbox = createInbox();
    const callback = (_error: unknown, message: Msg): void => this.#hear(message);
    this.#subscription = this.#connection.subscribe(inbox, { callback });
    const options = { timeout: ANSWER_MS, checkAPI: false };
    const { consumers } = await this.#connection.jetstreamManager(options);
    const { num_pending: pending, delivered } = await consumers.add(`KV_${LEASE_BUCKET}`, {
      deliver_subject: inbox,
      deliver_policy: DeliverPolicy.LastPerSubject,
      filter_subject: `${PREFIX}>`,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(FORGOTTEN_MS),
    });
    if (pending === 0 && delivered.consumer_seq === 0) this.#whole.resolve();
    await this.#whole.promise;
  }

  stop(): void {
    this.#subscription?.unsubscribe();
    // Nobody waits for what will not come.
    this.#whole.resolve();
  }

  #hear({ subject, data, headers, reply = "" }: Msg): void {
    // $JS.ACK.<stream>.<consumer>.<deliveries>.<revision>.<sequence>.<time>.<pending>, or with a
    // domain and an account before the stream and a token at the end.
    const tokens = reply.split(".");
    const [revision, sequence, time = 0, pending] = tokens
      .slice(tokens.length > 9 ? 7 : 5, tokens.length > 9 ? 11 : 9)
      .map(Number);
    if (revision === undefined || sequence === undefined || !subject.startsWith(PREFIX)) return;
    const isNext = sequence === this.#delivered + 1;
    this.#delivered = sequence;
    const operation = headers?.get("KV-Operation") || "PUT";
    const key = subject.slice(PREFIX.length);
    this.#parts.onRecord({ key, revision, value: data, operation }, time / 1e6);
    if (!isNext) this.#parts.onGap();
    if (pending === 0) this.#whole.resolve();
  }
}
