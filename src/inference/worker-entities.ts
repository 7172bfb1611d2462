import type { EntityType } from "../base/entity-types.ts";
import { AppError } from "../base/errors.ts";
import type { ExtractEntitiesResponse } from "../wire/gen/voice/v1/graph.ts";
import { GraphServiceService } from "../wire/gen/voice/v1/worker_services.ts";
import { WorkerCalls, type WorkerCallsOptions } from "./worker-calls.ts";

const DEADLINE_MS = 60_000;

/** A segment of a session as input of an extractor. Positions are samples at 16 kHz. */
export interface GraphSegment {
  label: string;
  start: number;
  end: number;
  /** Words with their times; unclear words do not become entities. */
  words: { text: string; start: number; end: number; unclear?: boolean | undefined }[];
}

/** The words of a session, and who spoke them. */
interface SpokenSession {
  sessionId: string;
  /** BCP 47 tag of what is spoken. */
  language: string;
  segments: readonly GraphSegment[];
  speakers: readonly GraphSpeaker[];
}

export interface GraphSpeaker {
  label: string;
  /** Empty while the label is unclaimed. */
  name: string;
}

export const RELATION_KINDS = ["co_occurrence", "action", "talks_about"] as const;

export type RelationKind = (typeof RELATION_KINDS)[number];

/** The result of an extraction. Indexes count from 0 into `entities` and the given segments. */
export interface ExtractedGraph {
  entities: {
    /** Normalised name. */
    key: string;
    /** True when the entity has a meaning only within its session, such as "S1" or "tomorrow". */
    sessionOnly: boolean;
    type: EntityType;
    name: string;
    aliases: string[];
    labels: string[];
  }[];
  mentions: { entity: number; segment: number; start: number; end: number; spoke: boolean }[];
  links: {
    source: number;
    target: number;
    kind: RelationKind;
    label: string;
    weight: number;
    segment: number;
  }[];
}

interface WorkerEntitiesOptions extends WorkerCallsOptions {
  /** Time limit of one answer, milliseconds. */
  deadlineMs?: number;
}

/**
 * Finds entities in a session's words with the GraphService of the least loaded worker. The same
 * words give the same graph. Rejects with `unavailable`, `overloaded` or `timeout`, which may be
 * retried: it does not by itself, as words may be what a worker fails of.
 */
export class WorkerEntities {
  readonly #client: WorkerCallsOptions["client"];
  readonly #calls: WorkerCalls;
  readonly #deadlineMs: number;
  readonly #closing = new AbortController();

  constructor({ deadlineMs = DEADLINE_MS, ...options }: WorkerEntitiesOptions) {
    this.#client = options.client;
    this.#calls = new WorkerCalls({ absentMs: 0, ...options });
    this.#deadlineMs = deadlineMs;
  }

  async extract(session: SpokenSession): Promise<ExtractedGraph> {
    const { sessionId, language } = session;
    const segments = session.segments.map(({ label, start, end, words }) => {
      return { label, start, end, words };
    });
    const speakers = session.speakers.map(({ label, name }) => ({ label, name }));
    const request = { sessionId, language, segments, speakers };
    let graph: ExtractEntitiesResponse | undefined;
    await this.#calls.call(GraphServiceService.extractEntities, request, {
      deadlineMs: this.#deadlineMs,
      signal: this.#closing.signal,
      onMessage: (answer: ExtractEntitiesResponse) => {
        graph = answer;
      },
      purpose: "make the graph",
      attempts: 1,
    });
    if (graph !== undefined) return graph as ExtractedGraph;
    throw new AppError("unavailable", "The worker ended before the graph was there.");
  }

  /** Ends running calls. */
  close(): void {
    this.#closing.abort();
    this.#client.close();
  }
}
