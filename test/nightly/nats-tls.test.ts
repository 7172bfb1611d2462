import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsConnection } from "nats";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { connectBus } from "../../src/nats/connect.ts";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { TestAuthority } from "../support/test-certificates.ts";
import { until } from "../support/until.ts";

let folder: string;
let ours: TestAuthority;
let strange: TestAuthority;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "voice-nats-tls-"));
  ours = await TestAuthority.make(folder);
  strange = await TestAuthority.make(folder, "strange");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function serve(tls: TlsFiles | undefined): Promise<TestNats> {
  const nats = await startNats(undefined, tls);
  cleanups.push(() => nats.stop());
  return nats;
}

/** Everybody here has the token; certificates alone differ. */
async function connectTo(
  { url, token }: TestNats,
  tls: TlsFiles | undefined,
): Promise<NatsConnection> {
  const connection = await connectBus({ url, token, tls, name: "x", log: silentLog });
  cleanups.push(() => connection.close());
  return connection;
}

describe("a nats-server that speaks TLS", () => {
  it("lets in who shows a certificate of our authority, and nobody else", async () => {
    const nats = await serve(await ours.issue("nats"));
    await (await connectTo(nats, await ours.issue("main"))).flush();
    await expect(connectTo(nats, undefined)).rejects.toThrow();
    const stranger = { ...(await strange.issue("main", "strange-main")), ca: ours.ca };
    await expect(connectTo(nats, stranger)).rejects.toThrow();
    const over = await ours.issue("main", "over", -60_000);
    await expect(connectTo(nats, over)).rejects.toThrow();
  });

  it("is not taken for ours without a certificate, or with that of something else", async () => {
    const main = await ours.issue("main");
    await expect(connectTo(await serve(undefined), main)).rejects.toThrow();
    const impostors = [
      await ours.issue("worker", "not-nats"),
      { ...(await strange.issue("nats", "strange-nats")), ca: ours.ca },
    ];
    for (const papers of impostors) {
      // Who asks for no certificate gets as far as the check of the client.
      const nats = await serve({ ...papers, ca: undefined });
      await expect(connectTo(nats, main)).rejects.toThrow();
    }
  });

  it("asks for TLS by its address alone too", async () => {
    const nats = await serve(undefined);
    const url = nats.url.replace("nats:", "tls:");
    await expect(connectTo({ ...nats, url }, undefined)).rejects.toThrow();
  });

  it("takes renewed certificates, and connections go on meanwhile", async () => {
    const nats = await serve(await ours.issue("nats", "renewed-nats"));
    const before = await connectTo(nats, await ours.issue("main"));
    // Another authority altogether, so that the old papers let in nobody any more.
    const next = await TestAuthority.make(folder, "ca");
    await next.issue("nats", "renewed-nats");
    const main = await next.issue("main", "renewed-main");
    nats.reload();
    await until(
      () =>
        connectTo(nats, main).then(
          () => true,
          () => false,
        ),
      "the new certificate",
    );
    await before.flush();
    expect(before.isClosed()).toBe(false);
  });
});
