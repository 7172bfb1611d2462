import type { Entity, Graph, Mention, Relation } from "../../api/records.ts";
import { entityName } from "./graph-layout.ts";

/** A moment at which something was spoken of. */
export interface Spoken {
  readonly session_id: string;
  readonly segment_id: string;
  readonly start_ms: number;
  readonly speaker: string;
  readonly text: string;
  /** Day and time, where the moment may be of another session than the one that is open. */
  readonly at?: string;
}

/** What is known of an entity: its moments, and what it hangs together with. */
export interface Evidence {
  readonly moments: readonly Spoken[];
  readonly relations: readonly Relation[];
  readonly neighbours: readonly Entity[];
  /** True when there are more moments than these. */
  readonly isPart: boolean;
}

/** Most moments that are shown of what relations alone tell. */
const MOST_MOMENTS = 8;

/** The relations of one entity, the strongest first, and their other ends. */
export function evidenceIn(
  { relations, entities }: Graph,
  id: string,
): { relations: readonly Relation[]; neighbours: readonly Entity[] } {
  const own = relations
    .filter(({ source_id: from, target_id: to }) => from === id || to === id)
    .toSorted((a, b) => b.weight - a.weight);
  const others = new Set(own.flatMap(({ source_id: from, target_id: to }) => [from, to]));
  others.delete(id);
  return { relations: own, neighbours: entities.filter((each) => others.has(each.id)) };
}

/** The segments that say so, each once and in the order of time. */
export function momentsIn(relations: readonly Relation[]): Relation["evidence"] {
  const found = new Map(
    relations.flatMap(({ evidence }) => evidence).map((each) => [each.segment_id, each]),
  );
  return [...found.values()].toSorted((a, b) => a.start_ms - b.start_ms).slice(0, MOST_MOMENTS);
}

/** `S1` as `Speaker 1`; nothing for a voice that was not told apart. */
export function voiceName(label: string): string {
  return label === "UU" ? "" : entityName({ name: label, type: "speaker" });
}

/** A mention as a moment to be shown. */
export function spokenIn(mention: Mention): Spoken {
  const { session_id, segment_id, start_ms, text, speaker_name: name, speaker_label } = mention;
  return { session_id, segment_id, start_ms, text, speaker: name ?? voiceName(speaker_label) };
}
