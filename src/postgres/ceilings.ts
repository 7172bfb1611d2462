import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";

/** How much one user or workspace may have at once; 0: any number. */
export interface Ceilings {
  workspacesPerUser: number;
  devicesPerUser: number;
  keysPerWorkspace: number;
  recordingsPerUser: number;
  recordingsPerWorkspace: number;
}

export const NO_CEILINGS: Ceilings = {
  workspacesPerUser: 0,
  devicesPerUser: 0,
  keysPerWorkspace: 0,
  recordingsPerUser: 0,
  recordingsPerWorkspace: 0,
};

interface Ceiling {
  /** How many there may be; 0: any number. */
  most: number;
  /** Of whom, and what is counted, as in "One user has at most 20 workspaces". */
  whose: "user" | "workspace";
  what: string;
  ownerId: string;
  /** SQL for the rows that count, as in `workspaces where …`. */
  counted: FragmentSqlToken;
}

const countRow = z.object({ count: z.number() });

/**
 * Throws `quota_exceeded` when one more would be too many. Nobody else can add one until this
 * transaction ends, so that two at once do not both take the last place.
 */
export async function assertBelowCeiling(
  tx: CommonQueryMethods,
  { most, whose, what, ownerId, counted }: Ceiling,
): Promise<void> {
  if (most === 0) return;
  const place = `${what} of ${ownerId}`;
  await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`);
  const { count } = await tx.one(sql.type(countRow)`
    select count(*)::int as count from (select from ${counted} limit ${most}) as taken`);
  if (count < most) return;
  throw new AppError(
    "quota_exceeded",
    `One ${whose} has at most ${most} ${what}. End one first, or ask the operator for more.`,
  );
}
