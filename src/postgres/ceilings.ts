import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";

interface Counted {
  whose: "user" | "workspace";
  /** As in "One user has at most 20 devices". */
  what: string;
  /** SQL for the rows of this user or workspace that count. */
  rows(id: string): FragmentSqlToken;
}

const RECORDING = { what: "sessions that record at once" };

const COUNTED = {
  workspaces_per_user: {
    ...{ whose: "user", what: "workspaces" },
    rows: (id) => sql.fragment`workspaces where created_by = ${id} and deleted_at is null`,
  },
  devices_per_user: {
    ...{ whose: "user", what: "devices" },
    rows: (id) => sql.fragment`devices where owner_id = ${id} and status = 'paired'`,
  },
  devices_per_workspace: {
    ...{ whose: "workspace", what: "devices" },
    rows: (id) => sql.fragment`devices where workspace_id = ${id} and status = 'paired'`,
  },
  keys_per_workspace: {
    ...{ whose: "workspace", what: "service keys" },
    rows: (id) => sql.fragment`service_keys where workspace_id = ${id} and revoked_at is null`,
  },
  webhooks_per_workspace: {
    ...{ whose: "workspace", what: "webhooks" },
    rows: (id) => sql.fragment`webhooks where workspace_id = ${id}`,
  },
  recordings_per_user: {
    ...{ whose: "user", ...RECORDING },
    rows: (id) => sql.fragment`sessions where owner_id = ${id} and status = 'recording'`,
  },
  recordings_per_workspace: {
    ...{ whose: "workspace", ...RECORDING },
    rows: (id) => sql.fragment`sessions where workspace_id = ${id} and status = 'recording'`,
  },
} as const satisfies Record<string, Counted>;

const STORED = "stored_bytes_per_workspace";

type CountedName = keyof typeof COUNTED;
type CeilingName = CountedName | typeof STORED;

const CEILINGS = [...(Object.keys(COUNTED) as CountedName[]), STORED] as const;

/** How much there may be of each; 0: any number. */
export type CeilingLimits = Readonly<Record<CeilingName, number>>;

const countRow = z.object({ count: z.number() });
const placeRow = z.object({ workspaceId: z.string() });
const bytesRow = z.object({ bytes: z.number() });

/** How much there is, and how much there may be; `most` undefined: any number. */
interface Use {
  used: number;
  most: number | undefined;
}

/** What a workspace has of all that has a ceiling; bytes are of its audio. */
export interface WorkspaceUse {
  devices: Use;
  keys: Use;
  webhooks: Use;
  recordings: Use;
  storedBytes: Use;
}

const useRow = z.object({
  devices: z.number(),
  keys: z.number(),
  webhooks: z.number(),
  recordings: z.number(),
  storedBytes: z.number(),
});

/**
 * SQL for the bytes of a workspace's audio: of its chunks, of what is being streamed, and of whole
 * files that are not stored yet.
 */
function storedBytes(workspaceId: string): FragmentSqlToken {
  return sql.fragment`(
    (select coalesce(sum(bytes), 0) from stored_audio where workspace_id = ${workspaceId})
    + (select coalesce(sum(a.unsealed_bytes), 0)
      from sessions s join audio_streams a on a.session_id = s.id
      where s.workspace_id = ${workspaceId} and s.status in ('recording', 'processing'))
    + (select coalesce(sum(size), 0) from file_uploads
      where workspace_id = ${workspaceId} and state in ('receiving', 'received', 'storing'))
  )::bigint`;
}

/**
 * How much one user or workspace may have. It is judged in the transaction in which something
 * begins; what is there stays, and what goes on goes on.
 */
export class Ceilings {
  readonly #limits: Partial<CeilingLimits>;
  readonly #refused = new Map<CeilingName, number>(CEILINGS.map((name) => [name, 0]));

  constructor(limits: Partial<CeilingLimits>) {
    this.#limits = limits;
  }

