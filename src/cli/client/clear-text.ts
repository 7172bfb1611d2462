import { BlockList, isIP } from "node:net";
import { CommandFailure } from "./command-context.ts";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const ON: ReadonlySet<string> = new Set(["1", "true", "yes", "on"]);

/**
 * Throws when passwords and keys would go to another machine in clear, unless the person or
 * ALLOW_INSECURE allows it.
 */
export function refuseClearText(url: URL, insecure: boolean, env: NodeJS.ProcessEnv): void {
  if (url.protocol === "https:" || isThisMachine(url.hostname)) return;
  if (insecure || ON.has(env.ALLOW_INSECURE ?? "")) return;
  throw new CommandFailure(
    `${url.origin} is another machine without TLS: passwords, keys and words would go there in clear. Use its https:// address, or add --insecure (ALLOW_INSECURE=1 in scripts) where nobody else is on that network`,
  );
}

/** Judges as the service does at its start; names are not looked up. */
function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const version = isIP(host);
  if (version === 0) return host === "localhost" || host.endsWith(".localhost");
  return LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}
