import { describe, expect, it } from "vitest";
import { socketAddress } from "../../../src/rest/socket-address.ts";

const path = "/api/devices/d1/stream";

describe("addresses of WebSockets", () => {
  it("come from the public URL, else from Host", () => {
    expect(socketAddress("https://voice.example.org/", { host: "evil" }, path)).toBe(
      `wss://voice.example.org${path}`,
    );
    expect(socketAddress("http://10.0.0.1:80", {}, path)).toBe(`ws://10.0.0.1:80${path}`);
    expect(socketAddress(undefined, { host: "localhost:8080" }, path)).toBe(
      `ws://localhost:8080${path}`,
    );
    expect(socketAddress(undefined, { host: "[::1]:8080" }, path)).toBe(`ws://[::1]:8080${path}`);
  });

  it("are those of TLS for a client that came over TLS to a proxy", () => {
    const told = { host: "voice.example.org", "x-forwarded-proto": "https" };
    expect(socketAddress(undefined, told, path)).toBe(
      "wss://voice.example.org/api/devices/d1/stream",
    );
  });

  it("do not repeat a Host that is none", () => {
    for (const host of [undefined, "", "a/b", "user@host", "x y", '"'] as const) {
      expect(socketAddress(undefined, { host }, path)).toBe("ws://localhost/api/devices/d1/stream");
    }
  });
});
