type Headers = Readonly<Record<string, string>>;

/**
 * A cookie that keeps a credential, so that a page goes on as the same person when it is loaded again
 * and no script can read it. Without a `Path` it goes to the addresses beside the one that set it,
 * `…/api/auth/`, whatever prefix a proxy puts before them, and to nothing else. It opens one thing, a
 * fresh access token, which only pages of this origin can read; other sites' requests do not carry
 * it. Over HTTPS its name begins with `__Secure-`: browsers set such a one over HTTPS alone.
 */
class SignInCookie {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** The `Set-Cookie` that keeps `value` for so long, milliseconds. */
  set(value: string, lifetime: number, isSecure: boolean): string {
    const seconds = Math.max(0, Math.floor(lifetime / 1_000));
    const flags = `Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
    return `${this.#nameFor(isSecure)}=${value}; ${flags}${isSecure ? "; Secure" : ""}`;
  }

  /** The `Set-Cookie` that takes it away. */
  end(isSecure: boolean): string {
    return this.set("", 0, isSecure);
  }

  /** Its value in a request's cookies. */
  in(headers: Headers, isSecure: boolean): string | undefined {
    const start = `${this.#nameFor(isSecure)}=`;
    const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) || undefined;
  }

  #nameFor(isSecure: boolean): string {
    return isSecure ? `__Secure-${this.#name}` : this.#name;
  }
}

/** Keeps the refresh token of a login. */
export const refreshCookie = new SignInCookie("voice-refresh");

/** Keeps what makes a browser the same guest of this session again; of each session another one. */
export function guestCookie(sessionId: string): SignInCookie {
  return new SignInCookie(`voice-guest-${sessionId}`);
}

/** True where cookies are for HTTPS alone: the service's own address says so. */
export function areCookiesSecure(publicUrl: string): boolean {
  return publicUrl.startsWith("https://");
}
