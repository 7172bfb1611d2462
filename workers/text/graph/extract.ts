import { AppError } from "../../../src/base/errors.ts";
import { compromise } from "../../../src/language/compromise.ts";
import { isEnglish } from "../../../src/language/english.ts";
import {
  ExtractEntitiesRequest,
  ExtractEntitiesResponse,
  type GraphMention,
  type GraphSegment,
} from "../../../src/wire/gen/voice/v1/graph.ts";
import { EntityIndex } from "./entity-index.ts";
import { nameTokens } from "./entity-names.ts";
import { type Infinitive, type KeyedSegment, type Link, sessionLinks } from "./session-links.ts";
import type { TaggedSentence } from "./span.ts";
import { type NameLexicon, tagSegments } from "./tag.ts";

interface ExtractLimits {
  entities: number;
  links: number;
}

/** Limits of one session's graph, which bound storage and display. */
const LIMITS: ExtractLimits = { entities: 400, links: 20_000 };

/** The label of unknown speakers, which is no person. */
const UNKNOWN_LABEL = "UU";

/** ExtractEntities of the gRPC service: one answer. */
export function* extractTask(request: Uint8Array): Generator<Uint8Array | undefined, void> {
  const graph = yield* extractGraph(decode(request));
  yield ExtractEntitiesResponse.encode(graph).finish();
}

function decode(request: Uint8Array): ExtractEntitiesRequest {
  try {
    return ExtractEntitiesRequest.decode(request);
  } catch (error) {
    throw new AppError("bad_request", "The request is no ExtractEntitiesRequest.", {
      cause: error,
    });
  }
}

/**
 * Extracts entities, mentions and links of one session with compromise's English lexicon and
 * grammar, in steps; of other languages the speakers alone. Depends only on the request.
 */
export function* extractGraph(
  request: ExtractEntitiesRequest,
  limits = LIMITS,
): Generator<undefined, ExtractEntitiesResponse> {
  const speakers = request.speakers.filter(({ label }) => label !== UNKNOWN_LABEL);
  const lexicon = nameLexicon(speakers.flatMap(({ name }) => nameTokens(name)));
  const spoken = request.segments.map(({ words }) => (isEnglish(request.language) ? words : []));
  const tagged = yield* tagSegments(spoken, lexicon);
  const entities = new EntityIndex(speakers);
  entities.prepare(tagged.flatMap((sentences) => sentences.flatMap(({ spans }) => spans)));
  const segments = tagged.map((sentences, index) => {
    const segment = request.segments[index];
    if (segment === undefined) throw new Error("A segment was lost.");
    return keyed(segment, sentences, entities);
  });
  return assemble(request.segments, segments, entities, limits);
}

/**
 * A lexicon of those speakers' names that can be nouns; otherwise every "will" would be a person.
 */
function nameLexicon(tokens: readonly string[]): NameLexicon {
  const names = tokens.filter((token) => token.length > 1 && compromise()(token).has("#Noun"));
  return Object.fromEntries(names.map((name) => [name, "FirstName"]));
}

function keyed(
  { label, start, end }: GraphSegment,
  sentences: readonly TaggedSentence[],
  entities: EntityIndex,
): KeyedSegment {
  return {
    label,
    start,
    end,
    speaker: entities.speaker(label),
    sentences: sentences.map(({ terms, spans }) => ({
      terms,
      spans: spans.map((span) => ({ ...span, key: entities.mention(span) })),
    })),
  };
}

type KeyedMention = Omit<GraphMention, "entity"> & { key: string };

function mentionsOf(sources: readonly GraphSegment[], segments: readonly KeyedSegment[]) {
  return segments.flatMap(({ speaker, start, end, sentences }, segment): KeyedMention[] => {
    const words = sources[segment]?.words ?? [];
    const spoke = speaker === undefined ? [] : [{ key: speaker, segment, start, end, spoke: true }];
    const named = sentences.flatMap(({ terms, spans }) =>
      spans.map(({ key, from, to }) => ({
        key,
        segment,
        start: words[terms[from]?.word ?? 0]?.start ?? start,
        end: words[terms[to - 1]?.word ?? 0]?.end ?? end,
        spoke: false,
      })),
    );
    return [...spoke, ...named];
  });
}

function assemble(
  sources: readonly GraphSegment[],
  segments: readonly KeyedSegment[],
  entities: EntityIndex,
  limits: ExtractLimits,
): ExtractEntitiesResponse {
  const all = mentionsOf(sources, segments);
  const keys = foremost(all, limits.entities);
  const indexes = new Map(keys.map((key, index) => [key, index]));
  const mentions = all.flatMap(({ key, ...mention }) => {
    const entity = indexes.get(key);
    return entity === undefined ? [] : [{ ...mention, entity }];
  });
  const links = foremostLinks(sessionLinks(segments, infinitives()), indexes, limits.links);
  return { entities: keys.map((key) => entities.entity(key)), mentions, links };
}

/** The keys with most mentions; among equals the earlier ones first. */
function foremost(mentions: readonly KeyedMention[], limit: number): string[] {
  const counts = new Map<string, number>();
  for (const { key } of mentions) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts]
    .sort(([, m], [, n]) => n - m)
    .slice(0, limit)
    .map(([key]) => key);
}

function foremostLinks(
  links: Iterable<Link>,
  indexes: ReadonlyMap<string, number>,
  limit: number,
): ExtractEntitiesResponse["links"] {
  const kept: ExtractEntitiesResponse["links"] = [];
  for (const { source, target, ...link } of links) {
    const from = indexes.get(source);
    const to = indexes.get(target);
    if (from === undefined || to === undefined) continue;
    const swap = link.kind === "co_occurrence" && to < from;
    kept.push({ ...link, source: swap ? to : from, target: swap ? from : to });
  }
  if (kept.length <= limit) return kept;
  return kept.sort((a, b) => b.weight - a.weight || a.segment - b.segment).slice(0, limit);
}

/** Returns infinitives of verbs, each looked up once. */
function infinitives(): Infinitive {
  const known = new Map<string, string>();
  return (verb) => {
    const found = known.get(verb) ?? toInfinitive(verb);
    known.set(verb, found);
    return found;
  };
}

function toInfinitive(verb: string): string {
  const doc = compromise()(verb);
  doc.tag("Verb");
  return doc.verbs().toInfinitive().text() || verb;
}
