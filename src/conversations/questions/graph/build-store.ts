import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import { readSpeakers } from "../../sessions/speakers-store.ts";
import { unclearWords } from "../../transcript/segments-store.ts";
import { wordsColumn } from "../../transcript/writing/segment-row.ts";
import type { GraphInput, GraphState, SessionGraph } from "./records.ts";

const stateRow = z.object({
  sessionId: z.string(),
  builtAt: optionalColumn(z.number()),
  ageMs: z.number(),
  isCurrent: z.boolean(),
  inputHash: optionalColumn(z.string()),
  language: z.string(),
});

const lockedRow = z.object({ workspaceId: z.string(), seq: z.number() });

const sessionRow = lockedRow.extend({ language: z.string() });

/** SQL for the language in which session `s` is read, with its transcription `t`. */
const languageRead = sql.fragment`coalesce(nullif(t.forced_language, ''), s.language)`;

/** Six notes are made twice at most before a graph is looked at again. */
const MOST_NOTES = 12;

/** SQL condition: nothing but summaries, marks and changed action items came to session `s` since the input of its graph `b` was read. */
const onlyNotesSince = sql.fragment`(s.seq - b.seq <= ${MOST_NOTES} and s.seq - b.seq = (
  select count(*) from events e
  where e.session_id = s.id and e.seq > b.seq and e.type in ('SummaryUpdated', 'AnnotationChanged')))`;

const segmentRow = z.object({
  id: z.string(),
  label: z.string(),
  start: z.number(),
  end: z.number(),
  words: wordsColumn,
  hash: z.string(),
});

const countRow = z.object({ count: z.number() });

/**
 * Deletes a session's graph, in the transaction that erases its words. Returns how many graphs were
 * deleted: one or none.
 */
export async function eraseGraph(
  connection: CommonQueryMethods,
  { id }: { id: string },
): Promise<{ graphs: number }> {
  const { rowCount } = await connection.query(sql.unsafe`
    delete from graph_builds where session_id = ${id}`);
  return { graphs: rowCount };
}

/** Graphs of sessions in PostgreSQL. Every method throws `unavailable` when storage is away. */
export class GraphBuildStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Returns the states of the sessions that exist and are not deleted. */
  async states(sessionIds: readonly string[]): Promise<GraphState[]> {
    const rows = await this.#pool.any(sql.type(stateRow)`
      select
        s.id as "sessionId",
        b.built_at as "builtAt",
        coalesce(extract(epoch from now() - b.built_at) * 1000, 0)::float8 as "ageMs",
        coalesce(b.seq >= s.seq or ${onlyNotesSince}, false) as "isCurrent",
        encode(b.input_hash, 'hex') as "inputHash",
        ${languageRead} as language
      from sessions s
      left join graph_builds b on b.session_id = s.id
      left join jobs t on t.id = s.job_id
      where s.id = any(${sql.array([...sessionIds], "uuid")}) and s.status <> 'deleted'
      order by s.id`);
    return [...rows];
  }

  /**
   * Reads the input of a session's graph, without redacted segments. Undefined for a deleted
   * session.
   */
  async input(sessionId: string): Promise<GraphInput | undefined> {
    // `seq` is read first: words that come in between make the graph look older than it is.
    const session = await this.#pool.maybeOne(sql.type(sessionRow)`
      select s.workspace_id as "workspaceId", s.seq, ${languageRead} as language
      from sessions s left join jobs t on t.id = s.job_id
      where s.id = ${sessionId} and s.status <> 'deleted'`);
    if (session === null) return undefined;
    const segments = await this.#pool.any(sql.type(segmentRow)`
      select id, label, start_sample as start, end_sample as "end", words, ${heardHash()} as hash
      from segments s
      where session_id = ${sessionId} and not redacted
      order by start_sample, id`);
    const speakers = await readSpeakers(this.#pool, sessionId);
    return {
      sessionId,
      ...session,
      segments: [...segments],
      speakers: speakers.map(({ label, displayName }) => ({ label, name: displayName ?? "" })),
    };
  }

  /** Marks the graph as current for `seq` when its input has not changed. */
  async confirm(sessionId: string, seq: number, inputHash: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update graph_builds set seq = ${seq}, built_at = now()
      where session_id = ${sessionId} and input_hash = decode(${inputHash}, 'hex')
        and seq < ${seq}`);
  }

  /**
   * Replaces the session's graph in one step. False, and nothing is stored, when an input word has
   * been changed, replaced or redacted meanwhile, or the session deleted: so no erased word comes
   * back.
   */
  replace(input: GraphInput, inputHash: string, graph: SessionGraph): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      if (!(await isUnchanged(tx, input))) return false;
      const { sessionId, seq } = input;
      await eraseGraph(tx, { id: sessionId });
      await tx.query(sql.unsafe`
        insert into graph_builds (session_id, seq, input_hash)
        values (${sessionId}, ${seq}, decode(${inputHash}, 'hex'))`);
      await insertGraph(tx, sessionId, graph);
      return true;
    });
  }
}

