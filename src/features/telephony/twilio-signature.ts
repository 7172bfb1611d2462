import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../../base/errors.ts";

/** HMAC-SHA1 of the signed text: the full address, for a POST with its sorted parameters behind it. */
export function twilioSignature(token: string, text: string): Buffer {
  return createHmac("sha1", token).update(text, "utf8").digest();
}

/**
 * Checks that the request which opens a WebSocket at this address is Twilio's. Throws `forbidden`.
 *
 * @param token the auth token of the account
 * @param address as the call was told it, `wss://…`
 * @param given the header `X-Twilio-Signature`
 */
export function assertFromTwilio(token: string, address: string, given: string | undefined): void {
  const sent = Buffer.from(given ?? "", "base64");
  const isSigned = signedForms(address).some((form) => {
    const expected = twilioSignature(token, form);
    return sent.byteLength === expected.byteLength && timingSafeEqual(sent, expected);
  });
  if (isSigned) return;
  throw new AppError(
    "forbidden",
    "The header X-Twilio-Signature is not that of this address. The operator's PUBLIC_URL has to be the one that the call was told.",
  );
}

/** Calls are told `wss` only, and Twilio has signed the port of it and left it out. */
function signedForms(address: string): string[] {
  const secure = address.replace(/^ws:/, "wss:");
  const bare = secure.replace(/^(wss:\/\/[^/]*?):443(?=\/)/, "$1");
  const hasPort = /^wss:\/\/[^/]*:\d+\//.test(bare);
  return hasPort ? [bare] : [bare, bare.replace(/^(wss:\/\/[^/]*)/, "$1:443")];
}
