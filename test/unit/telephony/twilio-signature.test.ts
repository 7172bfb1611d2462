import { describe, expect, it } from "vitest";
import { assertFromTwilio, twilioSignature } from "../../../src/telephony/twilio-messages.ts";

const TOKEN = "12345";
const ADDRESS = "wss://voice.example.org/api/compat/twilio/stream";
/** `printf %s ADDRESS | openssl dgst -sha1 -hmac 12345 -binary | base64`, also with the port. */
const SIGNATURE = "BFCHw+60Pmrw1eB+kUZSYt9DQqA=";
const WITH_PORT = "dg18tVLXAmMZs83KReqaAR9f2AY=";

describe("Twilio's signatures", () => {
  it("are those of the example that Twilio publishes", () => {
    const url = "https://mycompany.com/myapp.php?foo=1&bar=2";
    const sorted =
      "CallSidCA1234567890ABCDECaller+14158675309Digits1234From+14158675309To+18005551212";
    const signature = twilioSignature(TOKEN, url + sorted).toString("base64");
    expect(signature).toBe("RSOYDt4T1cUTdK1PDd93/VVr8B8=");
  });

  it("open the address that they are of, with and without its port", () => {
    for (const signature of [SIGNATURE, WITH_PORT]) {
      expect(() => assertFromTwilio(TOKEN, ADDRESS, signature)).not.toThrow();
    }
    const told = ADDRESS.replace(".org/", ".org:443/");
    expect(() => assertFromTwilio(TOKEN, told, SIGNATURE)).not.toThrow();
  });

  it("are of wss, as Twilio streams to nothing else, where a proxy did not tell its TLS", () => {
    const plain = ADDRESS.replace("wss:", "ws:");
    expect(() => assertFromTwilio(TOKEN, plain, SIGNATURE)).not.toThrow();
  });

  it("open nothing else", () => {
    const isRefused = (token: string, address: string, given: string | undefined) =>
      expect(() => assertFromTwilio(token, address, given)).toThrow("X-Twilio-Signature");
    isRefused(TOKEN, ADDRESS, undefined);
    isRefused(TOKEN, ADDRESS, "");
    isRefused(TOKEN, ADDRESS, "RSOYDt4T1cUTdK1PDd93/VVr8B8=");
    isRefused(TOKEN, ADDRESS, SIGNATURE.slice(0, 8));
    isRefused(TOKEN, ADDRESS, "no base64 at all, and much longer than it may be");
    isRefused("12346", ADDRESS, SIGNATURE);
    isRefused(TOKEN, ADDRESS.replace("stream", "streams"), SIGNATURE);
    isRefused(TOKEN, ADDRESS.replace(".org/", ".org:8443/"), SIGNATURE);
  });
});
