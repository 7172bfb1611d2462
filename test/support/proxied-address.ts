import type { FaultProxy } from "./fault-proxy.ts";

const PORT = /:(\d+)(?=\/|$)/;

/** The same address with the proxy's port. */
export function throughProxy(url: string, proxy: Pick<FaultProxy, "port">): string {
  return url.replace(PORT, `:${proxy.port}`);
}

export function portOf(url: string): number {
  const port = Number(PORT.exec(url)?.[1]);
  if (!Number.isInteger(port)) throw new Error("The address names no port.");
  return port;
}
