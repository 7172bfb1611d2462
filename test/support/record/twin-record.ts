import { partitionOf } from "../../../src/base/partition.ts";
import type { Runtime } from "../../../src/base/runtime.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import { SeededRandom } from "../seeded-random.ts";
import { Moods } from "./moods.ts";
import { RecordClient } from "./record-client.ts";
import { RecordServer, type ServerTimes } from "./record-server.ts";
import { SimLeases } from "./sim-leases.ts";
import type { Cast, HostHooks, HostRecord, RowOf, SimRecord, TableName } from "./sim-record.ts";
import type { Table } from "./table.ts";
import { TwinAudio } from "./twin-audio.ts";
import { TwinChunks, writeOutbox } from "./twin-chunks.ts";
import { TwinDeletion } from "./twin-deletion.ts";
import { TwinDevices } from "./twin-devices.ts";
import { TwinEdits } from "./twin-edits.ts";
import { TwinBacklog, TwinCommandRecord, TwinJournal, type TwinParts } from "./twin-journal.ts";
import { TwinLive } from "./twin-live.ts";
import { TwinOpenChunks } from "./twin-open-chunks.ts";
import { TwinRedactedSpans, TwinRedactions } from "./twin-redactions.ts";
import { TwinSessions } from "./twin-sessions.ts";
import { TwinStreams } from "./twin-streams.ts";

/** The record in memory: tables, locks and moods, and no SQL. */
export class TwinRecord implements SimRecord {
  readonly moods: Moods;
  readonly server: RecordServer;
  readonly #leases: SimLeases;

  /** @param runtime of the database's machine: its time is what `now()` gives */
  constructor(runtime: Runtime, seed: number, times: Partial<ServerTimes> = {}) {
    this.moods = new Moods(new SeededRandom(seed));
    this.server = new RecordServer(runtime, times);
    this.#leases = new SimLeases(this.moods, runtime);
  }

  host(name: string, runtime: Runtime, hooks: HostHooks): HostRecord {
    const { server, moods } = this;
    const client = new RecordClient({ host: name, server, moods, runtime });
    const parts: TwinParts = { client, t: server.tables, runtime, newId: () => runtime.newId() };
    const devices = new TwinDevices(parts);
    let isDead = false;
    const leaseHost = { name, runtime, isDead: () => isDead };
    return {
      leases: this.#leases.of(leaseHost),
      owners: this.#leases.owners(leaseHost),
      journal: new TwinJournal(parts, () => hooks.onFenced?.()),
      backlog: new TwinBacklog(parts),
      commands: new TwinCommandRecord(parts),
      sessions: new TwinSessions(parts),
      chunks: new TwinChunks(parts),
      streams: new TwinStreams(parts),
      openChunks: new TwinOpenChunks(parts),
      edits: new TwinEdits(parts),
      deletion: new TwinDeletion(parts),
      redactions: new TwinRedactions(parts),
      redacted: new TwinRedactedSpans(parts),
      audio: new TwinAudio(parts, hooks),
      live: new TwinLive(parts),
      heartbeats: devices,
      signs: devices,
      kill: () => {
        isDead = true;
        client.kill();
        this.#leases.kill(name);
      },
    };
  }

  async add({ users = [], devices = [], webhooks = [] }: Cast): Promise<void> {
    const { server } = this;
    const t = server.tables;
    const transaction = server.begin();
    await server.execute(transaction, async (s) => {
      for (const user of users) await s.insertNew(t.users, user);
      for (const device of devices) await s.insertNew(t.devices, device);
      for (const webhook of webhooks) await s.insertNew(t.webhooks, webhook);
    });
    server.commit(transaction);
  }

  async tell(row: OutboxRow): Promise<boolean> {
    const { server } = this;
    const t = server.tables;
    const transaction = server.begin();
    const isTold = await server.execute(transaction, async (s) => {
      const session = await s.lock(t.sessions, row.sessionId, "update");
      if (session === undefined || session.status === "deleted") return false;
      await writeOutbox(s.next(), t, row);
      return true;
    });
    server.commit(transaction);
    return isTold;
  }

  cutLeases(host: string, isCut: boolean): void {
    this.#leases.cut(host, isCut);
  }

  holder(sessionId: string): string | undefined {
    return this.#leases.holder(partitionOf(sessionId));
  }

  async rows<K extends TableName>(name: K, group?: string): Promise<RowOf<K>[]> {
    const { server } = this;
    const table = server.tables[name] as unknown as Table<RowOf<K>>;
    const transaction = server.begin();
    try {
      return await server.execute(transaction, (s) => s.all(table, group));
    } finally {
      server.commit(transaction);
    }
  }

  async step(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {}
}
