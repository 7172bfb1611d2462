import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import type { Stack } from "../../src/base/stack.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { connectBus } from "../../src/nats/connect.ts";
import { LiveFanout } from "../../src/nats/live-fanout.ts";
import { NatsMessageBus } from "../../src/nats/message-bus.ts";
import { PostgresLeaseTable } from "../../src/postgres/lease-store.ts";
import { SessionBacklog } from "../../src/postgres/outbox.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { SessionAudio } from "../../src/recognition/session-audio-store.ts";
import { type Actors, createActors } from "../../src/roles/actors.ts";
import type { SessionFixture } from "./session-fixture.ts";
import { until } from "./until.ts";
import { verifiedAudio } from "./verified-audio.ts";

/** Of the hosts here, milliseconds. */
export const LEASE = 1_200;
const FEWEST_SESSIONS = 8;

const writtenRow = z.object({ epoch: z.number(), seq: z.number() });

/** Where a host finds its servers. */
export interface HostAddresses {
  nats: { url: string; token: string };
  database: string;
}

/** A host of sessions over connections of its own. */
export async function startLeaseHost(
  name: string,
  { nats, database }: HostAddresses,
  fixture: SessionFixture,
  stack: Stack,
): Promise<Actors> {
  const bus = await connectBus({ ...nats, name, log: silentLog });
  const pool = await createPool(database, { maximumPoolSize: 8, statementTimeout: 2_000 });
  const leases = await createPool(database, { maximumPoolSize: 1, statementTimeout: LEASE * 0.4 });
  const line = new NatsMessageBus(bus);
  const actors = createActors({
    host: name,
    journal: new SessionJournal(pool),
    backlog: new SessionBacklog(pool),
    source: new SessionAudio(pool, verifiedAudio(pool, fixture.blobs)),
    transcribers: {
      isCrowded: false,
      open() {
        throw new AppError("unavailable", "There are no workers here.");
      },
    },
    line,
    table: new PostgresLeaseTable(leases, name),
    fanout: new LiveFanout(line, systemRuntime),
    leaseMs: LEASE,
    passivateMs: 600_000,
    runtime: systemRuntime,
    log: silentLog,
  });
  actors.host.start();
  actors.inbox.start();
  actors.sweeper.start();
  await actors.owner.start();
  stack.push(`bus of ${name}`, () => bus.close());
  stack.push(`pool of ${name}`, () => pool.end());
  stack.push(`leases of ${name}`, () => leases.end());
  stack.push(`inbox of ${name}`, () => actors.inbox.stop());
  stack.push(`sweeper of ${name}`, () => actors.sweeper.stop());
  stack.push(`actors of ${name}`, () => actors.host.drain());
  stack.push(`partitions of ${name}`, () => actors.owner.stop());
  return actors;
}

/** Both own half of everything. */
export const isHalved = (all: readonly Actors[]) => () =>
  all.every(({ owner }) => owner.owned.size === PARTITIONS / 2);

/** Sessions of which some live on each of these hosts. */
export async function startSessions(
  fixture: SessionFixture,
  hosts: readonly Actors[],
): Promise<string[]> {
  const { device } = await fixture.ownDevice();
  const ids: string[] = [];
  const hasOne = ({ owner }: Actors) => ids.some((id) => owner.owned.has(partitionOf(id)));
  while (ids.length < FEWEST_SESSIONS || !hosts.every(hasOne)) {
    ids.push(await fixture.start(device, { title: "T" }));
    await fixture.stop(device);
  }
  return ids;
}

/** Writes to each of the sessions wherever a host believes to have it, as its effects do. */
export class SteadyWriting {
  readonly #ids: readonly string[];
  readonly #pool: DatabasePool;
  readonly #stop = new AbortController();
  readonly #work: Promise<void>[];

  constructor(hosts: readonly Actors[], ids: readonly string[], pool: DatabasePool) {
    this.#ids = ids;
    this.#pool = pool;
    const { signal } = this.#stop;
    this.#work = hosts.flatMap((host) => ids.map((id) => keepWriting(host, id, signal)));
  }

  #look(): Promise<readonly { epoch: number; seq: number }[]> {
    return this.#pool.any(sql.type(writtenRow)`
      select epoch, seq from sessions
      where id = any(${sql.array(this.#ids, "uuid")}) order by id`);
  }

  async epochs(): Promise<number[]> {
    return (await this.#look()).map(({ epoch }) => epoch);
  }

  /** All of them are written to from now on. */
  async goesOn(why: string): Promise<void> {
    const from = await this.#look();
    const areOn = async () =>
      (await this.#look()).every(({ seq }, index) => seq > (from[index]?.seq ?? 0) + 20);
    await until(areOn, `all to be written to${why}`, 20_000);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#work);
  }
}

async function keepWriting({ host }: Actors, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const command = { type: "ConcernStored", concernId: newId() } as const;
    if (host.owned.includes(partitionOf(id))) {
      await host.deliver(id, command, newId()).catch(() => {});
    }
    await systemRuntime.delay(40);
  }
}
