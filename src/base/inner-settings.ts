import type { SettingsReader } from "./settings.ts";

/**
 * Reads with what a process comes in at NATS. With a password it is the user of its role unless the
 * settings name another; without one it may be a token.
 */
export function readNatsLogin(
  reader: SettingsReader,
  role: "front" | "sessions" | "worker",
): { user: string; password: string | undefined; token: string | undefined } {
  const user = reader.get("NATS_USER") ?? role;
  // It becomes a part of a subject, where other signs have a meaning.
  if (!/^[\w-]+$/.test(user)) {
    reader.problems.push(`NATS_USER must be letters, digits, _ and -, not "${user}".`);
  }
  return { user, password: reader.get("NATS_PASSWORD"), token: reader.get("NATS_TOKEN") };
}

/**
 * Reads the files with which processes speak TLS to one another; undefined when none are set. One
 * file may hold both certificate and key.
 */
export function readInnerTls(
  reader: SettingsReader,
): { ca: string; cert: string; key: string } | undefined {
  const [ca, cert] = [reader.get("TLS_CA"), reader.get("TLS_CERT")];
  const key = reader.get("TLS_KEY") ?? cert;
  if (ca !== undefined && cert !== undefined && key !== undefined) return { ca, cert, key };
  if (ca !== undefined || cert !== undefined || key !== undefined) {
    reader.problems.push("TLS between processes needs both TLS_CA and TLS_CERT.");
  }
  return undefined;
}
