import { sql } from "slonik";

/** Unix milliseconds as a `timestamptz`. */
export function toInstant(milliseconds: number): ReturnType<typeof sql.fragment> {
  return sql.fragment`to_timestamp(${milliseconds}::double precision / 1000)`;
}

/** True for a row whose `updated_at` is this, in milliseconds; of any row when not told. */
export function updatedAt(milliseconds: number | undefined): ReturnType<typeof sql.fragment> {
  if (milliseconds === undefined) return sql.fragment`true`;
  return sql.fragment`date_trunc('milliseconds', updated_at) = ${toInstant(milliseconds)}`;
}
