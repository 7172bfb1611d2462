import type { Client } from "pg";
import type { FenceFault } from "./fence-faults.ts";
import type { OwnerNews } from "./fence-owner.ts";

interface Round {
  readonly fault: FenceFault;
  /** Newest `seq` of each session when it began. */
  readonly after: ReadonlyMap<string, number>;
}

interface Row {
  id: string;
  seq: number;
  epoch: number;
  concern: string | null;
}

/** What the owners were told of their writes, held against the journal. */
export class FenceLedger {
  readonly #client: Client;
  /** Id of each event that was answered as durable, and to whom. */
  readonly #stored = new Map<string, string>();
  /** Id of each event that was refused as stale, and whose it was. */
  readonly #refused = new Map<string, string>();
  readonly #rounds: Round[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  get stored(): number {
    return this.#stored.size;
  }

  note(owner: string, news: OwnerNews): void {
    if (news.kind === "stored") this.#stored.set(news.id, owner);
    if (news.kind === "refused") this.#refused.set(news.id, owner);
  }

  async beginRound(fault: FenceFault): Promise<void> {
    const { rows } = await this.#client.query<{ id: string; seq: string }>(
      "select id, seq from sessions",
    );
    this.#rounds.push({ fault, after: new Map(rows.map(({ id, seq }) => [id, Number(seq)])) });
  }

  /** One writer for each epoch: epochs never fall, no seq is missing, nothing is there twice. */
  async verify(): Promise<string[]> {
    const problems: string[] = [];
    const concerns = new Map<string, number>();
    let before: Row | undefined;
    const writers = new Map<string, string>();
    for (const at of await this.#rows()) {
      const { id, seq, epoch, concern } = at;
      if (before?.id === id && seq !== before.seq + 1) problems.push(`gap before ${id} ${seq}`);
      if (before?.id === id && epoch < before.epoch) problems.push(`stale write ${id} ${seq}`);
      before = at;
      if (concern === null) continue;
      concerns.set(concern, (concerns.get(concern) ?? 0) + 1);
      const writer = this.#stored.get(concern) ?? this.#refused.get(concern);
      if (writer === undefined) continue;
      const first = writers.get(`${id} ${epoch}`) ?? writer;
      writers.set(`${id} ${epoch}`, first);
      if (first !== writer) problems.push(`${id} ${seq} is of ${writer}, its epoch of ${first}`);
    }
    for (const id of this.#stored.keys()) {
      const times = concerns.get(id) ?? 0;
      if (times !== 1) problems.push(`answered, but there ${times} times`);
    }
    // One whose answer was lost stands, though its second try came too late: in its writer's own
    // epoch, as was looked at above, and never twice.
    for (const id of this.#refused.keys()) {
      const times = concerns.get(id) ?? 0;
      if (times > 1) problems.push(`refused, but there ${times} times: ${id}`);
    }
    return problems;
  }

  /** Most changes of the writing owner that any session saw in one round, for each fault. */
  async changes(): Promise<Partial<Record<FenceFault, number>>> {
    const rows = await this.#rows();
    const most: Partial<Record<FenceFault, number>> = {};
    for (const [n, { fault, after }] of this.#rounds.entries()) {
      const until = this.#rounds[n + 1]?.after;
      const ofRound = rows.filter(({ id, seq }) => {
        const end = until?.get(id) ?? Number.POSITIVE_INFINITY;
        return seq > (after.get(id) ?? 0) && seq <= end;
      });
      most[fault] = Math.max(most[fault] ?? 0, ...this.#changesIn(ofRound));
    }
    return most;
  }

  /** For each session. Events whose answer stayed out have no known writer. */
  #changesIn(rows: readonly Row[]): number[] {
    const last = new Map<string, string>();
    const counts = new Map<string, number>();
    for (const { id, concern } of rows) {
      const writer = concern === null ? undefined : this.#stored.get(concern);
      if (writer === undefined) continue;
      const before = last.get(id);
      last.set(id, writer);
      if (before !== undefined && before !== writer) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return [...counts.values()];
  }

  async #rows(): Promise<Row[]> {
    const { rows } = await this.#client.query<{
      id: string;
      seq: string;
      epoch: string;
      concern: string | null;
    }>(
      `select session_id as id, seq, epoch, payload->>'concernId' as concern
       from events order by session_id, seq`,
    );
    return rows.map((row) => ({ ...row, seq: Number(row.seq), epoch: Number(row.epoch) }));
  }
}
