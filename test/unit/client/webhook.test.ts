import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { SignatureError } from "../../../src/client/errors.ts";
import { verifyWebhook } from "../../../src/client/webhook.ts";

const SECRET = `whsec_${btoa("a secret of the service's")}`;
const OTHER = `whsec_${btoa("another one")}`;
const AT = Date.parse("2026-01-15T09:30:00Z");
const BODY = JSON.stringify({ type: "session.completed", timestamp: "t", data: { seq: 4 } });

/** Signed with the package that the service signs with. */
function headersOf(secret = SECRET, body = BODY): Record<string, string> {
  return {
    "webhook-id": "m1",
    "webhook-timestamp": String(AT / 1_000),
    "webhook-signature": new Webhook(secret).sign("m1", new Date(AT), body),
  };
}

const verify = (
  headers: Record<string, string>,
  { body = BODY as string | Uint8Array, secret = SECRET as string | string[], now = AT } = {},
) => verifyWebhook(body, headers, secret, { now });

describe("webhook signatures", () => {
  it("webhook: a message of the service is taken, from whatever holds its headers and bytes", async () => {
    const message = await verify(headersOf());
    expect(message).toEqual({ ...JSON.parse(BODY), webhookId: "m1" });
    expect(message.type).toBe("session.completed");
    const bytes = new TextEncoder().encode(BODY);
    await expect(verify(headersOf(), { body: bytes })).resolves.toBeDefined();
    const headers = new Headers(headersOf());
    await expect(verifyWebhook(BODY, headers, SECRET, { now: AT })).resolves.toBeDefined();
  });

  it("webhook: while a secret is replaced, either end may have both", async () => {
    const both = headersOf();
    both["webhook-signature"] =
      `${headersOf(OTHER)["webhook-signature"]} ${both["webhook-signature"]}`;
    await expect(verify(both)).resolves.toBeDefined();
    await expect(verify(headersOf(), { secret: [OTHER, SECRET] })).resolves.toBeDefined();
  });

  it.each([
    ["another secret", headersOf(OTHER), {}],
    ["another body", headersOf(), { body: BODY.replace("4", "5") }],
    ["another id", { ...headersOf(), "webhook-id": "m2" }, {}],
    ["another moment", { ...headersOf(), "webhook-timestamp": String(AT / 1_000 + 1) }, {}],
    ["no moment", { ...headersOf(), "webhook-timestamp": "soon" }, {}],
    ["no signature", { ...headersOf(), "webhook-signature": "" }, {}],
    ["another version", { ...headersOf(), "webhook-signature": "v2,abcd" }, {}],
    ["what is no base64", { ...headersOf(), "webhook-signature": "v1,%%%" }, {}],
    ["a message that is too old", headersOf(), { now: AT + 301_000 }],
    ["a message of the future", headersOf(), { now: AT - 301_000 }],
    ["a secret that is none", headersOf(), { secret: "whsec_%" }],
  ])("webhook: %s is refused", async (_what, headers, options) => {
    await expect(verify(headers as Record<string, string>, options)).rejects.toThrow(
      SignatureError,
    );
  });

  it("webhook: a message is good until it is five minutes old", async () => {
    await expect(verify(headersOf(), { now: AT + 300_000 })).resolves.toBeDefined();
  });
});
