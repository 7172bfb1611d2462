import { isIP } from "node:net";

type Headers = Record<string, string>;

const PORT = /:\d{1,5}$/;

/**
 * Puts what the proxies in front of us wrote down in the place of what they hide: `host` and
 * `x-forwarded-proto` are then the client's. Without trusted proxies nothing of it is believed.
 *
 * @param hops proxies in a row that add to X-Forwarded-For; the nearest is the peer itself
 * @returns the client's address, when they tell one
 */
export function applyForwarded(headers: Headers, hops: number): string | undefined {
  const scheme = headers["x-forwarded-proto"];
  if (hops === 0) {
    if (scheme !== undefined) delete headers["x-forwarded-proto"];
    return undefined;
  }
  if (scheme !== undefined) headers["x-forwarded-proto"] = atHop(scheme, hops).toLowerCase();
  const host = headers["x-forwarded-host"];
  if (host !== undefined) headers.host = atHop(host, hops);
  const forwarded = headers["x-forwarded-for"];
  return forwarded === undefined ? undefined : addressIn(atHop(forwarded, hops));
}

/**
 * Each proxy adds at the right whom it heard, so what stands left of the outermost trusted one is
 * the client's own word. A shorter list passed fewer proxies: then the first.
 */
function atHop(list: string, hops: number): string {
  const parts = list.split(",");
  return (parts.at(-hops) ?? parts[0] ?? "").trim();
}

/** An IP address, of which some proxies tell the port too. */
function addressIn(text: string): string | undefined {
  if (isIP(text) > 0) return text;
  const host = text.replace(PORT, "").replace(/^\[(.*)\]$/, "$1");
  return isIP(host) > 0 ? host : undefined;
}
