import { sql } from "slonik";

/** Unix milliseconds as a `timestamptz`. */
export function toInstant(milliseconds: number): ReturnType<typeof sql.fragment> {
  return sql.fragment`to_timestamp(${milliseconds}::double precision / 1000)`;
}