/** SQL for a hash of the text of segment `s` and of which of its words are unclear. */
function heardHash() {
  return sql.fragment`md5(s.text || array_to_string(${unclearWords(sql.fragment`s.words`)}, ','))`;
}

/**
 * Checks the input under the session's lock, which every append and every deletion takes as well.
 */
async function isUnchanged(tx: CommonQueryMethods, input: GraphInput): Promise<boolean> {
  const alive = await tx.maybeOne(sql.type(lockedRow)`
    select workspace_id as "workspaceId", seq from sessions
    where id = ${input.sessionId} and status <> 'deleted' for update`);
  if (alive === null) return false;
  const read = input.segments.map(({ id, hash }) => [id, hash]);
  const { count } = await tx.one(sql.type(countRow)`
    select count(*)::int as count
    from ${sql.unnest(read, ["uuid", "text"])} as was (id, hash)
    join segments s on s.session_id = ${input.sessionId} and s.id = was.id
    where not s.redacted and ${heardHash()} = was.hash`);
  return count === read.length;
}

async function insertGraph(
  tx: CommonQueryMethods,
  sessionId: string,
  { entities, mentions, links }: SessionGraph,
): Promise<void> {
  const entityRows = entities.map(({ id, type, name, aliases, labels }) => [
    id,
    type,
    name,
    JSON.stringify(aliases),
    JSON.stringify(labels),
  ]);
  await tx.query(sql.unsafe`
    insert into graph_entities (session_id, id, type, name, aliases, labels)
    select ${sessionId}, e.*
    from ${sql.unnest(entityRows, ["uuid", "text", "text", "jsonb", "jsonb"])}
      as e (id, type, name, aliases, labels)`);
  const mentionRows = mentions.map(({ entityId, segmentId, start, end, spoke }) => [
    entityId,
    segmentId,
    start,
    end,
    spoke,
  ]);
  await tx.query(sql.unsafe`
    insert into graph_mentions
      (session_id, entity_id, segment_id, start_sample, end_sample, spoke)
    select ${sessionId}, m.*
    from ${sql.unnest(mentionRows, ["uuid", "uuid", "int8", "int8", "bool"])}
      as m (entity_id, segment_id, start_sample, end_sample, spoke)
    on conflict do nothing`);
  const linkRows = links.map(({ sourceId, targetId, kind, label, weight, segmentId }) => [
    sourceId,
    targetId,
    kind,
    label,
    weight,
    segmentId,
  ]);
  await tx.query(sql.unsafe`
    insert into graph_links (session_id, source_id, target_id, kind, label, weight, segment_id)
    select ${sessionId}, l.*
    from ${sql.unnest(linkRows, ["uuid", "uuid", "text", "text", "float4", "uuid"])}
      as l (source_id, target_id, kind, label, weight, segment_id)`);
}
