import { account, aside } from "../api/account.ts";
import { API_BASE, ApiFailure, call, exchange } from "../api/client.ts";

const LIMIT_MS = 10_000;
/** Stands for any session: what the service takes is the same for all of them. */
const ANY_SESSION = "00000000-0000-0000-0000-000000000000";
const TUS = { "tus-resumable": "1.0.0" };

/**
 * The header of this account's calls, also while its person is a guest in this browser. Throws the
 * failure of a sign-in that is over.
 */
export function authorizationOf(accountId: string): string {
  const who = [account.value, aside.value].find((each) => each?.id === accountId);
  if (who === undefined) throw new ApiFailure(401, "", "You signed out.");
  return `Bearer ${who.token}`;
}

/** Where the files of a session go. */
export function uploadsOf(sessionId: string): string {
  return `${API_BASE}/sessions/${sessionId}/uploads`;
}

let most: number | undefined;

/** The largest file that the service takes, bytes; undefined where it does not say now. */
export async function mostBytes(): Promise<number | undefined> {
  if (most !== undefined) return most;
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const answer = await fetch(uploadsOf(ANY_SESSION), { method: "OPTIONS", signal });
    const told = Number(answer.headers.get("tus-max-size"));
    most = Number.isInteger(told) && told > 0 ? told : undefined;
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
  accountId: string,
  { title, workspaceId, language = "", key }: NewSession,
): Promise<string> {
  const headers = { authorization: authorizationOf(accountId), "idempotency-key": key };
  const body = { title, workspace_id: workspaceId, ...(language === "" ? {} : { language }) };
  const { id } = await call((api) => api.POST("/sessions", { headers, body }));
  return id;
}

/** The recording ends with the file that has come. */
export async function stopSession(accountId: string, sessionId: string): Promise<void> {
  const headers = { authorization: authorizationOf(accountId) };
  const params = { path: { session_id: sessionId } };
  await call((api) => api.POST("/sessions/{session_id}/stop", { params, headers }));
}

/** How many bytes of an unfinished file the service has; undefined where it does not say. */
export async function storedBytes(accountId: string, address: string): Promise<number | undefined> {
  try {
    const headers = { authorization: authorizationOf(accountId), ...TUS };
    const answer = await exchange(new Request(address, { method: "HEAD", headers }));
    const told = Number(answer.headers.get("upload-offset") ?? Number.NaN);
    return Number.isInteger(told) ? told : undefined;
  } catch {
    // Then what was last heard of it has to do.
    return undefined;
  }
}

/**
 * How a session does to which a file is brought: "open" while it takes sound, "come" once it has some
 * and ended, "over" where it ended without any. Rejects like any call.
 */
export async function standingOf(
  accountId: string,
  sessionId: string,
): Promise<"open" | "come" | "over"> {
  const { status, duration_ms: ms = 0, reading } = await readSession(accountId, sessionId);
  if (status === "recording") return "open";
  return ms > 0 || (reading?.received_seconds ?? 0) > 0 ? "come" : "over";
}

function readSession(accountId: string, sessionId: string) {
  const headers = { authorization: authorizationOf(accountId) };
  const params = { path: { session_id: sessionId } };
  return call((api) => api.GET("/sessions/{session_id}", { params, headers }));
}

/** Gives an unfinished file up. False when all of it has come: then it is the session's. */
export async function giveUpUpload(accountId: string, address: string): Promise<boolean> {
  const headers = { authorization: authorizationOf(accountId), ...TUS };
  try {
    await exchange(new Request(address, { method: "DELETE", headers }));
    return true;
  } catch (error) {
    const status = error instanceof ApiFailure ? error.status : 0;
    if (status === 404) return true;
    if (status === 409) return false;
    throw error;
  }
}

/** Deletes the session of a file that never came as a whole, unless something else is in it. */
export async function deleteEmptySession(accountId: string, sessionId: string): Promise<void> {
  const headers = { authorization: authorizationOf(accountId) };
  const params = { path: { session_id: sessionId } };
  try {
    const session = await readSession(accountId, sessionId);
    if ((session.duration_ms ?? 0) > 0 || (session.reading?.received_seconds ?? 0) > 0) return;
    await call((api) => api.DELETE("/sessions/{session_id}", { params, headers }));
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 404) throw error;
  }
}