  /** How often each was reached, since the start of the process. */
  get refused(): ReadonlyMap<CeilingName, number> {
    return this.#refused;
  }

  /** Undefined: any number. */
  most(name: CeilingName): number | undefined {
    return this.#limits[name] || undefined;
  }

  /**
   * Throws `quota_exceeded` when one more would be too many. Nobody else can add one until this
   * transaction ends, so that two at once do not both take the last place.
   *
   * @param exceptId the row that is being added, where it is there already
   */
  async assertRoom(
    tx: CommonQueryMethods,
    name: CountedName,
    ownerId: string,
    exceptId?: string,
  ): Promise<void> {
    const most = this.most(name);
    if (most === undefined) return;
    const place = `${name} of ${ownerId}`;
    await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`);
    const { whose, what, rows } = COUNTED[name];
    const others =
      exceptId === undefined
        ? rows(ownerId)
        : sql.fragment`${rows(ownerId)} and id <> ${exceptId}::uuid`;
    const { count } = await tx.one(sql.type(countRow)`
      select count(*)::int as count from (select from ${others} limit ${most}) as taken`);
    if (count < most) return;
    this.#refuse(
      name,
      `One ${whose} has at most ${most} ${what}. End one first, or ask the operator for more.`,
    );
  }

  /** Throws `quota_exceeded` when the workspace holds as much audio as it may, or more. */
  async assertStoredBytes(tx: CommonQueryMethods, workspaceId: string): Promise<void> {
    const most = this.most(STORED);
    if (most === undefined) return;
    const { bytes } = await tx.one(sql.type(bytesRow)`
      select ${storedBytes(workspaceId)} as bytes`);
    if (bytes < most) return;
    this.#refuse(
      STORED,
      `One workspace stores at most ${most} bytes of audio, and this one has ${bytes}. Delete sessions first, or ask the operator for more.`,
    );
  }

  /** The same for the workspace of a session; of one that is gone nothing is judged. */
  async assertSessionBytes(connection: CommonQueryMethods, sessionId: string): Promise<void> {
    if (this.most(STORED) === undefined) return;
    const place = await connection.maybeOne(sql.type(placeRow)`
      select workspace_id as "workspaceId" from sessions where id = ${sessionId}`);
    if (place !== null) await this.assertStoredBytes(connection, place.workspaceId);
  }

  async workspaceUse(connection: CommonQueryMethods, workspaceId: string): Promise<WorkspaceUse> {
    const count = (name: CountedName) =>
      sql.fragment`(select count(*)::int from ${COUNTED[name].rows(workspaceId)})`;
    const used = await connection.one(sql.type(useRow)`
      select ${count("devices_per_workspace")} as devices, ${count("keys_per_workspace")} as keys,
        ${count("webhooks_per_workspace")} as webhooks,
        ${count("recordings_per_workspace")} as recordings,
        ${storedBytes(workspaceId)} as "storedBytes"`);
    return {
      devices: { used: used.devices, most: this.most("devices_per_workspace") },
      keys: { used: used.keys, most: this.most("keys_per_workspace") },
      webhooks: { used: used.webhooks, most: this.most("webhooks_per_workspace") },
      recordings: { used: used.recordings, most: this.most("recordings_per_workspace") },
      storedBytes: { used: used.storedBytes, most: this.most(STORED) },
    };
  }

  #refuse(name: CeilingName, message: string): never {
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
    throw new AppError("quota_exceeded", message);
  }
}

/** The bytes of all audio that is stored, as of the last poll. */
export class StoredAudio {
  readonly #pool: CommonQueryMethods;
  #bytes = 0;

  constructor(pool: CommonQueryMethods) {
    this.#pool = pool;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async refresh(): Promise<void> {
    const { bytes } = await this.#pool.one(sql.type(bytesRow)`
      select coalesce(sum(bytes), 0)::bigint as bytes from stored_audio`);
    this.#bytes = bytes;
  }
}

/** For who adds nothing that has a ceiling. */
export const NO_CEILINGS = new Ceilings({});
