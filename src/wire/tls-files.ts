import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import {
  type ChannelCredentials,
  credentials,
  experimental,
  ServerCredentials,
} from "@grpc/grpc-js";
import { errorMessage } from "../base/errors.ts";
import { type Kind, refusalOf, type TlsFiles } from "./certificate-kinds.ts";

type Identity = Parameters<experimental.IdentityCertificateUpdateListener>[0];
type Authority = Parameters<experimental.CaCertificateUpdateListener>[0];

/** Files are looked at this often, milliseconds: who renews them does it long before their end. */
const POLL_MS = 10_000;

/**
 * Certificates from files, read again while they are used, so that renewed ones count for new
 * connections without a restart. What is half written or does not fit is left aside until it does.
 */
class TlsIdentity implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  readonly #everyMs: number;
  readonly #identityListeners = new Set<(update: Identity) => void>();
  readonly #authorityListeners = new Set<(update: Authority) => void>();
  #identity: NonNullable<Identity>;
  #authority: Authority;
  #timer: NodeJS.Timeout | undefined;

  /** Throws an error that names the file which cannot be read or does not fit. */
  constructor(files: TlsFiles) {
    this.#files = files;
    this.#everyMs = files.checkMs ?? POLL_MS;
    const { identity, authority } = this.#read();
    this.#identity = identity;
    this.#authority = authority;
  }

  addIdentityCertificateListener(listener: (update: Identity) => void): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => listener(this.#identity));
    this.#watch();
  }

  removeIdentityCertificateListener(listener: (update: Identity) => void): void {
    this.#identityListeners.delete(listener);
    this.#watch();
  }

  addCaCertificateListener(listener: (update: Authority) => void): void {
    this.#authorityListeners.add(listener);
    process.nextTick(() => listener(this.#authority));
    this.#watch();
  }

  removeCaCertificateListener(listener: (update: Authority) => void): void {
    this.#authorityListeners.delete(listener);
    this.#watch();
  }

  #watch(): void {
    const isUsed = this.#identityListeners.size + this.#authorityListeners.size > 0;
    if (!isUsed) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (isUsed && this.#timer === undefined) {
      this.#timer = setInterval(() => this.#look(), this.#everyMs);
      this.#timer.unref();
    }
  }

  #look(): void {
    let found: { identity: NonNullable<Identity>; authority: Authority };
    try {
      found = this.#read();
    } catch {
      // The old ones go on until the new ones are whole.
      return;
    }
    const { identity, authority } = found;
    if (!identity.certificate.equals(this.#identity.certificate)) {
      this.#identity = identity;
      for (const listener of this.#identityListeners) listener(identity);
    }
    if (authority !== null && !this.#authority?.caCertificate.equals(authority.caCertificate)) {
      this.#authority = authority;
      for (const listener of this.#authorityListeners) listener(authority);
    }
  }

  #read(): { identity: NonNullable<Identity>; authority: Authority } {
    const { cert, key, ca } = this.#files;
    const certificate = readPem(cert);
    // One file may hold both; then it is read once, so that they belong together.
    const privateKey = key === cert ? certificate : readPem(key);
    const authority = ca === undefined ? null : { caCertificate: readPem(ca) };
    try {
      createSecureContext({ cert: certificate, key: privateKey, ca: authority?.caCertificate });
    } catch (cause) {
      throw new Error(`The TLS files ${cert} and ${key} do not fit: ${errorMessage(cause)}`, {
        cause,
      });
    }
    return { identity: { certificate, privateKey }, authority };
  }
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Error(`The TLS file ${path} cannot be read: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Credentials of a server; clear text without files. With an authority clients have to show a
 * certificate of it.
 */
export function serverCredentials(files: TlsFiles | undefined): ServerCredentials {
  if (files === undefined) return ServerCredentials.createInsecure();
  const identity = new TlsIdentity(files);
  const authority = files.ca === undefined ? null : identity;
  // The first parameter is the identity, whatever the library's declaration calls it.
  return experimental.createCertificateProviderServerCredentials(
    identity,
    authority,
    authority !== null,
  );
}

/** Credentials of a client that talks to processes of one kind only; clear text without files. */
export function channelCredentials(files: TlsFiles | undefined, kind: Kind): ChannelCredentials {
  if (files === undefined) return credentials.createInsecure();
  const identity = new TlsIdentity(files);
  return experimental.createCertificateProviderChannelCredentials(identity, identity, {
    checkServerIdentity: (_host, certificate) => refusalOf(certificate, kind),
  });
}
