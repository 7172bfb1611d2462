import { readFileSync } from "node:fs";
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PartName, WholeService } from "../support/whole-service.ts";

/** Who may know each planted secret; nobody else on the machine has a use for it. */
const READERS: Readonly<Record<string, readonly PartName[]>> = {
  VOICE_KEYS: ["main"],
  SMTP_URL: ["main"],
  OAUTH_PROVIDERS: ["main"],
  WORKER_KEY: ["main", "worker"],
  ADMIN_PASSWORD: [],
  ADMIN_FIRST_PASSWORD: [],
  VOICE_PASSWORD: [],
  VOICE_TOKEN: [],
  // Not ours at all: whoever starts the service may have anything in his environment.
  AWS_SECRET_ACCESS_KEY: [],
  HTTPS_PROXY: [],
  PGPASSWORD: [],
};

async function plantedSecrets(): Promise<Record<string, string>> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: "EdDSA", kid: "planted", iat: 0 };
  const secret = (name: string) => `planted-${name.toLowerCase().replaceAll("_", "-")}-secret`;
  const random = Buffer.alloc(32, 7).toString("base64url");
  return {
    ...Object.fromEntries(Object.keys(READERS).map((name) => [name, secret(name)])),
    VOICE_KEYS: JSON.stringify({ signing: [jwk], pairing_secret: random, cursor_secret: random }),
    SMTP_URL: "smtp://planted:smtp-secret@127.0.0.1:9",
    OAUTH_PROVIDERS: JSON.stringify([
      {
        id: "planted",
        issuer: "https://id.example",
        client_id: "a",
        client_secret: "oauth-secret",
      },
    ]),
    HTTPS_PROXY: "http://planted:proxy-secret@127.0.0.1:9",
  };
}

describe("a running installation", () => {
  let service: WholeService;
  let planted: Record<string, string>;

  beforeAll(async () => {
    planted = await plantedSecrets();
    service = await WholeService.start(planted);
  });

  afterAll(() => service?.stop());

  function environmentOf(part: PartName): string {
    return readFileSync(`/proc/${service.ready.pids[part]}/environ`, "utf8");
  }

  it.each(["main", "worker", "nats", "postgres"] as const)(
    "%s: its environment holds no secret that it has no use for",
    (part) => {
      const environment = environmentOf(part);
      const known = Object.entries(planted)
        .filter(([name, value]) => environment.includes(`${name}=`) || environment.includes(value))
        .map(([name]) => name);
      const allowed = Object.keys(READERS).filter((name) => READERS[name]?.includes(part));
      expect(known.sort()).toEqual(allowed.sort());
    },
  );

  it.each(["worker", "nats", "postgres"] as const)(
    "%s: knows no address of the database",
    (part) => {
      expect(environmentOf(part)).not.toMatch(/DATABASE_|postgres:\/\//);
    },
  );
});
