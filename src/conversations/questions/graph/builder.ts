import { createHash } from "node:crypto";
import { delay } from "../../../base/deferred.ts";
import { AppError, toAppError } from "../../../base/errors.ts";
import { derivedId } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../../base/queue-metrics.ts";
import { FairTurns } from "../../../base/work/fair-turns.ts";
import type { ExtractedGraph, WorkerEntities } from "../../../inference/worker-entities.ts";
import { isEnglish } from "../../../language/english.ts";
import type { Tenants } from "../../../postgres/tenants.ts";
import type { GraphBuildStore } from "./build-store.ts";
import type { GraphInput, GraphState, SessionGraph } from "./records.ts";

/** Builds of different tenants run at once; others are queued. */
const TURNS = {
  ...{ queue: "graph_builds", what: "Making the graph", atOnce: 2, atOnceOfOne: 1 },
  ...{ waiting: { capacity: 64, share: 32 }, longestWaitMs: 10 * 60_000, retryAfter: 5 },
};
/** How often a build is repeated when the words change while it runs. */
const ATTEMPTS = 3;
/**
 * A graph younger than this is not rebuilt: while a session records, its words change all the time.
 */
const MIN_AGE_MS = 5_000;

/** How long a caller waits for a graph that is missing, and for a newer one than there is; milliseconds. */
const MISSING_MS = 20_000;
const STALE_MS = 1_500;

interface GraphBuilderOptions {
  store: GraphBuildStore;
  extractor: Pick<WorkerEntities, "extract">;
  tenants: Pick<Tenants, "ofSession">;
  log: Log;
}

/** Which graphs can be read now. */
export interface GraphReadiness {
  ready: string[];
  /** Number of sessions that have no graph yet. */
  pending: number;
  /** True when words have changed since some of the graphs were made. */
  stale: boolean;
  /** When the oldest of the graphs was made, Unix milliseconds. */
  builtAt: number | undefined;
  /** Languages of their sessions in which no names are found, as BCP 47 tags. */
  unreadLanguages: string[];
}

/** Builds graphs on request, one build per session at a time. */
export class GraphBuilder implements QueueOwner {
  readonly #store: GraphBuildStore;
  readonly #extractor: Pick<WorkerEntities, "extract">;
  readonly #tenants: Pick<Tenants, "ofSession">;
  readonly #log: Log;
  readonly #builds = new Map<string, Promise<void>>();
  readonly #turns = new FairTurns(TURNS);
  readonly #closing = new AbortController();

  constructor(options: GraphBuilderOptions) {
    this.#store = options.store;
    this.#extractor = options.extractor;
    this.#tenants = options.tenants;
    this.#log = options.log;
  }

  get queues(): readonly QueueFigures[] {
    return this.#turns.queues;
  }

