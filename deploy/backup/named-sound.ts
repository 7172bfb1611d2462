import { z } from "zod";

/**
 * Which files of sound the record names, and what each may hold: the sessions' own table of chunks.
 * Whatever else comes to be named in the audio folder has to be named here too.
 */
function namedSound(where: string): string {
  return `
    select c.session_id as session, encode(c.sha256, 'hex') as name,
      case when count(c.stored_sha256) > 0 or bool_and(c.digest_known and c.silence_done = 0)
        then array_to_string(
          coalesce(array_agg(distinct encode(c.stored_sha256, 'hex'))
            filter (where c.stored_sha256 is not null), array[encode(c.sha256, 'hex')])
          || coalesce(array_agg(distinct encode(c.next_sha256, 'hex'))
            filter (where c.next_sha256 is not null), '{}'), ',')
        else '' end as digests,
      bool_or(d.session_id is not null) as damaged, max(c.bytes) as bytes
    from chunks c join sessions s on s.id = c.session_id
      left join damaged_audio d
        on d.session_id = c.session_id and d.sequence = c.sequence and d.mended_at is null
    where s.status <> 'deleted'${where}
    group by c.session_id, c.sha256`;
}

/** For `copy`: all of them, in an order that stays. */
export const NAMED_SOUND = `(${namedSound("")} order by 1, 2)`;

/** For one: $1 is the session, $2 the file's name. */
export const ONE_NAMED_SOUND = namedSound(
  " and c.session_id = $1 and c.sha256 = decode($2, 'hex')",
);

export interface NamedSound {
  readonly session: string;
  /** SHA-256 (hex) of what was sent. */
  readonly name: string;
  /** SHA-256 (hex) of what the file may hold; undefined where that is not known. */
  readonly digests: readonly string[] | undefined;
  /** The service has noted that the file is not whole. */
  readonly isDamaged: boolean;
  readonly bytes: number;
}

const line = z.tuple([
  z.string().uuid(),
  z.string().regex(/^[0-9a-f]{64}$/),
  z.string(),
  z.enum(["t", "f"]),
  z.coerce.number().int().nonnegative(),
]);

/** A line of `copy`. */
export function parseNamed(text: string): NamedSound {
  const [session, name, digests, damaged, bytes] = line.parse(text.split("\t"));
  return { session, name, digests: digestsOf(digests), isDamaged: damaged === "t", bytes };
}

export function digestsOf(text: string): string[] | undefined {
  return text === "" ? undefined : text.split(",");
}
