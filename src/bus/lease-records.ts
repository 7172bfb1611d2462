import type { HostLease, LeaseView } from "../actor/lease.ts";
import { decodeJson } from "../wire/envelope.ts";

/** One record of the bucket; revisions rise over all of its records. */
export interface LeaseRecord {
  readonly key: string;
  readonly revision: number;
  readonly value: Uint8Array;
  /** Anything but `PUT`: it is deleted. */
  readonly operation: string;
}

/**
 * What is known of the bucket: what its watch brought, and what this process wrote itself. Of two
 * states of a record the later one counts, whichever came first: a watch that begins anew at a
 * server that lags behind takes nothing back.
 */
export class LeaseRecords {
  readonly #records = new Map<string, LeaseRecord>();
  /** Of the bucket that the records are of. */
  #bucketId: string | undefined;
  #heard = 0;
  /** The first own write that the watch has yet to bring. */
  #unheard: { revision: number; at: number } | undefined;

  /** Another bucket under the same name counts its revisions from the start. */
  begin(bucketId: string): void {
    if (this.#bucketId === bucketId) return;
    this.#bucketId = bucketId;
    this.#records.clear();
    this.#heard = 0;
    this.#unheard = undefined;
  }

  /** Of the watch. */
  hear(record: LeaseRecord): void {
    this.#keep(record);
    this.#heard = Math.max(this.#heard, record.revision);
    if (this.#unheard !== undefined && this.#unheard.revision <= this.#heard) {
      this.#unheard = undefined;
    }
  }

  /** Of an own write, once the server has it; `now` in monotonic milliseconds. */
  wrote(key: string, value: Uint8Array, revision: number, now: number): void {
    this.#keep({ key, value, revision, operation: "PUT" });
    if (revision > this.#heard) this.#unheard ??= { revision, at: now };
  }

  /** For how long the watch has not brought what this process wrote, milliseconds. */
  deafFor(now: number): number {
    return this.#unheard === undefined ? 0 : now - this.#unheard.at;
  }

  /** A new watch is given its time. */
  listenAgain(now: number): void {
    if (this.#unheard !== undefined) this.#unheard.at = now;
  }

  view(): LeaseView {
    const view: LeaseView = { hosts: new Map(), partitions: new Map() };
    for (const record of this.#records.values()) addTo(view, record);
    return view;
  }

  #keep(record: LeaseRecord): void {
    const known = this.#records.get(record.key);
    if (known === undefined || known.revision < record.revision) {
      this.#records.set(record.key, record);
    }
  }
}

function addTo(view: LeaseView, { key, value, revision, operation }: LeaseRecord): void {
  if (operation !== "PUT") return;
  const said = decodeJson(value) as Partial<HostLease & { holder: string }> | undefined;
  const [kind, name = ""] = key.split(/\.(.*)/s);
  if (kind === "host") {
    view.hosts.set(name, { counter: Number(said?.counter ?? 0), leaving: said?.leaving === true });
  }
  if (kind === "partition") {
    view.partitions.set(Number(name), { holder: said?.holder ?? "", revision });
  }
}
