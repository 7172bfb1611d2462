import { OAUTH_LIFETIME } from "../auth/oauth-sign-in.ts";

/** A browser keeps a `__Host-` cookie for this very host only, and only over HTTPS. */
function cookieName(secure: boolean): string {
  return secure ? "__Host-voice-oauth" : "voice-oauth";
}

/** The `Set-Cookie` that binds a sign-in at a provider to this browser. */
export function browserCookie(secret: string, secure: boolean): string {
  const flags = `Path=/; Max-Age=${OAUTH_LIFETIME / 1000}; HttpOnly; SameSite=Lax`;
  return `${cookieName(secure)}=${secret}; ${flags}${secure ? "; Secure" : ""}`;
}

/** The secret that the browser sent back. */
export function browserSecretOf(
  headers: Readonly<Record<string, string>>,
  secure: boolean,
): string | undefined {
  const start = `${cookieName(secure)}=`;
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}
