import { bearer, type Caller } from "../../client/access.ts";
import type { ApiClient } from "../../client/api-client.ts";
import { ApiError, VoiceError } from "../../client/errors.ts";
import { account, aside, signInAgain } from "../api/account.ts";
import { API_BASE, apiOf } from "../api/client.ts";

const LIMIT_MS = 10_000;
/** Stands for any session: what the service takes is the same for all of them. */
const ANY_SESSION = "00000000-0000-0000-0000-000000000000";

/** An account whose files are sent, also while its person is a guest in this browser. */
class Uploading implements Caller {
  readonly #accountId: string;
  readonly #signal: AbortSignal;

  constructor(accountId: string, signal: AbortSignal) {
    this.#accountId = accountId;
    this.#signal = signal;
  }

  headers(): { Authorization: string } {
    const who = [account.value, aside.value].find((each) => each?.id === this.#accountId);
    if (who === undefined) throw new Error("You signed out.");
    return bearer(who.token);
  }

  async renew(refused: { Authorization?: string } = this.headers()): Promise<boolean> {
    if (refused.Authorization !== this.headers().Authorization) return true;
    if (account.value?.id === this.#accountId) {
      return Promise.race([signInAgain().then(() => true), aborted(this.#signal)]);
    }
    throw new VoiceError("unauthorized", "The account waits while its person is a guest.", true);
  }
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
}

/** The service, called in the name of an account for as long as the signal is not aborted. */
export function apiOfAccount(accountId: string, signal: AbortSignal): ApiClient {
  return apiOf(new Uploading(accountId, signal));
}

let most: number | undefined;

/** The largest file that the service takes, bytes; undefined where it does not say now. */
export async function mostBytes(): Promise<number | undefined> {
  if (most !== undefined) return most;
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const address = `${API_BASE}/sessions/${ANY_SESSION}/uploads`;
    const answer = await fetch(address, { method: "OPTIONS", signal });
    const limit = Number(answer.headers.get("tus-max-size"));
    most = Number.isInteger(limit) && limit > 0 ? limit : undefined;
  } catch {
    // Then the service says so when the file is announced.
  }
  return most;
}

interface NewSession {
  readonly title: string;
  readonly workspaceId: string;
  readonly language?: string | undefined;
  /** The same for the same wish, however often it is sent. */
  readonly key: string;
}

/** Makes the session of a file; returns its id. */
export async function makeSession(
  api: ApiClient,
  { title, workspaceId, language = "", key }: NewSession,
): Promise<string> {
  const body = { title, workspace_id: workspaceId, ...(language === "" ? {} : { language }) };
  const options = { idempotencyKey: key };
  const { id } = await api.call((client) => client.POST("/sessions", { body }), options);
  return id;
}

/** The recording ends with the file that has come. */
export async function stopSession(api: ApiClient, sessionId: string): Promise<void> {
  const params = { path: { session_id: sessionId } };
  await api.call((client) => client.POST("/sessions/{session_id}/stop", { params }));
}

/** How many bytes of an unfinished file the service has; undefined where it does not say. */
export async function storedBytes(api: ApiClient, address: string): Promise<number | undefined> {
  try {
    const params = { path: pathOf(address) };
    const path = "/sessions/{session_id}/uploads/{upload_id}";
    return (await api.call((client) => client.GET(path, { params }))).received;
  } catch {
    // Then what was last heard of it has to do.
    return undefined;
  }
}

/**
 * How a session does to which a file is brought: "open" while it takes sound, "come" once it has some
 * and ended, "over" where it ended without any. Rejects like any call.
 */
export async function uploadStatusOf(
  api: ApiClient,
  sessionId: string,
): Promise<"open" | "come" | "over"> {
  const session = await readSession(api, sessionId);
  if (session.status === "recording") return "open";
  return hasSound(session) ? "come" : "over";
}

type SessionFacts = Awaited<ReturnType<typeof readSession>>;

function readSession(api: ApiClient, sessionId: string) {
  const params = { path: { session_id: sessionId } };
  return api.call((client) => client.GET("/sessions/{session_id}", { params }));
}

function hasSound({ duration_ms: ms = 0, reading }: SessionFacts): boolean {
  return ms > 0 || (reading?.received_seconds ?? 0) > 0;
}

/** Gives an unfinished file up. False when all of it has come: then it is the session's. */
export async function giveUpUpload(api: ApiClient, address: string): Promise<boolean> {
  const params = { path: pathOf(address) };
  const path = "/sessions/{session_id}/uploads/{upload_id}";
  try {
    await api.call((client) => client.DELETE(path, { params }));
    return true;
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 404) return true;
    if (status === 409) return false;
    throw error;
  }
}

/** Deletes the session of a file that never came as a whole, unless something else is in it. */
export async function deleteEmptySession(api: ApiClient, sessionId: string): Promise<void> {
  const params = { path: { session_id: sessionId } };
  try {
    if (hasSound(await readSession(api, sessionId))) return;
    await api.call((client) => client.DELETE("/sessions/{session_id}", { params }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

/** What an upload's address names. */
function pathOf(address: string): { session_id: string; upload_id: string } {
  const [upload_id = "", , session_id = ""] = address.split("/").reverse();
  return { session_id, upload_id };
}
