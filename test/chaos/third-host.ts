import { FaultProxy } from "../support/fault-proxy.ts";
import { portOf } from "../support/proxied-address.ts";
import { SecondHost } from "../support/second-host.ts";
import { environmentOf } from "../support/service-cluster.ts";
import type { WholeService } from "../support/whole-service.ts";

/** What the host is cut off from while the others have it. */
export type Server = "nats" | "postgres";

export interface ThirdHostOptions {
  readonly skewMs: number;
  readonly logFile: string;
}

/** A host of sessions beside a cluster's own two, whose connections all pass fault proxies. */
export class ThirdHost {
  readonly #host: SecondHost;
  readonly #proxies: Readonly<Record<Server, readonly FaultProxy[]>>;

  private constructor(host: SecondHost, proxies: Record<Server, FaultProxy[]>) {
    this.#host = host;
    this.#proxies = proxies;
  }

  static async start(service: WholeService, options: ThirdHostOptions): Promise<ThirdHost> {
    const env = environmentOf(service.ready.pids["sessions-1"] ?? 0);
    const urls = {
      nats: (env.NATS_URL ?? "").split(","),
      postgres: [env.DATABASE_URL ?? ""],
    };
    const routes: Record<number, number> = {};
    const before = (server: Server): Promise<FaultProxy[]> =>
      Promise.all(
        urls[server].map(async (url) => {
          const port = portOf(url.trim());
          const proxy = await FaultProxy.start(`third-${server}`, port);
          routes[port] = proxy.port;
          return proxy;
        }),
      );
    const proxies = { nats: await before("nats"), postgres: await before("postgres") };
    const host = await SecondHost.start(service, { ...options, routes, like: "sessions-1" });
    return new ThirdHost(host, proxies);
  }

  owned(): Promise<number> {
    return this.#host.owned();
  }

  /** Silence, as when packets are dropped. Resolves when it is over, with the bytes held back. */
  async isolate(from: Server, ms: number): Promise<number> {
    const bites = this.#proxies[from].map((proxy) => proxy.inflict({ kind: "stall", ms }));
    return (await Promise.all(bites)).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async stop(): Promise<void> {
    await this.#host.end("SIGTERM");
    const all = [...this.#proxies.nats, ...this.#proxies.postgres];
    await Promise.all(all.map((proxy) => proxy.stop()));
  }
}
