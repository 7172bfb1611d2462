import { type FragmentSqlToken, sql } from "slonik";

/**
 * The end of `update TABLE r set …`: rows whose right the ledger of erasures says had ended (entries of `kind`),
 * and which `until` says is in use again, as after the restore of a backup. `e.at` is when it ended.
 *
 * @param until until when the right of row `r` lasts, a timestamp
 */
export function endedAgain(kind: string, until: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    from erasures e where e.subject_id = r.id and e.kind = ${kind}
      and ${until} >= e.at + interval '1 millisecond'`;
}