  /**
   * Builds missing and outdated graphs of these sessions and waits for a limited time; unfinished
   * builds continue. When no graph is ready, throws the first build's error, or `timeout`.
   */
  async ensure(sessionIds: readonly string[]): Promise<GraphReadiness> {
    const before = await this.#store.states(sessionIds);
    const missing = before.filter(({ builtAt }) => builtAt === undefined);
    const old = before.filter(isDue);
    if (missing.length + old.length === 0) return readinessOf(before);
    const failures: AppError[] = [];
    const builds = [...missing, ...old].map(({ sessionId }) =>
      this.build(sessionId).catch((error: unknown) => failures.push(toAppError(error))),
    );
    const waitMs = missing.length > 0 ? MISSING_MS : STALE_MS;
    const waiting = new AbortController();
    await Promise.race([Promise.all(builds), delay(waitMs, waiting.signal)]);
    waiting.abort();
    const readiness = readinessOf(await this.#store.states(sessionIds));
    if (readiness.ready.length > 0 || readiness.pending === 0) return readiness;
    throw (
      failures[0] ??
      new AppError("timeout", "The graph is being made. Please try again.", { retryAfter: 5 })
    );
  }

  /**
   * Builds the session's graph, or joins a running build. Rejects with `overloaded` when too many
   * are queued, `unavailable` when the builder is closing, `conflict` when the words keep changing.
   */
  build(sessionId: string): Promise<void> {
    const known = this.#builds.get(sessionId);
    if (known !== undefined) return known;
    if (this.#closing.signal.aborted) {
      return Promise.reject(new AppError("unavailable", "The service is stopping."));
    }
    const build = this.#inTurn(sessionId).finally(() => this.#builds.delete(sessionId));
    this.#builds.set(sessionId, build);
    return build;
  }

  /** Starts no more builds and waits for those that run. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#builds.values()]);
  }

  async #inTurn(sessionId: string): Promise<void> {
    const tenant = await this.#tenants.ofSession(sessionId);
    await this.#turns.run(tenant, () => this.#build(sessionId));
  }

  async #build(sessionId: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (this.#closing.signal.aborted) return;
      const input = await this.#store.input(sessionId);
      if (input === undefined) return;
      const hash = hashOf(input);
      const [state] = await this.#store.states([sessionId]);
      if (state?.inputHash === hash) return this.#store.confirm(sessionId, input.seq, hash);
      const extracted = await this.#extract(input);
      if (await this.#store.replace(input, hash, toSessionGraph(input, extracted))) return;
    }
    throw new AppError("conflict", "The transcript is changing. Please try again.");
  }

  async #extract(input: GraphInput): Promise<ExtractedGraph> {
    if (input.segments.length === 0) return { entities: [], mentions: [], links: [] };
    try {
      return await this.#extractor.extract(input);
    } catch (thrown) {
      const error = toAppError(thrown);
      this.#log.warn(
        { session_id: input.sessionId, code: error.code },
        "a graph could not be made",
      );
      throw error;
    }
  }
}

function isDue({ builtAt, isCurrent, ageMs }: GraphState): boolean {
  return builtAt !== undefined && !isCurrent && ageMs > MIN_AGE_MS;
}

function readinessOf(states: readonly GraphState[]): GraphReadiness {
  const built = states.filter(({ builtAt }) => builtAt !== undefined);
  const pending = states.length - built.length;
  const times = built.flatMap(({ builtAt }) => (builtAt === undefined ? [] : [builtAt]));
  return {
    ready: built.map(({ sessionId }) => sessionId),
    pending,
    stale: pending > 0 || built.some(({ isCurrent }) => !isCurrent),
    builtAt: times.length === 0 ? undefined : Math.min(...times),
    unreadLanguages: unreadLanguages(built),
  };
}

function unreadLanguages(states: readonly GraphState[]): string[] {
  const languages = states.map(({ language }) => language).filter((tag) => !isEnglish(tag));
  return [...new Set(languages)].sort();
}

/** A hash of the input: it changes whenever the graph could change. */
function hashOf({ language, segments, speakers }: GraphInput): string {
  const hash = createHash("sha256");
  if (!isEnglish(language)) hash.update(`${language}\u0002`);
  for (const { label, name } of speakers) hash.update(`${label}\u0000${name}\u0001`);
  for (const { id, label, start, end, hash: words } of segments) {
    hash.update(`${id}\u0000${label}\u0000${start}\u0000${end}\u0000${words}\u0001`);
  }
  return hash.digest("hex");
}

/** Replaces indexes by ids. */
function toSessionGraph(input: GraphInput, extracted: ExtractedGraph): SessionGraph {
  const { sessionId, workspaceId, segments } = input;
  const entities = extracted.entities.map(({ key, sessionOnly, ...entity }) => {
    const scope = sessionOnly ? sessionId : "";
    return { ...entity, id: derivedId("entity", workspaceId, scope, key) };
  });
  const entityId = (index: number): string => at(entities, index).id;
  const segmentId = (index: number): string => at(segments, index).id;
  return {
    entities,
    mentions: extracted.mentions.map(({ entity, segment, ...mention }) => ({
      ...mention,
      entityId: entityId(entity),
      segmentId: segmentId(segment),
    })),
    links: extracted.links.map(({ source, target, segment, ...link }) => {
      const ends: [string, string] = [entityId(source), entityId(target)];
      if (link.kind === "co_occurrence") ends.sort();
      const [sourceId, targetId] = ends;
      return { ...link, sourceId, targetId, segmentId: segmentId(segment) };
    }),
  };
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new AppError("internal", "An extractor named what is not there.");
  return found;
}
