import { SignatureError } from "./errors.ts";
import type { WebhookMessage } from "./frames.ts";

/** What a web framework has of a request's headers: a `Headers`, or an object of Node's. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How old a message may be, and how far ahead of this clock, seconds; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** Unix milliseconds; the time of day by default. */
  readonly now?: number | undefined;
}

/** Named alike by browsers' types and Node's. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";

/**
 * Verifies a webhook's message as Standard Webhooks has it, and returns it. `body` is the request's
 * body as it came, byte by byte; `secret` what the service showed when the webhook was made, or both
 * while it is being replaced. `webhook-id` is the same in each attempt: who has seen it has it.
 * Rejects with `SignatureError`.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookMessage & { readonly webhookId: string }> {
  const webhookId = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const age = now / 1_000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN);
  if (!(Math.abs(age) <= toleranceSeconds)) {
    throw new SignatureError("The message is too old, or its webhook-timestamp is no moment.");
  }
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${webhookId}.${timestamp}.${text}`);
  const given = header(headers, "webhook-signature").split(" ");
  for (const each of [secret].flat()) {
    const key = await importKey(each);
    for (const signature of given) {
      if (await isBy(key, signature, content)) {
        return { ...(JSON.parse(text) as WebhookMessage), webhookId };
      }
    }
  }
  throw new SignatureError("No signature of the message is by this secret.");
}

function header(headers: HeadersLike, name: string): string {
  const value =
    typeof headers.get === "function"
      ? (headers as { get(name: string): string | null }).get(name)
      : (headers as Record<string, string | readonly string[] | undefined>)[name];
  const [first] = [value ?? ""].flat();
  if (first === undefined || first === "") throw new SignatureError(`There is no ${name}.`);
  return first;
}

function importKey(secret: string): Promise<Key> {
  const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === undefined || bytes.length === 0) {
    throw new SignatureError("The secret is not one of a webhook.");
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
}

/** Compares in constant time. */
async function isBy(
  key: Key,
  signature: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const [version, value = ""] = signature.split(",");
  const bytes = version === "v1" ? fromBase64(value) : undefined;
  return bytes !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, content));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
