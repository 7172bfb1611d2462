import ipaddr from "ipaddr.js";

/**
 * What callers without a name are counted by. A household or a server has a whole /64 of IPv6
 * addresses, so these count as one; a site may have a /48, which has a looser limit.
 */
export interface Network {
  /** An IPv4 address, also one that is written as IPv6, or the /64 of an IPv6 address. */
  readonly network: string;
  /** The /48 of an IPv6 address; undefined for IPv4. */
  readonly site: string | undefined;
}

/** How many times the limit of a network a site has. */
export const SITE_FACTOR = 8;

const KEPT = 10_000;
const known = new Map<string, Network>();

/** The network of an address as text; a text that is no address stands for itself. */
export function networkOf(address: string): Network {
  if (!address.includes(":")) return { network: address, site: undefined };
  const before = known.get(address);
  if (before !== undefined) return before;
  const network = networkOfIpv6(address);
  if (known.size >= KEPT) known.clear();
  known.set(address, network);
  return network;
}

function networkOfIpv6(address: string): Network {
  if (!ipaddr.isValid(address)) return { network: address, site: undefined };
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return { network: parsed.toString(), site: undefined };
  const [a = 0, b = 0, c = 0, d = 0] = parsed.parts;
  const site = [a, b, c].map((part) => part.toString(16)).join(":");
  return { network: `${site}:${d.toString(16)}::/64`, site: `${site}::/48` };
}
