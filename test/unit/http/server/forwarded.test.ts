import { describe, expect, it } from "vitest";
import { applyForwarded } from "../../../../src/http/server/request.ts";

const addressOf = (list: string, hops: number) => applyForwarded({ "x-forwarded-for": list }, hops);

describe("forwarded: who a request comes from", () => {
  it("believes nobody by default", () => {
    const headers = {
      host: "own",
      "x-forwarded-for": "1.1.1.1",
      "x-forwarded-host": "evil",
      "x-forwarded-proto": "https",
    };
    expect(applyForwarded(headers, 0)).toBeUndefined();
    expect(headers.host).toBe("own");
    expect(headers["x-forwarded-proto"]).toBeUndefined();
  });

  it("counts from the nearest proxy, so that what a client claims gains nothing", () => {
    expect(addressOf("6.6.6.6, 1.1.1.1", 1)).toBe("1.1.1.1");
    expect(addressOf("6.6.6.6, 1.1.1.1, 10.0.0.1", 2)).toBe("1.1.1.1");
    expect(addressOf("6.6.6.6,1.1.1.1 ,10.0.0.1,10.0.0.2", 3)).toBe("1.1.1.1");
    expect(addressOf("1.1.1.1", 3)).toBe("1.1.1.1");
    expect(applyForwarded({}, 2)).toBeUndefined();
  });

  it("reads addresses with ports and of both kinds, and leaves what is none", () => {
    expect(addressOf("1.1.1.1:4711", 1)).toBe("1.1.1.1");
    expect(addressOf("[2001:db8::1]:4711", 1)).toBe("2001:db8::1");
    expect(addressOf("2001:db8::1", 1)).toBe("2001:db8::1");
    for (const none of ["", "unknown", "_hidden", "1.1.1", "a, ", "1.1.1.1, "]) {
      expect(addressOf(none, 1), none).toBeUndefined();
    }
  });

  it("takes host and scheme of the same proxy", () => {
    const headers = {
      host: "upstream",
      "x-forwarded-host": "evil.example, voice.example",
      "x-forwarded-proto": "http, HTTPS",
    };
    applyForwarded(headers, 1);
    expect(headers.host).toBe("voice.example");
    expect(headers["x-forwarded-proto"]).toBe("https");
  });
});
