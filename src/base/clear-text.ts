import { BlockList, isIP } from "node:net";
import { databaseHosts } from "./database-address.ts";
import type { SettingsReader } from "./settings.ts";

/** A way on which passwords, words or audio leave or enter a process. */
export type Way = "web" | "grpc" | "worker" | "nats" | "database" | "audio";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const WAYS_OUT =
  "or set ALLOW_INSECURE=1 (npm run up -- --insecure) where nobody else is on that network";

/** Whether only this machine reaches the host, by its name or address. */
export function isThisMachine(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  const version = isIP(bare);
  if (version === 0) return bare === "localhost" || bare.endsWith(".localhost");
  return LOOPBACK.check(bare, version === 6 ? "ipv6" : "ipv4");
}

/**
 * What would cross a network in clear on these ways: a sentence each that says what, where, and the
 * two ways out. Empty when ALLOW_INSECURE is on.
 */
export function clearTextProblems(reader: SettingsReader, ways: readonly Way[]): string[] {
  if (reader.get("ALLOW_INSECURE")) return [];
  return ways.flatMap((way) => JUDGES[way](reader)).map((told) => `${told}, ${WAYS_OUT}.`);
}

/**
 * Whether mail leaves under TLS only: a server on another machine has to offer STARTTLS, unless
 * ALLOW_INSECURE is on.
 */
export function mailNeedsTls(reader: SettingsReader): boolean {
  if (reader.get("ALLOW_INSECURE")) return false;
  const url = reader.get("SMTP_URL") ?? "";
  return elsewhere([url], ({ protocol }) => protocol === "smtps:").length > 0;
}

const JUDGES: Readonly<Record<Way, (reader: SettingsReader) => string[]>> = {
  web(reader) {
    const host = reader.get("HOST");
    const isBehindTls =
      reader.get("TRUST_PROXY") > 0 ||
      URL.parse(reader.get("PUBLIC_URL") ?? "")?.protocol === "https:";
    if (isThisMachine(host) || isBehindTls) return [];
    return [
      `HOST is ${host}, so passwords, words and audio would go to other machines in clear: put a proxy with TLS before it and tell of it (PUBLIC_URL=https://…, TRUST_PROXY=1)`,
    ];
  },
  grpc(reader) {
    const host = reader.get("RPC_HOST");
    if (isThisMachine(host) || reader.has("RPC_TLS_CERT")) return [];
    return [
      `RPC_HOST is ${host}, so keys of services, words and audio would go to other machines in clear: give it a certificate (RPC_TLS_CERT, RPC_TLS_KEY)`,
    ];
  },
  worker(reader) {
    const host = reader.get("WORKER_HOST");
    if (isThisMachine(host) || reader.has("TLS_CERT")) return [];
    return [
      `WORKER_HOST is ${host}, so words and audio would go to other machines in clear: give the worker a certificate (TLS_CA, TLS_CERT; npm run certificates makes them)`,
    ];
  },
  nats(reader) {
    // With certificates of our own nothing is sent to a server without one.
    if (reader.has("TLS_CERT")) return [];
    const addresses = (reader.get("NATS_URL") ?? "").split(",").map((each) => each.trim());
    return elsewhere(addresses, ({ protocol }) => protocol === "tls:").map(
      (host) =>
        `NATS_URL leads to ${host}, to where its password and words would go in clear: let it speak TLS (tls://${host}, or certificates of our own: TLS_CA, TLS_CERT)`,
    );
  },
  audio(reader) {
    const address = reader.get("AUDIO_S3_ENDPOINT") ?? "";
    return elsewhere([address], ({ protocol }) => protocol === "https:").map(
      (host) =>
        `AUDIO_S3_ENDPOINT leads to ${host}, to where all audio would go in clear: let it speak TLS (https://${host})`,
    );
  },
  database(reader) {
    return (["DATABASE_URL", "DATABASE_OWNER_URL"] as const).flatMap((name) =>
      elsewhere(databaseHosts(reader.get(name) ?? ""), hasTls).map(
        (host) =>
          `${name} leads to ${host}, to where its password and all words would go in clear: let it speak TLS (?sslmode=require at the end of the address)`,
      ),
    );
  },
};

/**
 * Why words and audio would go to a worker at `host:port` in clear, told in half a sentence;
 * undefined when they would not, or may.
 */
export function workerInClear(
  address: string,
  { tls, allowInsecure }: { tls: object | undefined; allowInsecure: boolean },
): string | undefined {
  const host = address.slice(0, address.lastIndexOf(":"));
  if (tls !== undefined || allowInsecure || isThisMachine(host)) return undefined;
  return `is on another machine, to where words and audio would go in clear, so it gets none: give all processes certificates (TLS_CA, TLS_CERT; npm run certificates makes them), ${WAYS_OUT}`;
}

function hasTls({ searchParams }: URL): boolean {
  return ["require", "no-verify"].includes(searchParams.get("sslmode") ?? "");
}

/** Hosts on other machines, each once, but for those whose address is right. */
function elsewhere(addresses: readonly string[], isRight: (address: URL) => boolean): string[] {
  const hosts = addresses.flatMap((text) => {
    const address = URL.parse(text.includes("://") ? text : `nats://${text}`);
    if (address === null || address.hostname === "" || isRight(address)) return [];
    // A path in place of a host is a socket of this machine.
    const host = decodeURIComponent(address.hostname);
    return isThisMachine(host) || host.startsWith("/") ? [] : [host];
  });
  return [...new Set(hosts)];
}
