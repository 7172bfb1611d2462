import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface CertificateFiles {
  cert: string;
  key: string;
}

export interface TestCertificates {
  /** PEM files. */
  ca: string;
  server: CertificateFiles;
  client: CertificateFiles;
}

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const OCTETS = 0x04;
/** ecdsa-with-SHA256, commonName, basicConstraints, subjectAltName. */
const SIGNATURE = der(SEQUENCE, oid("2a8648ce3d040302"));
const COMMON_NAME = oid("550403");
const BASIC_CONSTRAINTS = oid("551d13");
const ALTERNATIVE_NAME = oid("551d11");
const LOCALHOST = Buffer.from([127, 0, 0, 1]);

/** An authority with a server's certificate for 127.0.0.1 and a client's, as RFC 5280 has them. */
export function makeCertificates(folder: string): TestCertificates {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = { name: "ca", key: authority.privateKey };
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, certificate("ca", authority.publicKey, signer, constraints(true)));
  const issue = (name: string): CertificateFiles => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
    const extensions = Buffer.concat([constraints(false), address()]);
    writeFileSync(files.cert, certificate(name, publicKey, signer, extensions));
    writeFileSync(files.key, privateKey.export({ type: "pkcs8", format: "pem" }));
    return files;
  };
  return { ca, server: issue("server"), client: issue("client") };
}

function certificate(
  subject: string,
  publicKey: KeyObject,
  signer: { name: string; key: KeyObject },
  extensions: Buffer,
): string {
  const signed = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    SIGNATURE,
    named(signer.name),
    der(SEQUENCE, utcTime(Date.now() - DAY_MS), utcTime(Date.now() + DAY_MS)),
    named(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(SEQUENCE, extensions)),
  );
  const signature = sign("sha256", signed, signer.key);
  const bits = der(0x03, Buffer.from([0]), signature);
  const base64 = der(SEQUENCE, signed, SIGNATURE, bits).toString("base64");
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function constraints(isAuthority: boolean): Buffer {
  const flag = isAuthority ? der(0x01, Buffer.from([0xff])) : Buffer.alloc(0);
  return der(SEQUENCE, BASIC_CONSTRAINTS, der(OCTETS, der(SEQUENCE, flag)));
}

function address(): Buffer {
  return der(SEQUENCE, ALTERNATIVE_NAME, der(OCTETS, der(SEQUENCE, der(0x87, LOCALHOST))));
}

function named(name: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(name)))));
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

/** One element: tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}
