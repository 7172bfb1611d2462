import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  GraphServiceService,
  RetrievalServiceService,
  TextServiceService,
  WorkerServiceService,
} from "../../src/wire/gen/voice/v1/worker_services.ts";
import { type PartName, WholeService } from "../support/whole-service.ts";

const WORKER_METHODS = [
  ...Object.values(WorkerServiceService),
  ...Object.values(TextServiceService),
  ...Object.values(RetrievalServiceService),
  ...Object.values(GraphServiceService),
];

/** Who may know each planted secret; nobody else on the machine has a use for it. */
const READERS: Readonly<Record<string, readonly PartName[]>> = {
  VOICE_KEYS: ["main"],
  SMTP_URL: ["main"],
  OAUTH_PROVIDERS: ["main"],
  ADMIN_PASSWORD: [],
  ADMIN_FIRST_PASSWORD: [],
  VOICE_PASSWORD: [],
  VOICE_TOKEN: [],
  // Not ours at all: whoever starts the service may have anything in his environment.
  AWS_SECRET_ACCESS_KEY: [],
  HTTPS_PROXY: [],
  PGPASSWORD: [],
};

/** Who may know what the installation made for itself, by the names in its secrets.json. */
const MADE: Readonly<Record<string, readonly PartName[]>> = {
  postgresPassword: [],
  ownerPassword: [],
  servicePassword: ["main"],
  // The servers alone know it: each process has a password that is made of it.
  natsToken: [],
  workerKey: ["main", "worker"],
  adminPassword: [],
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
  let made: Record<string, string>;

  beforeAll(async () => {
    planted = await plantedSecrets();
    service = await WholeService.start(planted);
    made = JSON.parse(readFileSync(join(service.folder, "data/secrets.json"), "utf8"));
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

  it.each(["main", "worker", "nats", "postgres"] as const)(
    "%s: its environment holds none of the installation's own secrets that are for others",
    (part) => {
      const environment = environmentOf(part);
      expect(Object.keys(made).sort()).toEqual(Object.keys(MADE).sort());
      const known = Object.keys(made).filter((name) => environment.includes(made[name] ?? ""));
      const allowed = Object.keys(MADE).filter((name) => MADE[name]?.includes(part));
      expect(known.sort()).toEqual(allowed.sort());
    },
  );

  it.each(["worker", "nats", "postgres"] as const)(
    "%s: knows no address of the database",
    (part) => {
      expect(environmentOf(part)).not.toMatch(/DATABASE_|postgres:\/\//);
    },
  );

  it("runs nothing as root, and nothing with groups of somebody else", () => {
    const own = process.getuid?.() ?? 0;
    const parts = ["main", "worker", "nats", "postgres"] as const;
    for (const part of parts) {
      const { uids, gids, groups, capabilities } = credentialsOf(service.ready.pids[part]);
      if (own !== 0) {
        expect(uids, part).toEqual([own, own, own, own]);
        continue;
      }
      expect(uids, part).not.toContain(0);
      expect(gids, part).not.toContain(0);
      expect(groups, part).toEqual([]);
      expect(capabilities, part).toBe(0n);
    }
  });

  it.runIf(process.getuid?.() === 0)("gives the worker and NATS users of their own", () => {
    const users = (["main", "worker", "nats", "postgres"] as const).map(
      (part) => credentialsOf(service.ready.pids[part]).uids[0],
    );
    expect(new Set(users).size).toBe(4);
    const [main = 0, worker = 0] = users;
    const data = join(service.folder, "data");
    const reads = (uid: number, path: string) =>
      spawnSync("/bin/sh", ["-c", 'test -r "$1"', "sh", path], { uid, gid: uid, cwd: "/" })
        .status === 0;
    // The probe can tell: what the service needs it does read.
    expect(reads(main, join(data, "blobs"))).toBe(true);
    const others = ["secrets.json", "logs", "nats/nats.conf", "postgres", "blobs", "keys", "mail"];
    expect(others.filter((name) => reads(worker, join(data, name)))).toEqual([]);
    expect(reads(worker, `/proc/${service.ready.pids.main}/environ`)).toBe(false);
  });

  /** How each method of a worker answers a call with these metadata, by its path. */
  async function answersOfWorker(authorization?: string): Promise<Record<string, number>> {
    const client = new Client(service.ready.grpc_worker, credentials.createInsecure());
    const metadata = new Metadata();
    if (authorization !== undefined) metadata.set("authorization", authorization);
    try {
      return Object.fromEntries(
        await Promise.all(
          WORKER_METHODS.map(async ({ path }) => [path, await callOnce(client, path, metadata)]),
        ),
      );
    } finally {
      client.close();
    }
  }

  it.each([
    ["no key", () => undefined],
    ["an empty key", () => "Bearer "],
    ["a guessed key", () => "Bearer guessed-guessed-guessed"],
    ["another secret of the installation", () => `Bearer ${made.natsToken}`],
    ["the key without its scheme", () => made.workerKey],
  ])("the worker: %s opens none of its methods", async (_what, authorization) => {
    const answers = await answersOfWorker(authorization());
    const refused = WORKER_METHODS.map(({ path }) => [path, status.UNAUTHENTICATED]);
    expect(answers).toEqual(Object.fromEntries(refused));
  });
});

/** As whom a process runs: real, effective, saved and file system ids. */
function credentialsOf(pid: number) {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const words = (name: string) =>
    (new RegExp(`^${name}:(.*)$`, "m").exec(text)?.[1] ?? "").trim().split(/\s+/).filter(Boolean);
  return {
    uids: words("Uid").map(Number),
    gids: words("Gid").map(Number),
    groups: words("Groups").map(Number),
    capabilities: BigInt(`0x${words("CapEff")[0]}`),
  };
}

/** The status of a call with an empty message, whatever kind of method it is. */
function callOnce(client: Client, path: string, metadata: Metadata): Promise<number> {
  const bytes = (value: Buffer) => value;
  const deadline = Date.now() + 20_000;
  const call = client.makeBidiStreamRequest(path, bytes, bytes, metadata, { deadline });
  return new Promise((resolve) => {
    call.on("data", () => undefined);
    call.on("error", () => undefined);
    call.on("status", ({ code }) => resolve(code));
    call.end(Buffer.alloc(0));
  });
}
