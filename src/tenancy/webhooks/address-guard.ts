import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { withTimeout } from "../../base/deferred.ts";

/** Where registries give out public IPv6 addresses. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const LOOKUP_MS = 5_000;

/**
 * Ranges that are allowed by default. Cloud metadata, broadcast, multicast and others are never
 * allowed.
 */
const PUBLIC: readonly string[] = ["unicast"];
const WITH_PRIVATE: readonly string[] = [
  ...PUBLIC,
  "private",
  "loopback",
  "uniqueLocal",
  "carrierGradeNat",
];

/** Thrown for an endpoint to which nothing may be sent; the message is for its owner. */
export class EndpointRefused extends Error {}

interface AddressGuardOptions {
  /** Also allows private and loopback addresses, and plain HTTP. */
  allowPrivate: boolean;
  /** The system's resolver by default; tests may replace it. */
  resolve?: Resolve;
}

/**
 * Decides where webhooks may be sent to, so that URLs given by users cannot reach into the
 * operator's network. It resolves names and checks every address, and the connection goes to the
 * checked addresses: a name that resolves differently a moment later gains nothing.
 */
export class AddressGuard {
  readonly #allowPrivate: boolean;
  readonly #resolve: Resolve;

  constructor({ allowPrivate, resolve }: AddressGuardOptions) {
    this.#allowPrivate = allowPrivate;
    this.#resolve = resolve ?? ((hostname) => lookup(hostname, { all: true }));
  }

  /**
   * The reason why nothing may be sent to this URL, as a sentence; undefined when it is allowed.
   */
  async refusal(text: string): Promise<string | undefined> {
    try {
      await this.addresses(this.parse(text));
      return undefined;
    } catch (error) {
      if (error instanceof EndpointRefused) return error.message;
      if ((error as { code?: unknown }).code === "ENOTFOUND") {
        return "`url` names a host that does not exist.";
      }
      // A failed look-up says nothing about the URL; each delivery resolves the name again.
      return undefined;
    }
  }

  /** Parses a URL before any look-up. Throws `EndpointRefused` when it is not allowed. */
  parse(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined) throw new EndpointRefused("`url` is not a URL.");
    if (url.protocol !== "https:" && !(this.#allowPrivate && url.protocol === "http:")) {
      throw new EndpointRefused(
        this.#allowPrivate
          ? "`url` must begin with https:// or http://."
          : "`url` must begin with https://; for tests on your own machine start the service with WEBHOOK_ALLOW_PRIVATE=1.",
      );
    }
    if (url.username !== "" || url.password !== "") {
      throw new EndpointRefused("`url` must not hold a user name or a password.");
    }
    return url;
  }

  /**
   * The addresses that a connection may be made to. Throws `EndpointRefused` when any address of
   * the name is not allowed.
   */
  async addresses(url: URL): Promise<LookupAddress[]> {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const found = ipaddr.isValid(host)
      ? [{ address: host, family: host.includes(":") ? 6 : 4 }]
      : await withTimeout(this.#resolve(host), LOOKUP_MS, "The look-up");
    for (const { address } of found) this.#check(address);
    if (found.length === 0) throw new EndpointRefused("`url` names a host without an address.");
    return [...found];
  }

  #check(address: string): void {
    const allowed = this.#allowPrivate ? WITH_PRIVATE : PUBLIC;
    if (ipaddr.isValid(address) && allowed.includes(rangeOf(address))) return;
    throw new EndpointRefused(
      "`url` leads to an address that webhooks may not be sent to: it is private, local or reserved.",
    );
  }
}

/** The library calls every IPv6 range unicast that it does not know otherwise. */
function rangeOf(address: string): string {
  // `process` unwraps an IPv4 address in an IPv6 one.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  const isOutside = parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_IPV6);
  return range === "unicast" && isOutside ? "unassigned" : range;
}
