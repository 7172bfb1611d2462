import { describe, expect, it } from "vitest";
import { type Log, silentLog } from "../../src/base/log.ts";
import { start, stopAfterEach } from "../support/front-calls.ts";

stopAfterEach();

const OWN = "https://app.example";

/** Keeps what is warned of. */
class WarningLog implements Log {
  readonly warnings: { origin?: string; message: string }[] = [];
  debug = silentLog.debug;
  info = silentLog.info;
  error = silentLog.error;

  warn(fields: object, message: string): void {
    this.warnings.push({ ...fields, message });
  }

  child(): Log {
    return this;
  }
}

describe("front origins: preflights", () => {
  async function ask(url: string, origin: string, method = "OPTIONS"): Promise<Response> {
    const headers = { origin, "access-control-request-method": "POST" };
    return fetch(`${url}/things`, { method, headers });
  }

  it("of another origin get a bare 204, and the log says once what to do", async () => {
    const log = new WarningLog();
    for (const allowedOrigins of [[], [OWN]]) {
      const { url, front } = await start({ allowedOrigins, log });
      for (const origin of ["https://evil.example", "https://evil.example", "null"]) {
        const answer = await ask(url, origin);
        expect([answer.status, answer.headers.get("allow")]).toEqual([
          204,
          "GET, HEAD, OPTIONS, POST",
        ]);
        const told = [...answer.headers.keys()].filter((name) => name.startsWith("access-control"));
        expect(told).toEqual([]);
      }
      const origins = log.warnings.splice(0).map(({ origin, message }) => {
        expect(message).toContain("ALLOWED_ORIGINS");
        return origin;
      });
      expect(origins).toEqual(["https://evil.example", "null"]);
      await front.stop();
    }
  });

  it("tell caches what they depend on", async () => {
    const { url } = await start({ allowedOrigins: [OWN] });
    for (const origin of [OWN, "https://evil.example"]) {
      const vary = (await ask(url, origin)).headers.get("vary");
      expect(vary).toBe("Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
    }
    expect((await fetch(`${url}/things`, { method: "OPTIONS" })).headers.get("vary")).toBe(
      "Origin",
    );
  });

  it("of allowed origins and plain requests are no line of the log, and lines are bounded", async () => {
    const log = new WarningLog();
    const { url } = await start({ allowedOrigins: [OWN], log });
    await ask(url, OWN);
    await ask(url, "https://evil.example", "GET");
    expect(log.warnings).toEqual([]);
    for (let n = 0; n < 150; n += 1) await ask(url, `https://${n}.example/${"x".repeat(500)}`);
    expect(log.warnings.length).toBe(100);
    expect(log.warnings[0]?.origin?.length).toBe(200);
  });
});
