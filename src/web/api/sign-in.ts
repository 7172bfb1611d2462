import { signal } from "@preact/signals";
import { ApiError } from "../../client/errors.ts";
import { account, aside, forgetAccount, renewWith, signedIn } from "./account.ts";
import { call, callNameless, callOnce } from "./client.ts";
import { forgetVisits, saveVisit, visitedSession } from "./guest-visits.ts";

/** Rises when a mailed invitation was opened, which the account's list then has. */
export const openedInvitations = signal(0);

interface LoginAnswer {
  readonly token: string;
  readonly user: { id: string; email: string; role: "admin" | "participant" | "moderator" };
}

/** Says that this browser has a cookie that signs in again, which scripts cannot see. */
const REMEMBERED = "voice.remembered";

renewWith(async (userId) => {
  const { token } = await callNameless((api) => api.GET("/auth/refresh-token"));
  const { id } = await whoHas(token);
  // Somebody else has signed in since, in another tab of this browser.
  if (id !== userId) throw new Error("The browser remembers somebody else by now.");
  return token;
});

function whoHas(token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return callNameless((api) => api.GET("/auth/me", { headers }));
}

function take({ token, user }: LoginAnswer, isRemembered = false): boolean {
  return signedIn({ kind: "user", token, isRemembered, ...user });
}

export async function signInWithPassword(
  email: string,
  password: string,
  remember: boolean,
): Promise<boolean> {
  const body = { email, password, remember_me: remember, refresh_cookie: true };
  const answer = await callNameless((api) => api.POST("/auth/login", { body }));
  keepRemembered(remember);
  return take(answer, remember);
}

/** True where somebody signed in who wanted to stay so, and did not sign out. */
export function isRemembered(): boolean {
  try {
    return localStorage.getItem(REMEMBERED) !== null;
  } catch {
    return false;
  }
}

function keepRemembered(isSo: boolean): void {
  try {
    if (isSo) localStorage.setItem(REMEMBERED, "yes");
    else localStorage.removeItem(REMEMBERED);
  } catch {
    // A browser that keeps nothing asks to sign in when the page is loaded again.
  }
}

/** Signs in whom the browser's cookie remembers. False when there is nobody, or no longer. */
export async function signInRemembered(): Promise<boolean> {
  try {
    const { token } = await callNameless((api) => api.GET("/auth/refresh-token"));
    await signInWithToken(token, true);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    keepRemembered(false);
    return false;
  }
}

/** Signs in by a mailed link, which must be of the account that it names. */
export async function signInWithLink(token: string, email: string): Promise<boolean> {
  const body = { token };
  const answer = await callNameless((api) => api.POST("/auth/validate-magic-link", { body }));
  if (answer.user.email !== email) {
    await endLogin(answer.token);
    throw new Error(`This link is not one of ${email}. Nobody was signed in by it.`);
  }
  aside.value = undefined;
  return take(answer);
}

/**
 * Opens a mailed invitation. True when it made the account, which is signed in by it; false when there
 * is one, which signs in as it always does.
 */
export async function openInvitation(token: string): Promise<boolean> {
  const { login } = await callOnce((api) => api.POST("/auth/open-invitation", { body: { token } }));
  openedInvitations.value += 1;
  if (login === undefined) return false;
  aside.value = undefined;
  take(login);
  return true;
}

/** Has a link mailed; returns what the service says to it. */
export async function requestLink(email: string): Promise<string> {
  const body = { email };
  const answer = await callNameless((api) => api.POST("/auth/request-magic-link", { body }));
  return answer.message;
}

/** Signs in with an access token, such as an identity provider's way back brought. */
export async function signInWithToken(token: string, isRemembered = false): Promise<boolean> {
  const me = await whoHas(token);
  if (me.role === "guest") {
    const { id, display_name: name, session_id: sessionId } = me;
    return signedIn({ kind: "guest", token, id, name, sessionId });
  }
  const { id, email, role } = me;
  return take({ token, user: { id, email, role } }, isRemembered);
}

/**
 * Joins one session by its id or a code; returns the session's id. Who has joined it in this browser
 * before is the same guest again.
 */
export async function joinAsGuest(session: string, name: string): Promise<string> {
  const before = await comeBackAsGuest(session);
  if (before !== undefined) return before;
  const body = { session_id: session, display_name: name, refresh_cookie: true };
  const entered = await callNameless((api) => api.POST("/auth/guest", { body }));
  saveVisit({ door: session, sessionId: entered.session_id });
  return takeGuest(entered);
}

/** The guest that this browser was; returns the session's id, undefined where it was none. */
export async function comeBackAsGuest(door: string): Promise<string | undefined> {
  const sessionId = visitedSession(door);
  if (sessionId === undefined) return undefined;
  const params = { query: { session_id: sessionId } };
  try {
    return takeGuest(await callNameless((api) => api.GET("/auth/guest", { params })));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    forgetVisits(sessionId);
    return undefined;
  }
}

interface EnteredGuest {
  readonly token: string;
  readonly guest: { id: string; display_name: string };
  readonly session_id: string;
}

function takeGuest({ token, guest, session_id: sessionId }: EnteredGuest): string {
  signedIn({ kind: "guest", token, id: guest.id, name: guest.display_name, sessionId });
  return sessionId;
}

/**
 * Joins one session by its id or a code while somebody is signed in; returns the session's id. Who
 * belongs to it goes on as themself; others become a guest, and the account is set aside meanwhile.
 */
export async function joinBeside(session: string, name: string): Promise<string> {
  const before = account.value;
  const body = { session_id: session, display_name: name };
  const headers = { authorization: `Bearer ${before?.token}` };
  const made = await callNameless((api) => api.POST("/auth/guest", { body, headers }));
  const { token, guest, session_id: sessionId } = made;
  if (before?.kind === "user") {
    if (await belongsTo(sessionId)) {
      await endLogin(token);
      return sessionId;
    }
    aside.value = before;
  }
  signedIn({ kind: "guest", token, id: guest.id, name: guest.display_name, sessionId });
  return sessionId;
}

async function belongsTo(sessionId: string): Promise<boolean> {
  try {
    const params = { path: { session_id: sessionId } };
    await call((api) => api.GET("/sessions/{session_id}", { params }));
    return true;
  } catch {
    // Then the guest's way is the one that is sure.
    return false;
  }
}

/** From being a guest back to the account that was set aside. */
export async function backToAccount(): Promise<void> {
  const guest = account.value;
  const user = aside.value;
  if (user === undefined) return;
  aside.value = undefined;
  signedIn(user);
  if (guest !== undefined) await endLogin(guest.token);
}

/** Ends the login at the service and forgets it here; also the one that was set aside. */
export async function signOut(): Promise<void> {
  const ending = [account.value, aside.value];
  aside.value = undefined;
  forgetAccount();
  keepRemembered(false);
  for (const each of ending) if (each?.kind === "guest") forgetVisits(each.sessionId);
  await Promise.all(ending.map((each) => each && endLogin(each.token)));
}

async function endLogin(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  // Goes on when the page is left: whoever signs out may close the tab in the same moment.
  const init = { headers, keepalive: true };
  await callNameless((api) => api.POST("/auth/logout", init)).catch(() => undefined);
}
