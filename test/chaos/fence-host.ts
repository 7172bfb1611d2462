import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bite } from "../support/fault-link.ts";
import { type Fault, FaultProxy, hasBitten } from "../support/fault-proxy.ts";
import { portOf, throughProxy } from "../support/proxied-address.ts";
import type { FenceCut } from "./fence-faults.ts";
import type { FenceLedger } from "./fence-ledger.ts";
import type { OwnerNews, OwnerSettings } from "./fence-owner.ts";

const FAULTS: Record<FenceCut, Fault["kind"]> = {
  postgres: "refuse",
  "postgres-silent": "stall",
};

const HOLD_MS = 60_000;
/** The owner sends its figures every 50 ms. */
const FIGURES_MS = 50;

/** A process that owns sessions, and what stands between it and PostgreSQL. */
export class FenceHost {
  readonly name: string;
  readonly problems: string[] = [];
  readonly #postgres: FaultProxy;
  readonly #child: ChildProcess;
  #held: Promise<Bite> | undefined;
  owned: string[] = [];
  fenced = 0;
  stored = 0;
  turnedAway = 0;

  private constructor(settings: OwnerSettings, ledger: FenceLedger, postgres: FaultProxy) {
    this.name = settings.name;
    this.#postgres = postgres;
    const own: OwnerSettings = {
      ...settings,
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
    const postgres = await FaultProxy.start(`${settings.name}-pg`, portOf(settings.databaseUrl));
    return new FenceHost(settings, ledger, postgres);
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /**
   * What it sends to PostgreSQL waits on its way, until `letThrough`. Resolves when an answer
   * has come to none of its writes for a while: each of its sessions has a statement waiting.
   */
  async holdBack(): Promise<void> {
    this.#held = this.#postgres.inflict({ kind: "one-way", direction: "up", ms: HOLD_MS });
    for (let before = -1; before !== this.stored; ) {
      before = this.stored;
      await sleep(3 * FIGURES_MS);
    }
  }

  async letThrough(): Promise<void> {
    this.#postgres.heal();
    await this.#held;
  }

  /** Resolves when it is over, with whether it bit. */
  async cut(fault: FenceCut, ms: number): Promise<boolean> {
    const kind = FAULTS[fault];
    return hasBitten(kind, await this.#postgres.inflict({ kind, ms }));
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGCONT");
    if (this.#child.exitCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await exited;
    }
    await this.#postgres.stop();
  }
}
