type Headers = Readonly<Record<string, string>>;

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Range",
  "X-API-Key",
  "X-Chunk-Sequence",
  "X-Request-Id",
].join(", ");

const EXPOSED_HEADERS = [
  "Accept-Ranges",
  "Allow",
  "Content-Disposition",
  "Content-Range",
  "ETag",
  "Idempotency-Replayed",
  "Location",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Retry-After",
  "X-API-Version",
  "X-Error-Code",
  "X-Request-Id",
].join(", ");

/** Which other origins browsers may call from; none unless configured. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((origin) => origin.toLowerCase()));
  }

  /** True when browsers of any other origin may call. */
  get any(): boolean {
    return this.#allowed.size > 0;
  }

  /** Headers for an answer to this origin; nothing for one that is not on the list. */
  headers(headers: Headers): Record<string, string> {
    if (this.#allowed.size === 0) return {};
    const origin = headers.origin;
    if (origin === undefined || !this.#allowed.has(origin.toLowerCase())) return { Vary: "Origin" };
    return {
      Vary: "Origin",
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": EXPOSED_HEADERS,
    };
  }

  /** More of them for the preflight of an allowed origin. */
  preflight(headers: Headers, allow: readonly string[]): Record<string, string> {
    const base = this.headers(headers);
    if (base["Access-Control-Allow-Origin"] === undefined) return base;
    return {
      ...base,
      "Access-Control-Allow-Methods": allow.join(", "),
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": "600",
    };
  }

  /** May a page of this origin open a live socket here? Programs send no Origin. */
  mayConnect(headers: Headers): boolean {
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined) return true;
    if (this.#allowed.has(origin)) return true;
    const host = headers.host?.toLowerCase();
    return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
  }
}
