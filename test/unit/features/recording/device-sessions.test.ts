import { describe, expect, it } from "vitest";
import { streamUrl } from "../../../../src/features/recording/device-sessions.ts";

describe("device sessions", () => {
  it("device sessions: the stream's address comes from the public URL, else from Host", () => {
    const path = "/api/devices/d1/stream";
    expect(streamUrl("https://voice.example.org/", { host: "evil" }, "d1")).toBe(
      `wss://voice.example.org${path}`,
    );
    expect(streamUrl("http://10.0.0.1:80", {}, "d1")).toBe(`ws://10.0.0.1:80${path}`);
    expect(streamUrl(undefined, { host: "localhost:8080" }, "d1")).toBe(
      `ws://localhost:8080${path}`,
    );
    expect(streamUrl(undefined, { host: "[::1]:8080" }, "d1")).toBe(`ws://[::1]:8080${path}`);
  });

  it("device sessions: a client that came over TLS to a proxy streams over TLS", () => {
    const told = { host: "voice.example.org", "x-forwarded-proto": "https" };
    expect(streamUrl(undefined, told, "d1")).toBe("wss://voice.example.org/api/devices/d1/stream");
  });

  it("device sessions: a Host that is none is not repeated", () => {
    for (const host of [undefined, "", "a/b", "user@host", "x y", '"'] as const) {
      expect(streamUrl(undefined, { host }, "d1")).toBe("ws://localhost/api/devices/d1/stream");
    }
  });
});
