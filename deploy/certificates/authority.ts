import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { type Kind, kindUri } from "../../src/wire/certificate-kinds.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
/** Certificates count from a little before they are made: clocks of machines differ. */
const BEFORE_MS = 3_600_000;

/** The authority of one installation: its own certificate, and its key as PEM. */
export interface AuthorityPem {
  readonly certificate: string;
  readonly key: string;
}

export interface Wanted {
  /** What the process may pass for. */
  readonly kinds: readonly Kind[];
  /** For people: the name of the process. */
  readonly name: string;
  /** Names and addresses at which it is reached; this machine's loopback besides. */
  readonly hosts?: readonly string[];
  readonly lifeMs: number;
}

const LOOPBACK = ["127.0.0.1", "::1", "localhost"];

/** Makes an authority, which counts for ten years and signs nothing but the certificates below. */
export async function makeAuthority(): Promise<AuthorityPem> {
  const keys = await makeKeys();
  const now = Date.now();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=voice authority",
    notBefore: new Date(now - BEFORE_MS),
    notAfter: new Date(now + 3_650 * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await keyPem(keys.privateKey) };
}

/** A new key with a certificate of the authority, as one PEM text. */
export async function issueCertificate(authority: AuthorityPem, wanted: Wanted): Promise<string> {
  const { kinds, name, hosts = [], lifeMs } = wanted;
  const issuer = new X509Certificate(authority.certificate);
  const keys = await makeKeys();
  const now = Date.now();
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [name] }],
    issuer: issuer.subject,
    notBefore: new Date(now - BEFORE_MS),
    notAfter: new Date(now + lifeMs),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await readKey(authority.key),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      new SubjectAlternativeNameExtension([
        ...kinds.map((kind) => ({ type: "url", value: kindUri(kind) }) as const),
        ...[...LOOPBACK, ...hosts].map(
          (value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const,
        ),
      ]),
    ],
  });
  return `${await keyPem(keys.privateKey)}${certificate.toString("pem")}\n`;
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${bytes.replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
}

function readKey(pem: string): Promise<webcrypto.CryptoKey> {
  const bytes = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
  return webcrypto.subtle.importKey("pkcs8", bytes, ALGORITHM, false, ["sign"]);
}
