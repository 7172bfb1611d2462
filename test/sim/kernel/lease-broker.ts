import type { HostLease, LeaseTable, LeaseView } from "../../../src/actor/lease.ts";
import { AppError } from "../../../src/base/errors.ts";
import type { BrokerLine } from "./broker.ts";
import type { Kernel } from "./kernel.ts";

const ANSWER_MS = 750;
const STALE_MS = 400;
const PRESENCE_MS = 150;

interface Records {
  hosts: Map<string, HostLease & { run: object }>;
  partitions: Map<number, { holder: string; revision: number }>;
}

/** The leases as the server keeps them: records with revisions. */
export class LeaseBroker {
  readonly kernel: Kernel;
  readonly records: Records = { hosts: new Map(), partitions: new Map() };
  readonly lines = new Map<string, BrokerLine>();
  #revision = 0;
  /** How far what watches tell lags behind, milliseconds. */
  lag = 2;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  connect(line: BrokerLine): LeaseTable {
    return new BrokerLeases(this, line);
  }

  write(partition: number, holder: string, revision: number): number | undefined {
    const known = this.records.partitions.get(partition);
    if ((known?.revision ?? 0) !== revision) return undefined;
    this.#revision += 1;
    this.records.partitions.set(partition, { holder, revision: this.#revision });
    return this.#revision;
  }
}

/** What one process knows of the leases: a copy that lags, and what it wrote itself. */
class BrokerLeases implements LeaseTable {
  readonly #broker: LeaseBroker;
  readonly #line: BrokerLine;
  readonly #run = {};
  #copy: LeaseView = { hosts: new Map(), partitions: new Map() };
  #heardAt = 0;

  constructor(broker: LeaseBroker, line: BrokerLine) {
    this.#broker = broker;
    this.#line = line;
  }

  async read(): Promise<LeaseView> {
    const { machine } = this.#line;
    await this.#refresh();
    if (machine.monotonic() - this.#heardAt > STALE_MS) {
      throw new AppError("unavailable", "The lease store does not tell what is new.");
    }
    return { hosts: new Map(this.#copy.hosts), partitions: new Map(this.#copy.partitions) };
  }

  /** As the watch brings it: the state of a moment ago. */
  async #refresh(): Promise<void> {
    const { hosts, partitions } = this.#broker.records;
    const view = await this.#ask(() => ({
      hosts: new Map(hosts),
      partitions: new Map(partitions),
    }));
    this.#heardAt = this.#line.machine.monotonic();
    for (const [partition, record] of this.#copy.partitions) {
      const told = view.partitions.get(partition);
      if (told === undefined || told.revision < record.revision) {
        view.partitions.set(partition, record);
      }
    }
    this.#copy = view;
  }

  async beat(host: string, lease: HostLease): Promise<boolean> {
    const { records, lines } = this.#broker;
    return this.#ask(() => {
      const known = records.hosts.get(host);
      if (known !== undefined && known.run !== this.#run) return false;
      records.hosts.set(host, { ...lease, run: this.#run });
      lines.set(host, this.#line);
      return true;
    });
  }

  async isConnected(host: string): Promise<boolean> {
    try {
      return await this.#line.request(
        PRESENCE_MS,
        () => this.#broker.lines.get(host)?.isUp === true,
      );
    } catch {
      return true;
    }
  }

  async take(partition: number, host: string, revision: number): Promise<boolean> {
    const next = await this.#ask(() => this.#broker.write(partition, host, revision));
    if (next === undefined) return false;
    this.#copy.partitions.set(partition, { holder: host, revision: next });
    return true;
  }

  async free(partition: number, host: string): Promise<void> {
    const next = await this.#ask(() => {
      const record = this.#broker.records.partitions.get(partition);
      if (record?.holder !== host) return undefined;
      return this.#broker.write(partition, "", record.revision);
    });
    if (next !== undefined) this.#copy.partitions.set(partition, { holder: "", revision: next });
  }

  async leave(host: string): Promise<void> {
    await this.#ask(() => this.#broker.records.hosts.delete(host));
  }

  async #ask<T>(act: () => T): Promise<T> {
    try {
      return await this.#line.request(ANSWER_MS, act);
    } catch (error) {
      throw new AppError("unavailable", "The lease store is not reachable.", { cause: error });
    }
  }
}
