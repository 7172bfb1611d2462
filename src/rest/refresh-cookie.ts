const NAMES = { plain: "voice-refresh", secure: "__Secure-voice-refresh" };

/**
 * The `Set-Cookie` that keeps a refresh token for as long as the login lives, milliseconds, so that a page stays
 * signed in when it is loaded again and no script can read it. Without a `Path` it goes to the
 * addresses beside the one that set it, `…/api/auth/`, whatever prefix a proxy puts before them, and
 * to nothing else. It opens one thing, a fresh access token, which only pages of this origin can
 * read; other sites' requests do not carry it.
 */
export function refreshCookie(token: string, lifetime: number, isSecure: boolean): string {
  return cookie(token, lifetime / 1_000, isSecure);
}

/** The `Set-Cookie` that takes it away. */
export function noRefreshCookie(isSecure: boolean): string {
  return cookie("", 0, isSecure);
}

function cookie(value: string, seconds: number, isSecure: boolean): string {
  const flags = `Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
  const name = isSecure ? NAMES.secure : NAMES.plain;
  return `${name}=${value}; ${flags}${isSecure ? "; Secure" : ""}`;
}

/** The refresh token in a request's cookies; browsers set a `__Secure-` one over HTTPS alone. */
export function refreshTokenIn(
  headers: Readonly<Record<string, string>>,
  isSecure: boolean,
): string | undefined {
  const start = `${isSecure ? NAMES.secure : NAMES.plain}=`;
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) || undefined;
}
