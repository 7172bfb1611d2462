import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Credentials } from "../../../../src/cli/client/credentials.ts";
import { parseDuration, parseShare, parseSpeed } from "../../../../src/cli/client/flags.ts";
import { baseUrlOf, DEFAULT_BASE_URL } from "../../../../src/cli/client/user-session.ts";
import { retryAfterMs } from "../../../../src/client/api-client.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("cli connection: address", () => {
  it.each([
    ["http://host:1/api", "http://host:1/api"],
    ["http://host:1/api/", "http://host:1/api"],
    ["http://host:1", "http://host:1/api"],
    ["host:1", "http://host:1/api"],
    ["https://host/sub/api", "https://host/sub/api"],
  ])("takes %s as %s", (given, expected) => {
    const options = { baseUrl: given, insecure: true };
    expect(baseUrlOf(options, { XDG_CONFIG_HOME: folder })).toBe(expected);
  });

  it("prefers the flag, then the environment, then the last login, then the default", () => {
    const env = { XDG_CONFIG_HOME: folder };
    expect(baseUrlOf({}, env)).toBe(DEFAULT_BASE_URL);
    new Credentials(env).save("https://stored/api", { email: "e", token: "t" });
    expect(baseUrlOf({}, env)).toBe("https://stored/api");
    expect(baseUrlOf({}, { ...env, VOICE_BASE_URL: "https://env" })).toBe("https://env/api");
    expect(baseUrlOf({ baseUrl: "https://flag" }, { ...env, VOICE_BASE_URL: "https://env" })).toBe(
      "https://flag/api",
    );
  });

  it("refuses what is no address", () => {
    expect(() => baseUrlOf({ baseUrl: "ftp://x" }, {})).toThrow(/not an address/);
  });
});

describe("cli connection: what would go in clear", () => {
  const take = (given: string, env: NodeJS.ProcessEnv = {}, insecure?: true) =>
    baseUrlOf(
      { baseUrl: given, ...(insecure && { insecure }) },
      { XDG_CONFIG_HOME: folder, ...env },
    );

  it.each([
    "http://voice.example.org",
    "http://10.0.0.2:8080",
    "voice.example.org",
    "http://localhost.example.org",
    "http://127.0.0.1.example.org",
    "http://[2001:db8::1]",
    "http://0.0.0.0:8080",
  ])("is refused: %s", (given) => {
    const refusal = /in clear.*https:\/\/.*--insecure.*ALLOW_INSECURE=1/;
    expect(() => take(given)).toThrow(refusal);
    expect(() => take("https://x", {})).not.toThrow();
    expect(() => take(given, { ALLOW_INSECURE: "0" })).toThrow(refusal);
    expect(take(given, {}, true)).toMatch(/^http:/);
    expect(take(given, { ALLOW_INSECURE: "1" })).toMatch(/^http:/);
    expect(take(given, { ALLOW_INSECURE: "yes" })).toMatch(/^http:/);
  });

  it("is refused for an address from the environment and from an earlier login, too", () => {
    const env = { XDG_CONFIG_HOME: folder };
    expect(() => baseUrlOf({}, { ...env, VOICE_BASE_URL: "http://env" })).toThrow(/in clear/);
    new Credentials(env).save("http://stored/api", { email: "e", token: "t" });
    expect(() => baseUrlOf({}, env)).toThrow(/http:\/\/stored.*in clear/);
  });

  it.each([
    "http://127.0.0.1:8080",
    "http://127.8.9.10",
    "http://localhost:1",
    "http://voice.localhost",
    "http://[::1]:8080",
    "https://voice.example.org",
  ])("is not %s", (given) => {
    expect(take(given)).toMatch(/\/api$/);
  });
});

describe("cli credentials: file", () => {
  it("can be read by its owner only, and keeps the logins of several services", () => {
    const credentials = new Credentials({ XDG_CONFIG_HOME: folder });
    credentials.save("http://a/api", { email: "a", token: "1" });
    credentials.save("http://b/api", { email: "b", token: "2", refresh_token: "3" });
    expect(statSync(credentials.file).mode & 0o777).toBe(0o600);
    expect(credentials.find("http://a/api")).toEqual({ email: "a", token: "1" });
    expect(credentials.find("http://c/api")).toBeUndefined();
    expect(credentials.currentBaseUrl).toBe("http://b/api");
  });

  it("says which file is damaged", () => {
    const credentials = new Credentials({ XDG_CONFIG_HOME: folder });
    credentials.save("http://a/api", { email: "a", token: "1" });
    writeFileSync(credentials.file, "{");
    expect(() => credentials.find("http://a/api")).toThrow(credentials.file);
  });
});

describe("cli flags: values", () => {
  it("reads lengths, speeds and shares", () => {
    expect(["2s", "500ms", "1.5"].map(parseDuration)).toEqual([2, 0.5, 1.5]);
    expect(["1", "2.5", "max"].map(parseSpeed)).toEqual([1, 2.5, Number.POSITIVE_INFINITY]);
    expect(["0", "2%", "0.25"].map(parseShare)).toEqual([0, 0.02, 0.25]);
  });

  it("refuses what makes no sense", () => {
    for (const text of ["0", "-1s", "2m", "", "1e9"]) expect(() => parseDuration(text)).toThrow();
    for (const text of ["0", "-1", "", "fast"]) expect(() => parseSpeed(text)).toThrow();
    for (const text of ["1", "95%", "-1", ""]) expect(() => parseShare(text)).toThrow();
  });

  it("reads Retry-After in seconds and as a date", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(retryAfterMs("3", now)).toBe(3_000);
    expect(retryAfterMs("Thu, 01 Jan 2026 00:00:05 GMT", now)).toBe(5_000);
    expect(retryAfterMs("Thu, 01 Jan 2025 00:00:05 GMT", now)).toBe(0);
    expect([null, "", "soon"].map((text) => retryAfterMs(text, now))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
