import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { Span, TaggedSentence, TaggedTerm } from "./span.ts";
import { STOP_VERBS } from "./tag.ts";

/** A mention with the key of its entity. */
interface KeyedSpan {
  key: string;
  type: Span["type"];
  from: number;
  to: number;
}

interface KeyedSentence {
  terms: TaggedSentence["terms"];
  spans: KeyedSpan[];
}

export interface KeyedSegment {
  label: string;
  start: number;
  end: number;
  speaker: string | undefined;
  sentences: KeyedSentence[];
}

export interface Link {
  source: string;
  target: string;
  kind: "co_occurrence" | "action" | "talks_about";
  label: string;
  weight: number;
  segment: number;
}

/**
 * Neighbouring segments count as one context when the silence between them is shorter than this.
 */
const NEIGHBOUR_SAMPLES = 15 * SESSION_RATE;
const SAME_SEGMENT = 1;
const NEIGHBOURS = 0.5;
/**
 * Most entities of one segment that are linked to each other; in a very long segment the rest is
 * not.
 */
const MAX_TIED = 12;

/** Links between the entities of a session, each with the segment that supports it. */
export function* sessionLinks(
  segments: readonly KeyedSegment[],
  infinitive: Infinitive,
): Generator<Link> {
  let before: { keys: string[]; end: number } | undefined;
  for (const [index, segment] of segments.entries()) {
    const keys = keysOf(segment);
    yield* talksAbout(segment, index);
    yield* actions(segment, index, infinitive);
    yield* pairs(keys, index);
    if (before !== undefined && segment.start - before.end < NEIGHBOUR_SAMPLES) {
      yield* across(before.keys, keys, index);
    }
    before = { keys, end: segment.end };
  }
}

function keysOf(segment: KeyedSegment): string[] {
  const keys = segment.sentences.flatMap(({ spans }) => spans.map(({ key }) => key));
  return [...new Set(keys)].slice(0, MAX_TIED);
}

function coOccurrence(a: string, b: string, weight: number, segment: number): Link {
  const [source, target] = a < b ? [a, b] : [b, a];
  return { source, target, kind: "co_occurrence", label: "", weight, segment };
}

function* pairs(keys: readonly string[], segment: number): Generator<Link> {
  for (const [index, one] of keys.entries()) {
    for (const other of keys.slice(index + 1))
      yield coOccurrence(one, other, SAME_SEGMENT, segment);
  }
}

function* across(
  before: readonly string[],
  now: readonly string[],
  segment: number,
): Generator<Link> {
  const shared = new Set(before.filter((key) => now.includes(key)));
  for (const one of before) {
    if (shared.has(one)) continue;
    for (const other of now) {
      if (!shared.has(other)) yield coOccurrence(one, other, NEIGHBOURS, segment);
    }
  }
}

function* talksAbout({ speaker, sentences }: KeyedSegment, segment: number): Generator<Link> {
  if (speaker === undefined) return;
  for (const { key } of sentences.flatMap(({ spans }) => spans)) {
    if (key === speaker) continue;
    yield { source: speaker, target: key, kind: "talks_about", label: "", weight: 1, segment };
  }
}

export type Infinitive = (verb: string) => string;

/** Types that can act; dates and sums cannot. */
const ACTORS: ReadonlySet<Span["type"]> = new Set(["person", "organisation", "place", "topic"]);

/** Finds actions such as "Anna called Acme" between consecutive mentions. */
function* actions(
  { speaker, sentences }: KeyedSegment,
  segment: number,
  infinitive: Infinitive,
): Generator<Link> {
  for (const { spans, terms } of sentences) {
    for (const [index, object] of spans.entries()) {
      const before = spans[index - 1];
      const between = terms.slice(before?.to ?? 0, object.from);
      // An "I" between two mentions is the nearer subject.
      const me = between.findLastIndex((term) => term.normal === "i" && !term.unclear);
      const subject = before !== undefined && ACTORS.has(before.type) ? before.key : undefined;
      const source = me >= 0 ? speaker : subject;
      const label = actionOf(between.slice(me + 1), infinitive);
      if (source === undefined || label === undefined || source === object.key) continue;
      yield { source, target: object.key, kind: "action", label, weight: 1, segment };
    }
  }
}

/** The last full verb with the preposition after it, as in "write to" or "not find". */
function actionOf(terms: readonly TaggedTerm[], infinitive: Infinitive): string | undefined {
  // A pronoun, a pause or an unclear word begins another clause, with another subject.
  if (terms.some((term) => term.breaks || isSubjectPronoun(term))) return undefined;
  const at = terms.findLastIndex(isFullVerb);
  const verb = terms[at];
  if (verb === undefined) return undefined;
  const name = infinitive(verb.normal);
  if (STOP_VERBS.has(name)) return undefined;
  const isDenied = terms.slice(0, at).some(({ tags }) => tags.has("Negative"));
  const next = terms[at + 1];
  const tied = next !== undefined && isTied(next) ? ` ${next.normal}` : "";
  return `${isDenied ? "not " : ""}${name}${tied}`;
}

function isSubjectPronoun({ tags }: TaggedTerm): boolean {
  return tags.has("Pronoun") && !tags.has("Possessive");
}

function isFullVerb({ normal, tags }: TaggedTerm): boolean {
  if (!/^\p{L}{2,}$/u.test(normal) || !tags.has("Verb")) return false;
  return !["Auxiliary", "Copula", "Modal", "Particle"].some((tag) => tags.has(tag));
}

function isTied({ normal, tags }: TaggedTerm): boolean {
  return normal === "to" || tags.has("Preposition") || tags.has("Particle");
}
