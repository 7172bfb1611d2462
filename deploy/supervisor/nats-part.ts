import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import type { NatsLogin } from "../../src/wire/nats-login.ts";
import { asUser } from "./crew.ts";
import { askNats } from "./existing-servers.ts";
import { authorizationLines, type NatsUser } from "./nats-users.ts";
import type { Part } from "./part.ts";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";
import { writeAtomically } from "./write-atomically.ts";

const PROBE_TIMEOUT_MS = 1_000;

/** The other servers, which this one joins. */
export interface NatsCluster {
  /** Where the others connect to this one. */
  readonly port: number;
  /** Where all of them listen for each other. */
  readonly routes: readonly number[];
}

export interface NatsSettings {
  readonly name?: string;
  readonly program: string;
  readonly port: number;
  /** Lets everybody in without users, and the servers of a cluster in to one another. */
  readonly token: string;
  readonly users?: readonly NatsUser[];
  /** With these it speaks TLS, to those alone who show a certificate of our authority. */
  readonly tls?: TlsFiles;
  /** The supervisor's own. */
  readonly supervisorTls?: TlsFiles;
  /** Holds the configuration. */
  readonly folder: string;
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  /** As whom it runs; as ourselves when absent. */
  readonly user?: UnprivilegedUser | undefined;
  /** Absent for a server alone. */
  readonly cluster?: NatsCluster;
}

/**
 * nats-server on loopback, which keeps nothing. Its configuration is a file, as arguments (the token
 * among them) can be read by every user of the machine.
 */
export function natsPart(settings: NatsSettings): Part {
  const { name = "nats" } = settings;
  const configFile = `${settings.folder}/nats.conf`;
  return {
    name,
    title: settings.cluster === undefined ? "NATS" : `NATS server ${name}`,
    logFile: settings.logFile,
    launch: () => {
      const { folder, user } = settings;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Root's, and only passed through by the server's user, so that it can put nothing there.
      if (user !== undefined) chmodSync(folder, 0o711);
      // The store that releases before this one had there. Its commands stand in the outbox as well,
      // but for wishes that nobody was told are done: those must not be done now (test/nightly/upgrade).
      rmSync(`${settings.folder}/jetstream`, { recursive: true, force: true });
      writeAtomically(configFile, natsConfiguration(settings), 0o600, user);
      return asUser(user, {
        program: settings.program,
        args: ["-c", configFile],
        env: settings.env,
      });
    },
    probe: async () => ((await greets(settings.port)) ? { port: settings.port } : undefined),
    isHealthy: async () => {
      await askNats(`nats://127.0.0.1:${settings.port}`, loginOf(settings));
      return true;
    },
    readyTimeoutMs: 60_000,
    stop: [
      { signal: "SIGINT", waitMs: 1_500 },
      { signal: "SIGTERM", waitMs: 500 },
    ],
  };
}

/** With what the supervisor comes in. */
export function loginOf(settings: {
  users?: readonly NatsUser[] | undefined;
  token: string;
  supervisorTls?: TlsFiles | undefined;
}): NatsLogin {
  const { users, token, supervisorTls: tls } = settings;
  const user = users?.find(({ role }) => role === "supervisor");
  return user === undefined ? { token, tls } : { user: user.name, password: user.password, tls };
}

export function natsConfiguration(settings: NatsSettings): string {
  return [
    `host: "127.0.0.1"`,
    `port: ${settings.port}`,
    `server_name: ${JSON.stringify(settings.cluster === undefined ? "voice" : settings.name)}`,
    ...(settings.users === undefined
      ? [`authorization { token: ${JSON.stringify(settings.token)} }`]
      : authorizationLines(settings.users)),
    "max_payload: 1MB",
    "max_pending: 64MB",
    `write_deadline: "10s"`,
    ...tlsLines(settings.tls),
    ...(settings.cluster === undefined
      ? []
      : clusterLines(settings.cluster, settings.token, settings.tls)),
    "",
  ].join("\n");
}

function tlsLines(tls: TlsFiles | undefined): string[] {
  if (tls === undefined) return [];
  const { cert, key, ca } = tls;
  const files = [
    `cert_file: ${JSON.stringify(cert)}`,
    `key_file: ${JSON.stringify(key)}`,
    ...(ca === undefined ? [] : [`ca_file: ${JSON.stringify(ca)}`, "verify: true"]),
  ];
  return [`tls { ${files.join(", ")}, timeout: 5 }`];
}

function clusterLines(
  { port, routes }: NatsCluster,
  token: string,
  tls: TlsFiles | undefined,
): string[] {
  const user = "voice";
  const password = JSON.stringify(token);
  return [
    "cluster {",
    `  name: "voice"`,
    `  host: "127.0.0.1"`,
    `  port: ${port}`,
    `  authorization { user: ${user}, password: ${password}, timeout: 5 }`,
    ...tlsLines(tls).map((line) => `  ${line}`),
    "  routes: [",
    ...routes.map((route) => `    "nats-route://${user}:${token}@127.0.0.1:${route}"`),
    "  ]",
    "}",
  ];
}

/** A nats-server says INFO to whoever connects, once it serves. */
function greets(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: PROBE_TIMEOUT_MS });
    const finish = (answer: boolean) => {
      socket.destroy();
      settle(answer);
    };
    socket.once("data", (data) => finish(String(data).startsWith("INFO ")));
    socket.once("timeout", () => finish(false));
    socket.once("error", () => finish(false));
    socket.once("close", () => finish(false));
  });
}
