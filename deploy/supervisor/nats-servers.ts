import { connect, Empty } from "nats";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { loginOptions, type NatsLogin } from "../../src/wire/nats-login.ts";
import type { TlsOf } from "./certificates.ts";
import type { DataFolder } from "./data-folder.ts";
import { portName } from "./layout.ts";
import { loginOf, type NatsCluster, natsPart } from "./nats-part.ts";
import { type NatsUser, READY } from "./nats-users.ts";
import type { Part } from "./part.ts";
import type { PortBook } from "./ports.ts";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";

const READY_MS = 60_000;
const ASK_AGAIN_MS = 250;
const ASK_MS = 2_000;

export interface NatsServersOptions {
  readonly names: readonly string[];
  readonly ports: PortBook;
  readonly data: DataFolder;
  readonly program: string;
  readonly token: string;
  readonly users: readonly NatsUser[];
  readonly tlsOf: TlsOf;
  readonly env: NodeJS.ProcessEnv;
  readonly user: UnprivilegedUser | undefined;
}

/** Our own nats-servers: one alone, or several as a cluster in which each may die. */
export class NatsServers {
  readonly parts: readonly Part[];
  /** Addresses of all, comma-separated. */
  readonly url: string;
  readonly #login: NatsLogin;

  private constructor(parts: readonly Part[], ports: readonly number[], login: NatsLogin) {
    this.parts = parts;
    this.url = ports.map((port) => `nats://127.0.0.1:${port}`).join(",");
    this.#login = login;
  }

  static async prepare(options: NatsServersOptions): Promise<NatsServers> {
    const { names, ports, data, program, token, users, tlsOf, env, user } = options;
    const supervisorTls = tlsOf("supervisor");
    const servers: { name: string; port: number; routePort: number }[] = [];
    for (const name of names) {
      const port = await ports.take(portName(name, "nats"));
      const routePort = names.length > 1 ? await ports.take(portName(name, "route")) : 0;
      servers.push({ name, port, routePort });
    }
    const routes = servers.map(({ routePort }) => routePort);
    const parts = servers.map(({ name, port, routePort }) => {
      const cluster: NatsCluster | undefined =
        names.length > 1 ? { port: routePort, routes } : undefined;
      const logFile = data.file("logs", `${name}.log`);
      return natsPart({
        name,
        program,
        port,
        token,
        users,
        ...tlsSettings(tlsOf(name), supervisorTls),
        folder: data.file(name),
        logFile,
        env,
        user,
        ...(cluster && { cluster }),
      });
    });
    return new NatsServers(
      parts,
      servers.map(({ port }) => port),
      loginOf({ ...options, supervisorTls }),
    );
  }

  /** Resolves when each of them hands on what the others are told. */
  async ready(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + READY_MS;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.#talk();
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await new Promise((wake) => setTimeout(wake, ASK_AGAIN_MS));
      }
    }
  }

  async #talk(): Promise<void> {
    const opening = this.url
      .split(",")
      .map((server) =>
        connect({ ...loginOptions(server, this.#login), timeout: ASK_MS, reconnect: false }),
      );
    const opened = await Promise.allSettled(opening);
    const connections = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    try {
      await Promise.all(opening);
      const [first, ...others] = connections;
      first?.subscribe(READY, { callback: (_error, message) => message.respond() });
      await first?.flush();
      await Promise.all(others.map((each) => each.request(READY, Empty, { timeout: ASK_MS })));
    } finally {
      await Promise.all(connections.map((each) => each.close()));
    }
  }
}

function tlsSettings(tls: TlsFiles | undefined, supervisorTls: TlsFiles | undefined) {
  return { ...(tls && { tls }), ...(supervisorTls && { supervisorTls }) };
}
