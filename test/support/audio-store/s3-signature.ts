import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const ACCESS_KEY = "AKIATEST";
export const SECRET_KEY = "secret-of-the-test";

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

const hmac = (key: string | Buffer, text: string) =>
  createHmac("sha256", key).update(text).digest();
const hex = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Whether a request is signed with our secret as Signature Version 4 has it, over this body. What was
 * changed on the way, or signed with another secret, is not.
 */
export function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const found = AUTHORIZATION.exec(request.headers.authorization ?? "");
  if (found === null) return false;
  const [, key = "", day = "", region = "", names = "", signature = ""] = found;
  if (key !== ACCESS_KEY) return false;
  const claimed = String(request.headers["x-amz-content-sha256"]);
  if (claimed !== "UNSIGNED-PAYLOAD" && claimed !== hex(body)) return false;
  const url = new URL(request.url ?? "/", "http://server");
  const query = [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort();
  const headers = names.split(";");
  const canonical = [
    request.method,
    url.pathname,
    query.join("&"),
    ...headers.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    "",
    names,
    claimed,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, hex(canonical)];
  const keys = [day, region, "s3", "aws4_request"];
  const own = keys.reduce<string | Buffer>((last, each) => hmac(last, each), `AWS4${SECRET_KEY}`);
  const right = hmac(own, text.join("\n"));
  const given = Buffer.from(signature, "hex");
  return given.length === right.length && timingSafeEqual(given, right);
}
