import { X509Certificate } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Certificates,
  prepareRpcTls,
  prepareTls,
} from "../../../deploy/supervisor/certificates.ts";
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

describe("certificates that a person renews", () => {
  it("are for all parts, and each change of a file is told until that is ended", async () => {
    const folder = mkdtempSync(join(tmpdir(), "voice-certificates-"));
    const [cert, ca] = [join(folder, "process.pem"), join(folder, "authority.pem")];
    for (const file of [cert, ca]) writeFileSync(file, "old");
    let told = 0;
    const { tlsOf, end } = await prepareTls({
      env: { TLS_CA: ca, TLS_CERT: cert },
      ownAuthority: true,
      folder,
      layout: layoutOf(false),
      users: undefined,
      lookMs: 10,
      onRenewed: () => {
        told += 1;
      },
    });
    try {
      expect(tlsOf("worker")).toEqual({ ca, cert, key: cert });
      for (const [time, file] of [cert, ca, cert].entries()) {
        writeFileSync(`${file}.tmp`, `new ${time}`);
        renameSync(`${file}.tmp`, file);
        await until(() => told === time + 1, `the change ${time + 1}`);
      }
      end();
      writeFileSync(cert, "newest");
      await new Promise((wake) => setTimeout(wake, 100));
      expect(told).toBe(3);
    } finally {
      end();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.runIf(process.getuid?.() === 0)("of root's get to each part, for its user alone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "voice-certificates-"));
    const [cert, key, ca] = ["process.pem", "process.key", "authority.pem"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    for (const file of [cert, key, ca]) writeFileSync(file, file, { mode: 0o600 });
    const user = (number: number) => ({ uid: number, gid: number });
    const users = { service: user(60_600), nats: user(60_601), worker: user(60_602) };
    let told = 0;
    const options = {
      env: { TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key },
      ...{ ownAuthority: true, layout: layoutOf(false), users, lookMs: 10 },
      folder: join(folder, "data"),
      onRenewed: () => {
        told += 1;
      },
    };
    const { tlsOf, end } = await prepareTls(options);
    try {
      const held = ["main", "nats", "worker", "supervisor"].map((part) => {
        const file = tlsOf(part)?.cert ?? "";
        expect(readFileSync(file, "utf8")).toBe(`${key}\n${cert}`);
        const { uid, gid, mode } = statSync(file);
        return [part, uid, gid, mode & 0o777];
      });
      expect(held).toEqual([
        ["main", 60_600, 60_600, 0o600],
        ["nats", 60_601, 60_601, 0o600],
        ["worker", 60_602, 60_602, 0o600],
        ["supervisor", 0, 0, 0o600],
      ]);
      writeFileSync(cert, "new");
      await until(() => told > 0, "the change");
      expect(readFileSync(tlsOf("worker")?.key ?? "", "utf8")).toBe(`${key}\nnew`);
      rmSync(key);
      await expect(prepareTls(options)).rejects.toThrow(/process\.key cannot be read/);
    } finally {
      end();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.runIf(process.getuid?.() === 0)("of root's for the gRPC port get to its user", async () => {
    const folder = mkdtempSync(join(tmpdir(), "voice-certificates-"));
    const [cert, key] = [join(folder, "rpc.pem"), join(folder, "rpc.key")];
    for (const file of [cert, key]) writeFileSync(file, "old", { mode: 0o600 });
    const user = (number: number) => ({ uid: number, gid: number });
    const { settings, end } = prepareRpcTls({
      env: { RPC_TLS_CERT: cert, RPC_TLS_KEY: key },
      users: { service: user(60_600), nats: user(60_601), worker: user(60_602) },
      folder: join(folder, "data"),
      lookMs: 10,
    });
    try {
      expect(Object.keys(settings)).toEqual(["RPC_TLS_CERT", "RPC_TLS_KEY"]);
      for (const file of Object.values(settings)) {
        const { uid, gid, mode } = statSync(file);
        expect([uid, gid, mode & 0o777]).toEqual([60_600, 60_600, 0o600]);
      }
      rmSync(key);
      writeFileSync(cert, "half");
      writeFileSync(key, "new", { mode: 0o600 });
      writeFileSync(cert, "new");
      const read = () => Object.values(settings).map((file) => readFileSync(file, "utf8"));
      await until(() => read().every((text) => text === "new"), "both of the new ones");
    } finally {
      end();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("for the gRPC port stay where they are, when whoever runs it may read them", () => {
    const env = { RPC_TLS_CERT: "/somewhere/rpc.pem", RPC_TLS_KEY: "/somewhere/rpc.key" };
    const { settings, end } = prepareRpcTls({ env, users: undefined, folder: "/nowhere" });
    end();
    expect(settings).toEqual({});
  });
});
