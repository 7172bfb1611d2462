import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";

/** What is counted of one user or of one workspace, as in "One user has at most 20 devices". */
const COUNTED = {
  workspaces_per_user: { whose: "user", what: "workspaces" },
  devices_per_user: { whose: "user", what: "devices" },
  devices_per_workspace: { whose: "workspace", what: "devices" },
  keys_per_workspace: { whose: "workspace", what: "service keys" },
  webhooks_per_workspace: { whose: "workspace", what: "webhooks" },
  recordings_per_user: { whose: "user", what: "sessions that record at once" },
  recordings_per_workspace: { whose: "workspace", what: "sessions that record at once" },
} as const;

type Counted = keyof typeof COUNTED;
export type CeilingName = Counted;

const CEILINGS = Object.keys(COUNTED) as readonly CeilingName[];

/** How much there may be of each; 0: any number. */
export type CeilingLimits = Readonly<Record<CeilingName, number>>;

const countRow = z.object({ count: z.number() });

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
   * @param counted SQL for the rows that count, as in `workspaces where …`
   */
  async assertRoom(
    tx: CommonQueryMethods,
    name: Counted,
    ownerId: string,
    counted: FragmentSqlToken,
  ): Promise<void> {
    const most = this.most(name);
    if (most === undefined) return;
    const place = `${name} of ${ownerId}`;
    await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`);
    const { count } = await tx.one(sql.type(countRow)`
      select count(*)::int as count from (select from ${counted} limit ${most}) as taken`);
    if (count < most) return;
    const { whose, what } = COUNTED[name];
    this.#refuse(
      name,
      `One ${whose} has at most ${most} ${what}. End one first, or ask the operator for more.`,
    );
  }

  #refuse(name: CeilingName, message: string): never {
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
    throw new AppError("quota_exceeded", message);
  }
}

/** For who adds nothing that has a ceiling. */
export const NO_CEILINGS = new Ceilings({});
