import { signal } from "@preact/signals";
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../../client/gen/api-schema.ts";
import { account, signInAgain } from "./account.ts";

/** The service's address, below whatever path the page is served at; without a slash at its end. */
export const API_BASE = new URL("api", document.baseURI).href;

const TIMEOUT_MS = 30_000;
/** Calls that begin or renew a sign-in: not in the name of whoever was signed in before. */
const NAMELESS =
  /\/auth\/(login|refresh-token|guest|request-magic-link|validate-magic-link|oauth\/.*)$/;

/** Thrown for every call that brought no 2xx; `message` is a sentence for people. */
export class ApiFailure extends Error {
  /** 0 when no answer came. */
  readonly status: number;
  /** Of the closed list in the OpenAPI document, or "". */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
  }
}

/** True while the newest call got no answer at all. */
export const isServiceAway = signal(false);

const client: Client<paths> = createClient<paths>({ baseUrl: API_BASE, fetch: exchange });

/**
 * Sends one request with the typed client, in the name of whoever is signed in. When the hour of a
 * token is over, the person is asked to sign in again, and the call goes on afterwards.
 */
export async function call<T>(
  send: (client: Client<paths>) => Promise<{ data?: T; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, response } = await send(client);
  if (data === undefined || data === null) {
    throw new ApiFailure(response.status, "", "The answer did not come from this service.");
  }
  return data;
}

/** One request with the caller's token; throws `ApiFailure` unless the status is 2xx. */
export async function exchange(request: Request): Promise<Response> {
  for (;;) {
    const token = account.value?.token;
    const attempt = request.clone();
    const { headers } = attempt;
    const isNamed =
      headers.has("authorization") || headers.has("x-api-key") || NAMELESS.test(pathOf(request));
    if (token !== undefined && !isNamed) headers.set("authorization", `Bearer ${token}`);
    const response = await answerOf(attempt);
    if (response.ok) return response;
    // A sign-in that is refused is told by the form itself.
    // So is a password that somebody who is signed in gives once more.
    const isWrongPassword = response.headers.get("x-error-code") === "invalid_credentials";
    const hasEnded = response.status === 401 && token !== undefined && !isNamed && !isWrongPassword;
    if (!hasEnded) throw await failureOf(response);
    if (account.value?.token === token) await signInAgain();
  }
}

function pathOf(request: Request): string {
  return new URL(request.url).pathname;
}

async function answerOf(request: Request): Promise<Response> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await fetch(request, { signal: AbortSignal.any([limit, request.signal]) });
    isServiceAway.value = false;
    return answer;
  } catch (error) {
    if (request.signal.aborted) throw error;
    isServiceAway.value = true;
    throw new ApiFailure(0, "", "The service does not answer. Is it running, and are you online?");
  }
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const code = response.headers.get("x-error-code") ?? "";
  const body: unknown = await response.json().catch(() => undefined);
  const said =
    typeof body === "object" && body !== null && "message" in body
      ? String(body.message)
      : `The service answered with ${response.status}.`;
  return new ApiFailure(response.status, code, said);
}

/** True for what may be over in a moment: no network, or a service in trouble. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
}

/** A sentence for people about anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
