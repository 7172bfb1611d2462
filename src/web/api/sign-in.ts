import { account, aside, forgetAccount, renewWith, signedIn } from "./account.ts";
import { API_BASE, call, exchange } from "./client.ts";

interface LoginAnswer {
  readonly token: string;
  readonly refresh_token?: string;
  readonly user: { id: string; email: string; role: "admin" | "participant" | "moderator" };
}

renewWith(async (refreshToken) => {
  const headers = { authorization: `Bearer ${refreshToken}` };
  const answer = await exchange(new Request(`${API_BASE}/auth/refresh-token`, { headers }));
  const { token } = (await answer.json()) as { token: string };
  return token;
});

function take({ token, refresh_token: refreshToken, user }: LoginAnswer): boolean {
  return signedIn({ kind: "user", token, refreshToken, ...user });
}

export async function signInWithPassword(
  email: string,
  password: string,
  remember: boolean,
): Promise<boolean> {
  const body = { email, password, remember_me: remember };
  return take(await call((api) => api.POST("/auth/login", { body })));
}

export async function signInWithLink(token: string): Promise<boolean> {
  const body = { token };
  return take(await call((api) => api.POST("/auth/validate-magic-link", { body })));
}

/** Has a link mailed; returns what the service says to it. */
export async function requestLink(email: string): Promise<string> {
  const body = { email };
  const answer = await call((api) => api.POST("/auth/request-magic-link", { body }));
  return answer.message;
}

/** Signs in with the token that an identity provider's way back brought. */
export async function signInWithToken(token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const me = await call((api) => api.GET("/auth/me", { headers }));
  if (me.role === "guest") {
    const { id, display_name: name, session_id: sessionId } = me;
    return signedIn({ kind: "guest", token, id, name, sessionId });
  }
  return signedIn({ kind: "user", token, id: me.id, email: me.email, role: me.role });
}

/** Joins one session by its id or a code; returns the session's id. */
export async function joinAsGuest(session: string, name: string): Promise<string> {
  const body = { session_id: session, display_name: name };
  const {
    token,
    guest,
    session_id: sessionId,
  } = await call((api) => api.POST("/auth/guest", { body }));
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
  const made = await call((api) => api.POST("/auth/guest", { body, headers }));
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
  await Promise.all(ending.map((each) => each && endLogin(each.token)));
}

async function endLogin(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  await call((api) => api.POST("/auth/logout", { headers })).catch(() => undefined);
}
