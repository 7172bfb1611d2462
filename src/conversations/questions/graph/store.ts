import { type DatabasePool, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import { ENTITY_TYPES } from "../../../base/entity-types.ts";
import { allOf, nameColumn } from "../../../postgres/columns.ts";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import { USER_DISPLAY_NAME } from "../../sessions/speakers-store.ts";
import type {
  EntityRecord,
  GraphEdge,
  GraphFilter,
  MentionPosition,
  MentionRecord,
  RelationRecord,
  SpokenEvidence,
} from "./records.ts";

const MAX_ALIASES = 12;
/** Most segments shown for one relation. */
const EVIDENCE = 3;
const MAX_TEXT = 500;

const entityRow = z.object({
  id: z.string(),
  type: z.enum(ENTITY_TYPES),
  name: z.string(),
  spellings: z.array(z.array(z.string())),
  voices: z.array(z.object({ session_id: z.string(), labels: z.array(z.string()) })),
  mentionCount: z.number(),
  sessionCount: z.number(),
  firstAt: z.number(),
  lastAt: z.number(),
  total: z.number(),
});

const evidenceColumn = z
  .object({
    session_id: z.string(),
    segment_id: z.string(),
    start: z.number(),
    end: z.number(),
    label: z.string(),
  })
  .transform(({ session_id: sessionId, segment_id: segmentId, ...rest }) => ({
    sessionId,
    segmentId,
    ...rest,
  }));

const relationRow = z.object({
  sourceId: z.string(),
  targetId: z.string(),
  kind: z.enum(["co_occurrence", "action", "talks_about"]),
  label: z.string(),
  weight: z.number(),
  firstAt: z.number(),
  lastAt: z.number(),
  evidence: z.array(evidenceColumn),
});

const spokenRow = z.object({
  sessionId: z.string(),
  segmentId: z.string(),
  start: z.number(),
  end: z.number(),
  label: z.string(),
  text: z.string(),
  name: optionalColumn(nameColumn),
  at: z.number(),
});

const mentionRow = spokenRow.extend({ spoke: z.boolean() });

const edgeRow = z.object({ sourceId: z.string(), targetId: z.string(), weight: z.number() });

type Ids = readonly string[];
type Span = Pick<GraphFilter, "from" | "to">;

function isOneOf(column: Fragment, ids: Ids): Fragment {
  return sql.fragment`${column} = any(${sql.array([...ids], "uuid")})`;
}

/** SQL for the time of a position on the timeline of session `s`. */
function instantOf(position: Fragment): Fragment {
  return sql.fragment`(s.started_at + ${position} / 16000.0 * interval '1 second')`;
}

function within(position: Fragment, { from, to }: Span): Fragment {
  const conditions = [sql.fragment`true`];
  const instant = instantOf(position);
  if (from !== undefined) {
    conditions.push(sql.fragment`${instant} >= ${new Date(from).toISOString()}::timestamptz`);
  }
  if (to !== undefined) {
    conditions.push(sql.fragment`${instant} < ${new Date(to).toISOString()}::timestamptz`);
  }
  return sql.fragment`${allOf(conditions)}`;
}

/**
 * Reads the graphs of several sessions as one. Only the given sessions count; deleted sessions and
 * erased or redacted segments are left out. Every method throws `unavailable` when storage is away.
 */
export class GraphStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Entities, most mentioned first; `total` also counts those beyond the limit. */
  async entities(
    sessionIds: Ids,
    filter: GraphFilter,
  ): Promise<{ entities: EntityRecord[]; total: number }> {
    const { types, minMentions = 1, text, limit } = filter;
    const wanted = [sql.fragment`"mentionCount" >= ${minMentions}`];
    if (types !== undefined) {
      wanted.push(sql.fragment`type = any(${sql.array([...types], "text")})`);
    }
    if (text !== undefined) {
      wanted.push(sql.fragment`strpos(lower(name || ' ' || spellings::text), lower(${text})) > 0`);
    }
    const rows = await this.#entities(sessionIds, sql.fragment`true`, filter, wanted, limit);
    return { entities: rows.map(toEntity), total: rows[0]?.total ?? 0 };
  }

  async entity(sessionIds: Ids, entityId: string): Promise<EntityRecord | undefined> {
    const [entity] = await this.entitiesById(sessionIds, [entityId]);
    return entity;
  }

  /** Entities by id, in the order given; unknown ids are left out. */
  async entitiesById(sessionIds: Ids, entityIds: Ids): Promise<EntityRecord[]> {
    const which = isOneOf(sql.fragment`m.entity_id`, entityIds);
    const rows = await this.#entities(sessionIds, which, {}, [], entityIds.length);
    const found = new Map(rows.map((row) => [row.id, toEntity(row)]));
    return entityIds.flatMap((id) => found.get(id) ?? []);
  }

  #entities(
    sessionIds: Ids,
    which: Fragment,
    span: Span,
    wanted: readonly Fragment[],
    limit: number,
  ) {
    return this.#pool.any(sql.type(entityRow)`
      with counted as (
        select
          m.session_id, m.entity_id, count(*)::int as mentions,
          min(${instantOf(sql.fragment`m.start_sample`)}) as first_at,
          max(${instantOf(sql.fragment`m.start_sample`)}) as last_at
        from graph_mentions m
        join sessions s on s.id = m.session_id and s.status <> 'deleted'
        join segments g
          on g.session_id = m.session_id and g.id = m.segment_id and not g.redacted
        where ${isOneOf(sql.fragment`m.session_id`, sessionIds)} and ${which}
          and ${within(sql.fragment`m.start_sample`, span)}
        group by m.session_id, m.entity_id
      ),
      merged as (
        select
          e.id,
          (array_agg(e.type order by e.type = 'speaker' desc, c.mentions desc, e.session_id))[1]
            as type,
          (array_agg(e.name order by e.type = 'speaker' desc, c.mentions desc, e.session_id))[1]
            as name,
          jsonb_agg(jsonb_build_array(e.name) || e.aliases
            order by c.mentions desc, e.session_id) as spellings,
          jsonb_agg(jsonb_build_object('session_id', e.session_id, 'labels', e.labels)
            order by e.session_id) as voices,
          sum(c.mentions)::int as "mentionCount",
          count(*)::int as "sessionCount",
          min(c.first_at) as "firstAt",
          max(c.last_at) as "lastAt"
        from counted c
        join graph_entities e on e.session_id = c.session_id and e.id = c.entity_id
        group by e.id
      )
      select *, count(*) over ()::int as total
      from merged
      where ${allOf([sql.fragment`true`, ...wanted])}
      order by "mentionCount" desc, name, id
      limit ${limit}`);
  }

  /** Relations between any two of these entities, the strongest first. */
  relations(sessionIds: Ids, entityIds: Ids, span: Span, limit: number): Promise<RelationRecord[]> {
    const source = isOneOf(sql.fragment`l.source_id`, entityIds);
    const target = isOneOf(sql.fragment`l.target_id`, entityIds);
    return this.#relations(sessionIds, sql.fragment`${source} and ${target}`, span, limit);
  }

  /** Relations of one entity, the strongest first. */
  relationsOf(sessionIds: Ids, entityId: string, limit: number): Promise<RelationRecord[]> {
    const which = sql.fragment`(l.source_id = ${entityId} or l.target_id = ${entityId})`;
    return this.#relations(sessionIds, which, {}, limit);
  }

  async #relations(
    sessionIds: Ids,
    which: Fragment,
    span: Span,
    limit: number,
  ): Promise<RelationRecord[]> {
    const place = sql.fragment`
      jsonb_build_object('session_id', g.session_id, 'segment_id', g.id,
        'start', g.start_sample, 'end', g.end_sample, 'label', g.label)`;
    const rows = await this.#pool.any(sql.type(relationRow)`
      select
        l.source_id as "sourceId", l.target_id as "targetId", l.kind, l.label,
        sum(l.weight)::float8 as weight,
        min(${instantOf(sql.fragment`g.start_sample`)}) as "firstAt",
        max(${instantOf(sql.fragment`g.start_sample`)}) as "lastAt",
        to_jsonb((array_agg(${place} order by g.session_id, g.start_sample, g.id))[1:${EVIDENCE}::int])
          as evidence
      from graph_links l
      join sessions s on s.id = l.session_id and s.status <> 'deleted'
      join segments g on g.session_id = l.session_id and g.id = l.segment_id and not g.redacted
      where ${isOneOf(sql.fragment`l.session_id`, sessionIds)} and ${which}
        and ${within(sql.fragment`g.start_sample`, span)}
      group by l.source_id, l.target_id, l.kind, l.label
      order by weight desc, l.source_id, l.target_id, l.kind, l.label
      limit ${limit}`);
    return [...rows];
  }

  async mentions(
    sessionIds: Ids,
    entityId: string,
    { after, limit }: { after?: MentionPosition; limit: number },
  ): Promise<MentionRecord[]> {
    const from =
      after === undefined
        ? sql.fragment`true`
        : sql.fragment`(m.session_id, m.start_sample, m.segment_id, m.spoke) >
          (${after.sessionId}::uuid, ${after.start}::bigint, ${after.segmentId}::uuid,
           ${after.spoke}::bool)`;
    const rows = await this.#pool.any(sql.type(mentionRow)`
      select ${spokenColumns(sql.fragment`m.start_sample`, sql.fragment`m.end_sample`)}, m.spoke
      from graph_mentions m
      join sessions s on s.id = m.session_id and s.status <> 'deleted'
      join segments g on g.session_id = m.session_id and g.id = m.segment_id and not g.redacted
      ${NAMES}
      where ${isOneOf(sql.fragment`m.session_id`, sessionIds)} and m.entity_id = ${entityId}
        and ${from}
      order by m.session_id, m.start_sample, m.segment_id, m.spoke
      limit ${limit}`);
    return rows.map((row) => ({ ...row, name: row.name }));
  }

  /** All ties, the strongest first. */
  async edges(sessionIds: Ids, limit: number): Promise<GraphEdge[]> {
    const rows = await this.#pool.any(sql.type(edgeRow)`
      select
        least(l.source_id, l.target_id) as "sourceId",
        greatest(l.source_id, l.target_id) as "targetId",
        sum(l.weight)::float8 as weight
      from graph_links l
      join sessions s on s.id = l.session_id and s.status <> 'deleted'
      join segments g on g.session_id = l.session_id and g.id = l.segment_id and not g.redacted
      where ${isOneOf(sql.fragment`l.session_id`, sessionIds)} and l.source_id <> l.target_id
      group by 1, 2
      order by weight desc, 1, 2
      limit ${limit}`);
    return [...rows];
  }

  /** The words of segments, by segment id. */
  async spoken(sessionIds: Ids, segmentIds: Ids): Promise<Map<string, SpokenEvidence>> {
    const rows = await this.#pool.any(sql.type(spokenRow)`
      select ${spokenColumns(sql.fragment`g.start_sample`, sql.fragment`g.end_sample`)}
      from segments g
      join sessions s on s.id = g.session_id and s.status <> 'deleted'
      ${NAMES}
      where ${isOneOf(sql.fragment`g.session_id`, sessionIds)}
        and ${isOneOf(sql.fragment`g.id`, segmentIds)} and not g.redacted`);
    return new Map(rows.map((row) => [row.segmentId, { ...row, name: row.name }]));
  }
}

/** SQL that joins the person who claimed the label of segment `g`, and its free name. */
const NAMES = sql.fragment`
  left join speaker_claims c
    on c.session_id = g.session_id and c.label = g.label and c.revoked_at is null
  left join users u on u.id = c.claimed_user_id
  left join guests on guests.id = c.claimed_user_id
  left join speaker_names n on n.session_id = g.session_id and n.label = g.label`;

function spokenColumns(start: Fragment, end: Fragment): Fragment {
  return sql.fragment`
    g.session_id as "sessionId", g.id as "segmentId", ${start} as start, ${end} as "end",
    g.label, left(g.text, ${MAX_TEXT}) as text,
    coalesce(${USER_DISPLAY_NAME}, guests.display_name, n.display_name) as name,
    ${instantOf(start)} as at`;
}

function toEntity(row: z.output<typeof entityRow>): EntityRecord {
  const { id, type, name, mentionCount, sessionCount, firstAt, lastAt } = row;
  const spellings = new Map(row.spellings.flat().map((text) => [text.toLowerCase(), text]));
  spellings.delete(name.toLowerCase());
  return {
    id,
    type,
    name,
    aliases: [...spellings.values()].slice(0, MAX_ALIASES),
    labels: row.voices.flatMap(({ session_id: sessionId, labels }) =>
      labels.map((label) => ({ sessionId, label })),
    ),
    mentionCount,
    sessionCount,
    firstAt,
    lastAt,
  };
}
