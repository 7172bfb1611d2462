import type { PeerCertificate } from "node:tls";

/** What a process is, as its certificate says: who has that of a worker cannot pass for a main. */
export const KINDS = ["main", "worker", "nats"] as const;

export type Kind = (typeof KINDS)[number];

/** Whether a text names a kind. */
export function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}

/** The name of a kind in a certificate, a URI among its alternative names. */
export function kindUri(kind: Kind): string {
  return `urn:voice:${kind}`;
}

/** The kinds in the alternative names of a certificate, as Node prints them. */
export function kindsIn(subjectAltName: string | undefined): Kind[] {
  const names = (subjectAltName ?? "").split(", ");
  return KINDS.filter((kind) => names.includes(`URI:${kindUri(kind)}`));
}

/** Paths of PEM files: a certificate with its key, and the authority whose certificates count. */
export interface TlsFiles {
  cert: string;
  key: string;
  ca: string | undefined;
  /** How often they are looked at, milliseconds. */
  checkMs?: number;
}

/** Why a certificate is not that of a process of this kind. */
export function refusalOf({ subjectaltname }: PeerCertificate, kind: Kind): Error | undefined {
  if (kindsIn(subjectaltname).includes(kind)) return undefined;
  return new Error(`The certificate is not that of a process of the kind ${kind}.`);
}
