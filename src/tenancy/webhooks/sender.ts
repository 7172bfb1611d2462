import type { LookupAddress } from "node:dns";
import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { toTimestamp } from "../../base/clock.ts";
import { errorMessage, isAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { QueueRunner } from "../../base/work/queue-runner.ts";
import type { WebhookError } from "../../session/webhook-event.ts";
import { type AddressGuard, EndpointRefused } from "./address-guard.ts";
import { type AttemptResult, type DeliveryClaim, judgeFailure } from "./queue.ts";
import type { DeliveryQueueStore, EndpointShares } from "./queue-store.ts";
import type { WebhookSecrets } from "./secrets.ts";

interface PostOutcome {
  statusCode?: number | undefined;
  /** Undefined when the endpoint answered with a 2xx status. */
  error?: WebhookError | undefined;
}

const MAX_HEADER_BYTES = 16_384;

/**
 * POSTs a body to an address that the guard allows. Follows no redirect, and ignores the answer's
 * body: only the status counts. Never rejects.
 */
async function postWebhook(
  guard: AddressGuard,
  target: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<PostOutcome> {
  try {
    const url = guard.parse(target);
    const addresses = await Promise.race([guard.addresses(url), aborted(signal)]);
    const statusCode = await send(url, addresses, headers, body, signal);
    return { statusCode, error: errorOfStatus(statusCode) };
  } catch (error) {
    return { error: errorOf(error, signal) };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function send(
  url: URL,
  addresses: readonly LookupAddress[],
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      lookup: answering(addresses),
      // A new connection, because one kept open might have been made for another name.
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    };
    const request: ClientRequest =
      url.protocol === "https:" ? httpsRequest(url, options) : httpRequest(url, options);
    request.on("error", reject);
    request.on("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.on("error", () => {});
      response.destroy();
    });
    request.end(body);
  });
}

/** A resolver that knows these addresses only. */
function answering(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, answer) => {
    if (options.all) {
      answer(null, [...addresses]);
      return;
    }
    const [first] = addresses;
    answer(null, first?.address ?? "", first?.family ?? 4);
  };
}

function errorOfStatus(statusCode: number): WebhookError | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  if (statusCode >= 300 && statusCode < 400) return "redirect";
  return statusCode === 410 ? "gone" : "http_error";
}

const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

function errorOf(error: unknown, signal: AbortSignal): WebhookError {
  if (error instanceof EndpointRefused) return "address_refused";
  if (signal.aborted) return "timeout";
  if (isAppError(error, "timeout")) return "dns_failed";
  const code = String((error as { code?: unknown }).code ?? "");
  if (code === "ECONNREFUSED") return "connection_refused";
  if (code === "ENOTFOUND" || code.startsWith("EAI_")) return "dns_failed";
  return TLS_CODES.test(code) ? "tls_failed" : "connection_failed";
}

export interface WebhookSenderOptions {
  queue: DeliveryQueueStore;
  secrets: Pick<WebhookSecrets, "decrypt">;
  guard: AddressGuard;
  runtime: Runtime;
  log: Log;
  /** Most messages that are sent at once. */
  parallel: number;
  /** Time between polls of the queue when nothing was due, milliseconds. */
  every: number;
  /** Time that an endpoint has to answer, milliseconds. */
  timeout: number;
  /**
   * Time after which the messages of a crashed process return to the queue, milliseconds; well
   * above `timeout`.
   */
  lease: number;
  /** Time that messages being sent have left when the sender stops, milliseconds. */
  grace: number;
}

/**
 * Sends the queue's messages, signed as Standard Webhooks requires. Any number of senders may share
 * a queue. Delivery is at least once: a message whose sender died between the endpoint's answer and
 * its record is sent again under the same id.
 */
export class WebhookSender {
  readonly runner: QueueRunner<DeliveryClaim>;
  readonly #options: WebhookSenderOptions;
  #succeeded = 0;
  #failed = 0;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    const { queue, parallel, every, lease, grace: graceMs, runtime, log } = options;
    this.runner = new QueueRunner({
      ...{ queue: "webhooks", atOnce: parallel, every, graceMs, runtime, log },
      trouble: "webhook queue not readable",
      claim: (limit) => queue.claim(limit, runtime.now(), lease, sharesOf(parallel)),
      work: (claim, giveBack) => this.#deliver(claim, giveBack),
    });
  }

  /** Counts since the start of the process. */
  get figures(): { succeeded: number; failed: number } {
    return { succeeded: this.#succeeded, failed: this.#failed };
  }

  /** Never rejects; an attempt that could not be recorded returns when its lease expires. */
  async #deliver(claim: DeliveryClaim, giveBack: AbortSignal): Promise<void> {
    const { queue, runtime, log } = this.#options;
    try {
      const result = await this.#attempt(claim, giveBack);
      if (result === undefined) return await queue.release(claim, runtime.now());
      if (result.error === undefined) {
        this.#succeeded += 1;
        return await queue.succeeded(claim, result);
      }
      this.#failed += 1;
      const verdict = judgeFailure(claim, result, runtime.random());
      await queue.failed(claim, result, verdict);
      if (verdict.disable === undefined) return;
      log.warn({ webhook_id: claim.webhookId, reason: verdict.disable }, "webhook switched off");
    } catch (error) {
      const { webhookId: webhook_id, id } = claim;
      log.warn({ webhook_id, id, error: errorMessage(error) }, "delivery not recorded");
    }
  }

  /** Undefined when it was aborted because the process stops. */
  async #attempt(claim: DeliveryClaim, giveBack: AbortSignal): Promise<AttemptResult | undefined> {
    const { runtime, guard, timeout } = this.#options;
    const at = runtime.now();
    const begun = runtime.monotonic();
    const message = this.#message(claim, at);
    const limit = AbortSignal.any([AbortSignal.timeout(timeout), giveBack]);
    const outcome =
      message === undefined
        ? { error: "internal" as const }
        : await postWebhook(guard, claim.url, message.headers, message.body, limit);
    if (outcome.error === "timeout" && giveBack.aborted) return undefined;
    return { at, durationMs: Math.round(runtime.monotonic() - begun), ...outcome };
  }

  /**
   * Undefined when its secret cannot be decrypted, because this installation's keys were replaced.
   */
  #message(
    claim: DeliveryClaim,
    at: number,
  ): { headers: Record<string, string>; body: string } | undefined {
    const { secrets, log } = this.#options;
    const { webhookId, id, eventType, data } = claim;
    try {
      const body = JSON.stringify({
        type: eventType,
        timestamp: toTimestamp(claim.occurredAt),
        data,
      });
      const signatures = claim.secrets.map((encrypted) =>
        new Webhook(secrets.decrypt(webhookId, encrypted)).sign(id, new Date(at), body),
      );
      const headers = {
        "content-type": "application/json; charset=utf-8",
        "user-agent": "voice-session-service",
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at / 1_000)),
        "webhook-signature": signatures.join(" "),
      };
      return { headers, body };
    } catch (error) {
      log.error({ webhook_id: webhookId, error: errorMessage(error) }, "webhook not signed");
      return undefined;
    }
  }
}

/** So that endpoints of one tenant that do not answer leave places to the others. */
function sharesOf(parallel: number): EndpointShares {
  return { workspace: Math.ceil(parallel / 4), tenant: Math.ceil(parallel / 2) };
}
