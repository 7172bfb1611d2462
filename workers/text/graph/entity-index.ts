import { ENTITY_TYPES, type EntityType } from "../../../src/base/entity-types.ts";
import type { GraphEntity, GraphSpeaker } from "../../../src/wire/gen/voice/v1/graph.ts";
import { entityKey, initials, isRelativeDate, nameTokens, normaliseName } from "./entity-names.ts";
import type { Span } from "./span.ts";

/** An entity while its mentions are collected. */
interface Draft {
  readonly key: string;
  readonly sessionOnly: boolean;
  readonly types: Map<EntityType, number>;
  /** Spellings, with the number of their occurrences. */
  readonly names: Map<string, number>;
  readonly labels: string[];
  /** A speaker's own name, which is used whatever other spellings occur. */
  title: string | undefined;
}

const MAX_ALIASES = 8;

/**
 * The entities of one session, each under one key whatever its spelling: "Dr. Smith" and "Smith"
 * are Sarah Smith as long as no other Smith is mentioned, and a speaker's name means the speaker.
 */
export class EntityIndex {
  readonly #drafts = new Map<string, Draft>();
  readonly #people: { key: string; tokens: readonly string[] }[] = [];
  readonly #acronyms = new Map<string, string>();

  constructor(speakers: readonly GraphSpeaker[]) {
    for (const speaker of speakers) this.#addSpeaker(speaker);
  }

  /**
   * Registers all spans before any is looked up, so that the result does not depend on their order.
   */
  prepare(spans: Iterable<Span>): void {
    for (const span of spans) {
      const key = entityKey(span);
      if (span.type === "person") this.#addPerson(key, nameTokens(span.text));
      const short = span.type === "organisation" ? initials(key) : "";
      if (short.length > 1) this.#acronyms.set(short, key);
    }
  }

  /** Counts a mention and returns the key of the entity. */
  mention(span: Span): string {
    const key = this.#resolve(span);
    const draft = this.#draft(key, span.type === "date" && isRelativeDate(key));
    count(draft.types, span.type);
    count(draft.names, span.text);
    return key;
  }

  /** The key of the speaker with this label; undefined for an unknown one. */
  speaker(label: string): string | undefined {
    for (const draft of this.#drafts.values()) if (draft.labels.includes(label)) return draft.key;
    return undefined;
  }

  entity(key: string): GraphEntity {
    const draft = this.#drafts.get(key);
    if (draft === undefined) throw new Error("An entity is missing from the index.");
    const spellings = byCount(draft.names);
    const name = draft.title ?? fullName(key, spellings) ?? spellings[0] ?? key;
    const seen = new Set([normaliseName(name)]);
    const aliases = spellings.filter((spelling) => {
      const normal = normaliseName(spelling);
      return !seen.has(normal) && seen.add(normal);
    });
    const { sessionOnly, labels } = draft;
    const type = draft.labels.length > 0 ? "speaker" : winner(draft.types);
    return { key, sessionOnly, type, name, aliases: aliases.slice(0, MAX_ALIASES), labels };
  }

  #addSpeaker({ label, name }: GraphSpeaker): void {
    const tokens = nameTokens(name);
    const key = tokens.length > 0 ? tokens.join(" ") : `speaker ${label.toLowerCase()}`;
    const draft = this.#draft(key, tokens.length === 0);
    draft.labels.push(label);
    draft.title = name === "" ? label : name;
    if (tokens.length > 0) this.#addPerson(key, tokens);
  }

  #addPerson(key: string, tokens: readonly string[]): void {
    if (this.#people.some((person) => person.key === key)) return;
    this.#people.push({ key, tokens });
  }

  #resolve(span: Span): string {
    const key = entityKey(span);
    if (span.type === "person" || span.type === "topic") {
      const tokens = nameTokens(span.text);
      if (tokens.length === 1) return this.#fullName(tokens[0] ?? "", key);
    }
    return this.#acronyms.get(key) ?? key;
  }

  /**
   * The key of the only person whose first or last name it is; `key` when there is none, or
   * several.
   */
  #fullName(token: string, key: string): string {
    const acronym = this.#acronyms.get(key);
    if (acronym !== undefined) return acronym;
    const owners = this.#people.filter(
      ({ tokens }) => tokens.length > 1 && (tokens[0] === token || tokens.at(-1) === token),
    );
    const [owner] = owners;
    return owner !== undefined && owners.length === 1 ? owner.key : key;
  }

  #draft(key: string, sessionOnly: boolean): Draft {
    let draft = this.#drafts.get(key);
    if (draft === undefined) {
      draft = {
        key,
        sessionOnly,
        types: new Map(),
        names: new Map(),
        labels: [],
        title: undefined,
      };
      this.#drafts.set(key, draft);
    }
    return draft;
  }
}

function count<T>(counts: Map<T, number>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The most frequent spelling first; among equals the longer one, then alphabetically. */
function byCount(names: ReadonlyMap<string, number>): string[] {
  return [...names]
    .sort(([a, m], [b, n]) => n - m || b.length - a.length || (a < b ? -1 : 1))
    .map(([name]) => name);
}

/** The spelling of the full name, however rare: "Sarah Smith" rather than "Sarah". */
function fullName(key: string, spellings: readonly string[]): string | undefined {
  return spellings.find((spelling) => normaliseName(spelling) === key);
}

function winner(types: ReadonlyMap<EntityType, number>): EntityType {
  const [best] = [...types].sort(
    ([a, m], [b, n]) => n - m || ENTITY_TYPES.indexOf(a) - ENTITY_TYPES.indexOf(b),
  );
  return best?.[0] ?? "topic";
}
