import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Fault, FaultProxy, hasBitten } from "../support/fault-proxy.ts";
import { portOf, throughProxy } from "../support/proxied-address.ts";
import type { FenceCut } from "./fence-faults.ts";
import type { FenceLedger } from "./fence-ledger.ts";
import type { OwnerNews, OwnerSettings } from "./fence-owner.ts";

const FAULTS: Record<FenceCut, { nats?: Fault["kind"]; postgres?: "stall" }> = {
  nats: { nats: "refuse" },
  "nats-silent": { nats: "stall" },
  postgres: { postgres: "stall" },
  both: { nats: "refuse", postgres: "stall" },
};

/** A process that owns sessions, and what stands between it and its servers. */
export class FenceHost {
  readonly name: string;
  readonly problems: string[] = [];
  readonly #nats: FaultProxy;
  readonly #postgres: FaultProxy;
  readonly #child: ChildProcess;
  owned: string[] = [];
  fenced = 0;
  stored = 0;
  turnedAway = 0;

  private constructor(
    settings: OwnerSettings,
    ledger: FenceLedger,
    nats: FaultProxy,
    postgres: FaultProxy,
  ) {
    this.name = settings.name;
    this.#nats = nats;
    this.#postgres = postgres;
    const own: OwnerSettings = {
      ...settings,
      natsUrl: throughProxy(settings.natsUrl, nats),
      databaseUrl: throughProxy(settings.databaseUrl, postgres),
    };
    this.#child = fork(join(import.meta.dirname, "fence-owner.ts"), {
      env: { ...process.env, FENCE_OWNER: JSON.stringify(own) },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (news: OwnerNews) => {
      if (news.kind === "figures") Object.assign(this, news);
      else ledger.note(this.name, news);
    });
  }

  static async start(settings: OwnerSettings, ledger: FenceLedger): Promise<FenceHost> {
    const nats = await FaultProxy.start(`${settings.name}-nats`, portOf(settings.natsUrl));
    const postgres = await FaultProxy.start(`${settings.name}-pg`, portOf(settings.databaseUrl));
    return new FenceHost(settings, ledger, nats, postgres);
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** Resolves when it is over, with whether every part of it bit. */
  async cut(fault: FenceCut, ms: number): Promise<boolean> {
    const { nats, postgres } = FAULTS[fault];
    const parts: [FaultProxy, Fault["kind"]][] = [];
    if (nats !== undefined) parts.push([this.#nats, nats]);
    if (postgres !== undefined) parts.push([this.#postgres, postgres]);
    const bites = parts.map(async ([proxy, kind]) =>
      hasBitten(kind, await proxy.inflict({ kind, ms })),
    );
    return (await Promise.all(bites)).every((each) => each);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGCONT");
    if (this.#child.exitCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await exited;
    }
    await Promise.all([this.#nats.stop(), this.#postgres.stop()]);
  }
}
