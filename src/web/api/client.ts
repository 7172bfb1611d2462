import { signal } from "@preact/signals";
import { bearer, type Caller } from "../../client/access.ts";
import { ApiClient, type CallOptions, judge, type Send } from "../../client/api-client.ts";
import { type BackOff, withRetries } from "../../client/back-off.ts";
import { ApiError, Unreachable, VoiceError } from "../../client/errors.ts";
import { account, signInAgain } from "./account.ts";

/** The service's address, below whatever path the page is served at; without a slash at its end. */
export const API_BASE = new URL("api", document.baseURI).href;

/** A person waits: whatever is not over in a moment is told. */
const BRIEFLY: BackOff = { attempts: 2, firstMs: 300, longestMs: 300, longestAskedMs: 1_000 };
const ONCE: BackOff = { ...BRIEFLY, attempts: 1 };
/** Longer than a service or its only worker takes to start again. */
const PATIENTLY: BackOff = {
  attempts: 7,
  firstMs: 1_000,
  longestMs: 5_000,
  longestAskedMs: 10_000,
};

/** Whoever is signed in, who is asked to sign in again when the hour of a token is over. */
class SignedIn implements Caller {
  headers(): { Authorization?: string } {
    return account.value === undefined ? {} : bearer(account.value.token);
  }

  async renew(refused: { Authorization?: string } = this.headers()): Promise<boolean> {
    if (refused.Authorization === undefined) return false;
    if (refused.Authorization === this.headers().Authorization) await signInAgain();
    return true;
  }
}

export const signedIn: Caller = new SignedIn();

/** True while the newest call got no answer at all. */
export const isServiceAway = signal(false);

/** Notes whether the service answers. */
class WatchedApi extends ApiClient {
  override once<T>(send: Send<T>, options?: CallOptions): Promise<NonNullable<T>> {
    return watched(super.once(send, options));
  }

  override call<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    const onRetry: CallOptions["onRetry"] = (error, waitMs) => {
      note(error);
      options.onRetry?.(error, waitMs);
    };
    return watched(super.call(send, { ...options, onRetry }));
  }

  override send(url: string, init: RequestInit, options?: CallOptions): Promise<Response> {
    return watched(super.send(url, init, options));
  }
}

async function watched<T>(work: Promise<T>): Promise<T> {
  try {
    const answer = await work;
    note(undefined);
    return answer;
  } catch (error) {
    note(error);
    throw error;
  }
}

function note(error: unknown): void {
  if (error === undefined || error instanceof ApiError) isServiceAway.value = false;
  if (error instanceof Unreachable) isServiceAway.value = true;
}

/** The service, called in somebody's name. */
export function apiOf(caller: Caller): ApiClient {
  return new WatchedApi(API_BASE, BRIEFLY, caller);
}

/** The service, called in the name of whoever is signed in. */
export const api: ApiClient = apiOf(signedIn);

/**
 * For calls that begin a sign-in, which are not in the name of whoever was signed in before, or that
 * have an `authorization` of their own: their refusal asks nobody to sign in.
 */
const nameless: ApiClient = new WatchedApi(API_BASE, ONCE);

/** Sends one request with the typed client, in the name of whoever is signed in. */
export function call<T>(send: Send<T>): Promise<NonNullable<T>> {
  return api.call(send);
}

/** Like `call`, for what is not asked again by itself, as no key keeps it from being done twice. */
export function callOnce<T>(send: Send<T>): Promise<NonNullable<T>> {
  return api.once(send);
}

/**
 * Like `call`, for what changes nothing and is worth waiting for: for about half a minute it is asked again
 * while the service is away, starts again or has nobody for it. `onRetry` gets each failure before the wait.
 */
export function callPatiently<T>(
  send: Send<T>,
  onRetry: (error: unknown) => void,
): Promise<NonNullable<T>> {
  return withRetries(() => api.once(send), { backOff: PATIENTLY, judge, onRetry });
}

/** Like `call`, in nobody's name. */
export function callNameless<T>(send: Send<T>): Promise<NonNullable<T>> {
  return nameless.call(send);
}

/**
 * What lies at an address of the interface, in the name of whoever is signed in.
 *
 * @param path begins with a slash
 */
export function fetchFrom(path: string, init: RequestInit = {}): Promise<Response> {
  return api.send(`${API_BASE}${path}`, init, { signal: init.signal ?? undefined });
}

/** What is in between may answer with a page of its own, or with nothing. */
const NOT_WORDS = /^(<|no explanation$)/;

/** True for what may be over in a moment: no network, or a service in trouble. */
export function isPassing(error: unknown): boolean {
  return error instanceof VoiceError && error.isRetryable;
}

/** A sentence for people about anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Unreachable) {
    return "The service does not answer. Is it running, and are you online?";
  }
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  return NOT_WORDS.test(error.said) ? `The service answered with ${error.status}.` : error.said;
}
