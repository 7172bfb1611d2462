import { type Static, Type } from "@sinclair/typebox";
import { toMilliseconds } from "../../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../../base/clock.ts";
import { ENTITY_TYPES, type EntityType } from "../../../base/entity-types.ts";
import { RELATION_KINDS } from "../../../inference/worker-entities.ts";
import { exampleId } from "../../../rest/example-values.ts";
import type { GraphReadiness } from "./builder.ts";
import type { Community } from "./communities.ts";
import type {
  EntityRecord,
  EvidenceRecord,
  MentionRecord,
  RelationRecord,
  SpokenEvidence,
} from "./records.ts";

const SEEN = {
  mention_count: 1,
  session_count: 1,
  first_mentioned_at: "2026-01-31T09:30:01.200Z",
  last_mentioned_at: "2026-01-31T09:30:01.200Z",
};
const COMMUNITY = exampleId("community_id");

/** A person and what she speaks of, in all examples of graphs. */
export const EXAMPLES = [
  {
    id: exampleId("entity_id"),
    type: "speaker",
    name: "Anna",
    aliases: [],
    speaker_labels: [{ session_id: exampleId("session_id"), speaker_label: "S1" }],
    ...SEEN,
  },
  { id: exampleId("target_id"), type: "topic", name: "budget", aliases: ["the budget"], ...SEEN },
];

const typeSchema = Type.Union(
  ENTITY_TYPES.map((type) => Type.Literal(type)),
  { $id: "EntityType" },
);
const kindSchema = Type.Union(
  RELATION_KINDS.map((kind) => Type.Literal(kind)),
  {
    $id: "RelationKind",
    description:
      "`co_occurrence`: named close together, undirected; `action`: a verb leads from source to target; `talks_about`: a speaker names the target",
  },
);

export const entitySchema = Type.Object(
  {
    id: Type.String({ description: "Stable: the same name in the same workspace" }),
    type: typeSchema,
    name: Type.String({ description: "The usual spelling" }),
    aliases: Type.Array(Type.String(), { description: "Other spellings that were met" }),
    speaker_labels: Type.Optional(
      Type.Array(Type.Object({ session_id: Type.String(), speaker_label: Type.String() }), {
        description: "The voices of a speaker",
      }),
    ),
    mention_count: Type.Integer({ description: "Each turn of a speaker counts as one" }),
    session_count: Type.Integer(),
    first_mentioned_at: Type.String(),
    last_mentioned_at: Type.String(),
  },
  { $id: "Entity", examples: EXAMPLES },
);

const communityMember = Type.Object({
  community_id: Type.Optional(Type.String({ description: "Absent when nothing ties it" })),
});

const evidenceSchema = Type.Object(
  {
    session_id: Type.String(),
    segment_id: Type.String(),
    start_ms: Type.Integer(),
    end_ms: Type.Integer(),
    speaker_label: Type.String(),
  },
  { $id: "Evidence" },
);

export const spokenSchema = Type.Composite(
  [
    evidenceSchema,
    Type.Object({
      speaker_name: Type.Optional(Type.String({ description: "Of who claimed the label" })),
      text: Type.String({ description: "Of the segment, at most 500 characters" }),
      at: Type.String({
        description: "Start of the session plus `start_ms`",
        examples: ["2026-01-31T09:30:01.200Z"],
      }),
    }),
  ],
  { $id: "SpokenSegment" },
);

export const mentionSchema = Type.Composite(
  [
    spokenSchema,
    Type.Object({
      kind: Type.Union([Type.Literal("named"), Type.Literal("spoke")], {
        description: "Spoken of, or speaking",
      }),
    }),
  ],
  { $id: "Mention" },
);

export const relationSchema = Type.Object(
  {
    source_id: Type.String({ examples: [exampleId("entity_id")] }),
    target_id: Type.String(),
    kind: Type.Unsafe<Static<typeof kindSchema>>({ ...kindSchema, examples: ["talks_about"] }),
    label: Type.Optional(Type.String({ description: "The verb of an action, as in `write to`" })),
    weight: Type.Number({ description: "1 for each time; 0.5 across neighbouring segments" }),
    first_at: Type.String(),
    last_at: Type.String(),
    evidence: Type.Array(evidenceSchema, { description: "The first segments that say so" }),
  },
  { $id: "Relation" },
);

const communitySchema = Type.Object(
  {
    id: Type.String({ examples: [COMMUNITY] }),
    label: Type.String({
      examples: ["Anna, budget"],
      description: "Names of its members that are mentioned most",
    }),
    size: Type.Integer({ description: "Number of its members", examples: [2] }),
    entity_ids: Type.Array(Type.String(), {
      description: "Most mentioned first",
      examples: [[exampleId("entity_id"), exampleId("target_id")]],
    }),
  },
  { $id: "Community" },
);

