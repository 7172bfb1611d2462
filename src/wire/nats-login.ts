import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { kindsIn, refusalOf, type TlsFiles } from "./certificate-kinds.ts";
import { inboxPrefix } from "./subjects.ts";

/** With what a process comes in at NATS: a user of its own, or one token for all. */
export interface NatsLogin {
  user?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
  /** Files of the process for TLS; read anew for each connection. */
  tls?: TlsFiles | undefined;
}

/**
 * The servers (addresses, comma-separated) and the login as options of the client, with an inbox
 * that only this user may read.
 */
export function loginOptions(urls: string, { user, password, token, tls }: NatsLogin) {
  const servers = urls.split(",").map((each) => each.trim());
  return { servers, ...credentialsOf({ user, password, token }), ...tlsOf(servers, tls) };
}

function credentialsOf({ user, password, token }: NatsLogin) {
  if (user !== undefined && password !== undefined) {
    return { user, pass: password, inboxPrefix: inboxPrefix(user) };
  }
  return token === undefined ? {} : { token };
}

/** TLS with our own certificates, or as an address asks for it; else as the server likes. */
function tlsOf(servers: readonly string[], tls: TlsFiles | undefined) {
  if (tls !== undefined) return { tls: tlsOptions(tls) };
  return servers.some((server) => server.startsWith("tls:")) ? { tls: {} } : {};
}

/** With these the client sends nothing before the server's certificate was checked. */
function tlsOptions({ cert: certFile, key: keyFile, ca: caFile }: TlsFiles) {
  return { certFile, keyFile, ...(caFile && { caFile }), checkServerIdentity: checkServer };
}

/** A certificate that names a kind must name `nats`, one that names none the server's host. */
function checkServer(host: string, certificate: PeerCertificate): Error | undefined {
  return kindsIn(certificate.subjectaltname).length > 0
    ? refusalOf(certificate, "nats")
    : checkServerIdentity(host, certificate);
}
