import type { DataFolder } from "./data-folder.ts";
import { askJetStream } from "./existing-servers.ts";
import { portName } from "./layout.ts";
import { type NatsCluster, natsPart } from "./nats-part.ts";
import type { Part } from "./part.ts";
import type { PortBook } from "./ports.ts";

const LEADER_MS = 60_000;
const ASK_AGAIN_MS = 250;

export interface NatsServersOptions {
  readonly names: readonly string[];
  readonly ports: PortBook;
  readonly data: DataFolder;
  readonly program: string;
  readonly token: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Our own nats-servers: one alone, or several as a cluster in which each may die. */
export class NatsServers {
  readonly parts: readonly Part[];
  /** Addresses of all, comma-separated. */
  readonly url: string;
  readonly token: string;
  /** Copies that the cluster keeps of everything. */
  readonly replicas: number;

  private constructor(parts: readonly Part[], ports: readonly number[], token: string) {
    this.parts = parts;
    this.url = ports.map((port) => `nats://127.0.0.1:${port}`).join(",");
    this.token = token;
    this.replicas = parts.length;
  }

  static async prepare(options: NatsServersOptions): Promise<NatsServers> {
    const { names, ports, data, program, token, env } = options;
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
        folder: data.file(name),
        logFile,
        env,
        ...(cluster && { cluster }),
      });
    });
    return new NatsServers(
      parts,
      servers.map(({ port }) => port),
      token,
    );
  }

  /** Resolves when JetStream answers; a cluster has to elect its leader first. */
  async ready(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + LEADER_MS;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await askJetStream(this.url, this.token);
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await new Promise((wake) => setTimeout(wake, ASK_AGAIN_MS));
      }
    }
  }
}