export const readinessSchema = Type.Object({
  session_count: Type.Integer({ description: "Sessions that it is made of" }),
  stale: Type.Boolean({
    description: "Words have changed since, or some sessions are not in it yet; ask again soon",
  }),
  pending_sessions: Type.Integer({ description: "Sessions that are not in it yet" }),
  built_at: Type.Optional(Type.String({ description: "Of its oldest part" })),
  unread_languages: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Languages of some of its sessions: names, topics and relations are found in English only, so these have their speakers alone",
      examples: [["de"]],
    }),
  ),
});

export const graphSchema = Type.Composite(
  [
    readinessSchema,
    Type.Object({
      entities: Type.Array(Type.Composite([entitySchema, communityMember]), {
        examples: [EXAMPLES.map((each) => ({ ...each, community_id: COMMUNITY }))],
      }),
      total_entities: Type.Integer({
        description: "That match, beyond `limit` too",
        examples: [2],
      }),
      relations: Type.Array(relationSchema, {
        description: "Between the entities shown, the strongest first, at most 1000",
      }),
      communities: Type.Array(communitySchema, {
        description: "Of two entities or more that hang together; by Louvain, always the same",
      }),
    }),
  ],
  { $id: "Graph" },
);

const typeName = `(${ENTITY_TYPES.join("|")})`;

/** Query parameters that narrow both graphs. */
export const graphQuery = {
  type: Type.Optional(
    Type.String({
      pattern: `^${typeName}(,${typeName})*$`,
      maxLength: 200,
      description: `One or several of ${ENTITY_TYPES.join(", ")}, with commas between`,
      examples: ["person,place"],
    }),
  ),
  min_mentions: Type.Optional(
    Type.Integer({
      description: "Only entities that were mentioned so often",
      minimum: 1,
      maximum: 1_000_000,
      default: 1,
    }),
  ),
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "Part of a name or an alias" }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: "Entities at most" }),
  ),
};

export function toTypes(type: string | undefined): EntityType[] | undefined {
  if (type === undefined) return undefined;
  const wanted = new Set(type.split(","));
  return ENTITY_TYPES.filter((each) => wanted.has(each));
}

export function presentEntity(entity: EntityRecord): Static<typeof entitySchema> {
  const labels = entity.labels.map(({ sessionId, label }) => ({
    session_id: sessionId,
    speaker_label: label,
  }));
  return {
    id: entity.id,
    type: entity.type,
    name: entity.name,
    aliases: entity.aliases,
    ...(labels.length > 0 ? { speaker_labels: labels } : {}),
    mention_count: entity.mentionCount,
    session_count: entity.sessionCount,
    first_mentioned_at: toTimestamp(entity.firstAt),
    last_mentioned_at: toTimestamp(entity.lastAt),
  };
}

function presentEvidence(evidence: EvidenceRecord): Static<typeof evidenceSchema> {
  return {
    session_id: evidence.sessionId,
    segment_id: evidence.segmentId,
    start_ms: toMilliseconds(evidence.start),
    end_ms: toMilliseconds(evidence.end),
    speaker_label: evidence.label,
  };
}

export function presentSpoken(spoken: SpokenEvidence): Static<typeof spokenSchema> {
  return {
    ...presentEvidence(spoken),
    ...(spoken.name === undefined ? {} : { speaker_name: spoken.name }),
    text: spoken.text,
    at: toTimestamp(spoken.at),
  };
}

export function presentMention(mention: MentionRecord): Static<typeof mentionSchema> {
  return { ...presentSpoken(mention), kind: mention.spoke ? "spoke" : "named" };
}

export function presentRelation(relation: RelationRecord): Static<typeof relationSchema> {
  return {
    source_id: relation.sourceId,
    target_id: relation.targetId,
    kind: relation.kind,
    ...(relation.label === "" ? {} : { label: relation.label }),
    weight: relation.weight,
    first_at: toTimestamp(relation.firstAt),
    last_at: toTimestamp(relation.lastAt),
    evidence: relation.evidence.map(presentEvidence),
  };
}

export function presentCommunity(community: Community): Static<typeof communitySchema> {
  const { id, label, entityIds } = community;
  return { id, label, size: entityIds.length, entity_ids: entityIds };
}

export function presentStatus(readiness: GraphReadiness): Static<typeof readinessSchema> {
  const { ready, stale, pending, builtAt, unreadLanguages } = readiness;
  return {
    session_count: ready.length,
    stale,
    pending_sessions: pending,
    ...(builtAt === undefined ? {} : { built_at: toTimestamp(builtAt) }),
    ...(unreadLanguages.length === 0 ? {} : { unread_languages: unreadLanguages }),
  };
}
