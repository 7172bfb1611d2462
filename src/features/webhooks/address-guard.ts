import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { withTimeout } from "../../base/deferred.ts";

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const LOOKUP_MS = 5_000;

/** Never: cloud metadata, broadcast, multicast and the rest stay closed whatever is configured. */
const PUBLIC: readonly string[] = ["unicast"];
const WITH_PRIVATE: readonly string[] = [
  ...PUBLIC,
  "private",
  "loopback",
  "uniqueLocal",
  "carrierGradeNat",
];

/** An endpoint that nothing may be sent to; the message is for its owner. */
export class EndpointRefused extends Error {}

interface AddressGuardOptions {
  /** Also private and loopback addresses, and plain http. */
  allowPrivate: boolean;
  /** The system's resolver unless a test brings its own. */
  resolve?: Resolve;
}

/**
 * Keeps what users name from reaching into the operator's network. Names are
 * resolved here, every address they have is checked, and the connection goes to
 * the addresses that were checked: a name that answers otherwise a moment later
 * gains nothing.
 *
 * Where webhooks may be sent to.
 */
export class AddressGuard {
  readonly #allowPrivate: boolean;
  readonly #resolve: Resolve;

  constructor({ allowPrivate, resolve }: AddressGuardOptions) {
    this.#allowPrivate = allowPrivate;
    this.#resolve = resolve ?? ((hostname) => lookup(hostname, { all: true }));
  }

  /** Why not to this URL, as a sentence; undefined when it may be. */
  async refusal(text: string): Promise<string | undefined> {
    try {
      await this.addresses(this.parse(text));
      return undefined;
    } catch (error) {
      if (error instanceof EndpointRefused) return error.message;
      if ((error as { code?: unknown }).code === "ENOTFOUND") {
        return "`url` names a host that does not exist.";
      }
      // A resolver that does not answer just now says nothing about the URL; each delivery asks again.
      return undefined;
    }
  }

  /** Throws `EndpointRefused` for what is no URL to send to, before any look-up. */
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

  /** The addresses that a connection may be made to; one that is refused refuses the whole name. */
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
    // `process` unwraps an IPv4 address in an IPv6 one.
    if (ipaddr.isValid(address) && allowed.includes(ipaddr.process(address).range())) return;
    throw new EndpointRefused(
      "`url` leads to an address that webhooks may not be sent to: it is private, local or reserved.",
    );
  }
}
