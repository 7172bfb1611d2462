import { X509Certificate } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Certificates } from "../../../deploy/supervisor/certificates.ts";
import { layoutOf } from "../../../deploy/supervisor/layout.ts";
import { until } from "../../support/until.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

describe("certificates of a cluster's parts", () => {
  let folder: string;
  let certificates: Certificates;
  let renewed: number;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    folder = mkdtempSync(join(tmpdir(), "voice-certificates-"));
    renewed = 0;
    certificates = await Certificates.open({
      folder,
      layout: layoutOf(true),
      users: undefined,
      onRenewed: () => {
        renewed += 1;
      },
    });
  });
  afterEach(() => {
    certificates.stop();
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });

  const { nats, services } = layoutOf(true);
  const parts = [...nats, ...services.map(({ name }) => name), "supervisor"];

  const read = (part: string) => new X509Certificate(readFileSync(certificates.filesOf(part).cert));
  const serials = () => parts.map((part) => read(part).serialNumber);

  it("are there for each part, for a day, and only for who runs it", () => {
    for (const part of parts) {
      const own = read(part);
      expect(Date.parse(own.validTo) - Date.now()).toBeGreaterThan(23 * HOUR);
      expect(Date.parse(own.validTo) - Date.now()).toBeLessThanOrEqual(24 * HOUR);
      expect(statSync(certificates.filesOf(part).cert).mode & 0o777).toBe(0o600);
    }
    expect(statSync(join(folder, "authority.key")).mode & 0o777).toBe(0o600);
    expect(renewed).toBe(1);
  });

  it("are renewed all together after eight hours, again and again, by the same authority", async () => {
    const authority = readFileSync(certificates.filesOf("front-1").ca, "utf8");
    for (let time = 1; time <= 3; time += 1) {
      const before = serials();
      vi.advanceTimersByTime(8 * HOUR - 2 * MINUTE);
      expect(renewed).toBe(time);
      vi.advanceTimersByTime(2 * MINUTE);
      await until(() => renewed === time + 1, "the renewal");
      const after = serials();
      expect(after.filter((serial) => before.includes(serial))).toEqual([]);
      for (const part of parts) {
        expect(read(part).verify(new X509Certificate(authority).publicKey)).toBe(true);
      }
    }
    expect(readFileSync(certificates.filesOf("front-1").ca, "utf8")).toBe(authority);
  });

  it("are renewed by the clock on the wall, also after the machine has slept", async () => {
    const before = serials();
    vi.setSystemTime(Date.now() + 20 * HOUR);
    vi.advanceTimersByTime(MINUTE);
    await until(() => renewed === 2, "the renewal");
    expect(serials()).not.toEqual(before);
  });

  it("are tried again a minute later where that did not succeed", async () => {
    const { cert } = certificates.filesOf("supervisor");
    const kept = join(folder, "kept");
    renameSync(cert, kept);
    // A folder in the file's place: nothing can be put there.
    mkdirSync(cert);
    vi.advanceTimersByTime(8 * HOUR);
    // What could not be put in its place is left beside it.
    await until(() => readdirSync(folder).some((name) => name.endsWith(".tmp")), "the failure");
    expect(renewed).toBe(1);
    rmSync(cert, { recursive: true });
    renameSync(kept, cert);
    const old = read("supervisor").serialNumber;
    // By the second, so that it is long before the next eight hours are over.
    const failedAt = Date.now();
    await until(() => {
      vi.advanceTimersByTime(1_000);
      return renewed > 1;
    }, "the renewal");
    expect(Date.now() - failedAt).toBeLessThan(8 * HOUR);
    expect(read("supervisor").serialNumber).not.toBe(old);
  });
});
