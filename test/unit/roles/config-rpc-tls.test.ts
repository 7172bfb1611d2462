import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/roles/config.ts";
import { WORKER_KEY } from "../../support/worker-key.ts";

const NEEDED = {
  DATABASE_URL: "postgres://localhost/v",
  NATS_URL: "nats://localhost",
  VOICE_BLOB_DIR: "/tmp/b",
  VOICE_KEY_DIR: "/tmp/k",
  WORKER_KEY,
};

function rpcTls(env: Record<string, string>) {
  return readConfig({ ...NEEDED, ...env }, "host").rpcTls;
}

function innerTls(env: Record<string, string>) {
  return readConfig({ ...NEEDED, ...env }, "host").tls;
}

describe("configuration of TLS between processes", () => {
  it("is off without files; one file may hold the certificate and its key", () => {
    expect(innerTls({})).toBeUndefined();
    const files = { TLS_CA: "/ca.pem", TLS_CERT: "/c.pem" };
    expect(innerTls(files)).toEqual({ ca: "/ca.pem", cert: "/c.pem", key: "/c.pem" });
    expect(innerTls({ ...files, TLS_KEY: "/k.pem" })?.key).toBe("/k.pem");
  });

  it.each(["TLS_CA", "TLS_CERT", "TLS_KEY"])("%s alone is refused", (name) => {
    expect(() => innerTls({ [name]: "/x.pem" })).toThrow(/needs both TLS_CA and TLS_CERT/);
  });
});

describe("configuration of TLS for gRPC", () => {
  it("is off without files, on with both, mutual with an authority", () => {
    expect(rpcTls({})).toBeUndefined();
    const pair = { RPC_TLS_CERT: "/c.pem", RPC_TLS_KEY: "/k.pem" };
    expect(rpcTls(pair)).toEqual({ cert: "/c.pem", key: "/k.pem" });
    expect(rpcTls({ ...pair, RPC_TLS_CLIENT_CA: "/ca.pem" })?.ca).toBe("/ca.pem");
  });

  it.each(["RPC_TLS_CERT", "RPC_TLS_KEY", "RPC_TLS_CLIENT_CA"])(
    "%s alone is refused rather than served in plain text",
    (name) => {
      expect(() => rpcTls({ [name]: "/x.pem" })).toThrow(/needs both RPC_TLS_CERT and RPC_TLS_KEY/);
    },
  );
});
