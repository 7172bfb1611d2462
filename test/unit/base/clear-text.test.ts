import { describe, expect, it } from "vitest";
import {
  clearTextProblems,
  isThisMachine,
  mailNeedsTls,
  type Way,
  workerInClear,
} from "../../../src/base/clear-text.ts";
import { SettingsReader } from "../../../src/base/settings.ts";

function problems(way: Way, env: Record<string, string>): string[] {
  return clearTextProblems(new SettingsReader(env), [way]);
}

describe("clear text: this machine", () => {
  it.each(["localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])(
    "is %s",
    (host) => expect(isThisMachine(host)).toBe(true),
  );

  it.each([
    "0.0.0.0",
    "::",
    "[::]",
    "10.0.0.1",
    "db",
    "db.internal",
    "localhost.example",
    "fe80::1",
    "",
  ])("is not %j", (host) => expect(isThisMachine(host)).toBe(false));
});

describe("clear text: judged", () => {
  it.each<[Way, Record<string, string>]>([
    ["web", {}],
    ["web", { HOST: "::1" }],
    ["web", { HOST: "0.0.0.0", TRUST_PROXY: "1" }],
    ["web", { HOST: "10.0.0.1", PUBLIC_URL: "https://voice.example" }],
    ["grpc", { HOST: "0.0.0.0" }],
    ["grpc", { RPC_HOST: "0.0.0.0", RPC_TLS_CERT: "cert.pem", RPC_TLS_KEY: "key.pem" }],
    ["worker", { HOST: "0.0.0.0" }],
    ["nats", {}],
    ["nats", { NATS_URL: "nats://127.0.0.1:4222,localhost:4223" }],
    ["nats", { NATS_URL: "tls://one.internal:4222, tls://two.internal" }],
    ["database", {}],
    ["database", { DATABASE_URL: "postgres://voice:secret@127.0.0.1:5432/voice" }],
    ["database", { DATABASE_URL: "postgres://voice@%2Fvar%2Frun%2Fpostgresql/voice" }],
    ["database", { DATABASE_URL: "postgres://voice@one,two/voice?sslmode=require" }],
  ])("%s is right with %j", (way, env) => {
    expect(problems(way, env)).toEqual([]);
  });

  it.each<[Way, Record<string, string>, RegExp]>([
    ["web", { HOST: "0.0.0.0" }, /^HOST is 0\.0\.0\.0, .*PUBLIC_URL=https:/],
    ["web", { HOST: "voice.lan", PUBLIC_URL: "http://voice.lan" }, /^HOST is voice\.lan/],
    ["grpc", { RPC_HOST: "::" }, /^RPC_HOST is ::, .*RPC_TLS_CERT/],
    ["worker", { WORKER_HOST: "10.0.0.1" }, /^WORKER_HOST is 10\.0\.0\.1/],
    [
      "nats",
      { NATS_URL: "nats://127.0.0.1,nats://b.internal:4222" },
      /leads to b\.internal, .*tls:/,
    ],
    ["nats", { NATS_URL: "b.internal" }, /leads to b\.internal/],
    [
      "database",
      { DATABASE_URL: "postgres://a:b@127.0.0.1,db/voice" },
      /^DATABASE_URL leads to db, /,
    ],
    ["database", { DATABASE_URL: "postgres://db/voice?sslmode=disable" }, /leads to db/],
    ["database", { DATABASE_URL: "postgres://db/voice?sslmode=prefer" }, /leads to db/],
    [
      "database",
      { DATABASE_OWNER_URL: "postgres://o:pw@db/voice" },
      /^DATABASE_OWNER_URL .*sslmode=require/,
    ],
  ])("%s is told with %j", (way, env, words) => {
    const [told = "", ...more] = problems(way, env);
    expect(told).toMatch(words);
    expect(told).toMatch(/ALLOW_INSECURE=1 \(npm run up -- --insecure\) where nobody else/);
    expect(told).not.toContain("pw");
    expect(more).toEqual([]);
    expect(problems(way, { ...env, ALLOW_INSECURE: "1" })).toEqual([]);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ["none", {}, false],
    ["of this machine", { SMTP_URL: "smtp://127.0.0.1:25" }, false],
    ["with TLS from the start", { SMTP_URL: "smtps://me:pw@mail.example.org" }, false],
    ["of another machine", { SMTP_URL: "smtp://me:pw@mail.example.org:587" }, true],
    [
      "of another machine, allowed",
      { SMTP_URL: "smtp://mail.example.org", ALLOW_INSECURE: "1" },
      false,
    ],
  ])("a mail server %s", (_name, env, needed) => {
    expect(mailNeedsTls(new SettingsReader(env))).toBe(needed);
  });

  it("certificates of our own cover workers and NATS, and nothing else", () => {
    const env = {
      TLS_CA: "/ca.pem",
      TLS_CERT: "/process.pem",
      WORKER_HOST: "10.0.0.1",
      NATS_URL: "nats://10.0.0.2",
      HOST: "10.0.0.3",
    };
    expect(problems("worker", env)).toEqual([]);
    expect(problems("nats", env)).toEqual([]);
    expect(problems("web", env)).toHaveLength(1);
  });
});

describe("clear text: a worker's address", () => {
  const plain = { tls: undefined, allowInsecure: false };

  it.each(["127.0.0.1:4000", "localhost:4000", "[::1]:4000"])("%s is here", (address) => {
    expect(workerInClear(address, plain)).toBeUndefined();
  });

  it.each(["10.0.0.7:4000", "worker:4000", "[2001:db8::1]:4000"])("%s is elsewhere", (address) => {
    const told = workerInClear(address, plain);
    expect(told).toMatch(/^is on another machine.*TLS_CA, TLS_CERT.*ALLOW_INSECURE=1/);
    expect(workerInClear(address, { ...plain, tls: {} })).toBeUndefined();
    expect(workerInClear(address, { ...plain, allowInsecure: true })).toBeUndefined();
  });
});
