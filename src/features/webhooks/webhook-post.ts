import type { LookupAddress } from "node:dns";
import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { isAppError } from "../../base/errors.ts";
import type { WebhookError } from "../../session/webhook-event.ts";
import { type AddressGuard, EndpointRefused } from "./address-guard.ts";

interface PostOutcome {
  statusCode?: number | undefined;
  /** Undefined for a 2xx. */
  error?: WebhookError | undefined;
}

const MAX_HEADER_BYTES = 16_384;

/**
 * POSTs a body to an address that the guard lets through. Follows no redirect,
 * and drops whatever is answered: the status alone counts. Never rejects.
 */
export async function postWebhook(
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
      // A connection of its own: one kept open might have been made for another name.
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
