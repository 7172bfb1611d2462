import type { Principal, UserPrincipal } from "../../src/access/principal.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { createQuestions, type QuestionModel } from "../../src/conversations/questions/feature.ts";
import type { QueryOptions } from "../../src/conversations/questions/routes.ts";
import { WorkerRetriever } from "../../src/conversations/questions/worker-retriever.ts";
import { Placement } from "../../src/inference/placement.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import type { Route } from "../../src/rest/route.ts";
import { AuditStore } from "../../src/tenancy/audit/audit-store.ts";
import { ElevationStore } from "../../src/tenancy/audit/elevation-store.ts";
import { createAudit } from "../../src/tenancy/audit/routes.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { groundInThread } from "../../workers/grpc/summarise.ts";
import type { LanguageModel } from "../../workers/language-model/language-model.ts";
import type { GroundRequest } from "../../workers/text/grounding/ground-task.ts";
import { ModelTurns } from "../../workers/text/model-answers/model-turns.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { callRoute, jsonBody } from "./route-call.ts";
import { SessionFixture } from "./session-fixture.ts";
import { SessionStory } from "./session-story.ts";
import { WORKER_KEY } from "./worker-key.ts";

/** So long that no answer of a test is late, however busy the machine is. */
const MODEL: QuestionModel = { dailyTokens: 1_000_000, answerMs: 60_000 };

const ENTRY = new URL("./scripted-thread-entry.ts", import.meta.url);

export interface Told {
  sessionId: string;
  story: SessionStory;
  /** Of the lines, in their order. */
  segmentIds: string[];
}

interface Found {
  items: Record<string, unknown>[];
  next_cursor: string | null;
  total?: number;
}

/** A session house that can be asked, with a real worker behind it. */
export class QuestionFixture {
  readonly fixture: SessionFixture;
  readonly ports: QueryOptions;
  readonly routes: readonly Route[];
  readonly placement = new Placement({ runtime: systemRuntime, silenceMs: 60_000 });
  readonly #client = new WorkerClient();
  #pool: ThreadPool | undefined;
  #server: WorkerServer | undefined;

  #model: LanguageModel | undefined;

  private constructor(fixture: SessionFixture, given: Partial<QuestionModel>) {
    this.fixture = fixture;
    const { directory, workspaces } = fixture;
    const languageModels = () => this.placement.languageModels();
    const context = { ...fixture.context, clock: systemClock, languageModels };
    const model = { ...MODEL, ...given };
    const retriever = new WorkerRetriever({
      placement: this.placement,
      client: this.#client,
      key: WORKER_KEY,
      absentMs: 300,
    });
    const questions = createQuestions(context, { directory, workspaces, retriever, model });
    this.ports = questions.questions;
    this.routes = [
      ...questions.routes,
      ...createAudit(context, { addressKey: new Uint8Array(32) }).routes,
    ];
  }

  static async open(model: Partial<QuestionModel> = {}): Promise<QuestionFixture> {
    return new QuestionFixture(await SessionFixture.open(), model);
  }

  /** Starts the worker, with a language model where one is given, and makes it known. */
  async work(model?: LanguageModel): Promise<void> {
    this.#model = model;
    this.#pool = new ThreadPool({
      threads: 1,
      sessionsPerThread: 1,
      entry: ENTRY,
      clock: systemClock,
      log: silentLog,
      // A busy machine is no silent thread.
      silenceMs: 60_000,
    });
    await this.#pool.start();
    const pool = this.#pool;
    const ground = (asked: GroundRequest, signal: AbortSignal) =>
      groundInThread(pool, asked, signal);
    this.#server = new WorkerServer({
      turns: model && new ModelTurns({ model, ground }),
      workerId: "w",
      version: "0.0.0",
      key: WORKER_KEY,
      host: "127.0.0.1",
      port: 0,
      pool: this.#pool,
      log: silentLog,
    });
    const address = `127.0.0.1:${await this.#server.start()}`;
    this.announce(address);
  }

  announce(address: string): void {
    this.placement.update({
      worker_id: `w-${address}`,
      address,
      capacity: 1,
      sessions: 0,
      version: "0.0.0",
      engines: [],
      ...(this.#model && { language_model: this.#model.status }),
      draining: false,
    });
  }

  /** Tells the placement of the running worker again, as it does itself each second. */
  heard(): void {
    for (const { address } of this.placement.status()) this.announce(address);
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#server?.stop(0);
    await this.#model?.stop();
    await this.#pool?.stop();
    await this.fixture.close();
  }

  /** A session of `owner` in the workspace in which the lines were said, five seconds each. */
  async tell(
    workspaceId: string,
    owner: UserPrincipal,
    lines: readonly (readonly [label: string, text: string])[],
  ): Promise<Told> {
    const device = await this.fixture.device(workspaceId, owner.id);
    const sessionId = await this.fixture.start(device);
    const story = await SessionStory.open(this.fixture, sessionId);
    const segmentIds: string[] = [];
    for (const [index, [label, text]] of lines.entries()) {
      segmentIds.push(await story.say(label, index * 80_000, text));
    }
    return { sessionId, story, segmentIds };
  }

  async claim(sessionId: string, label: string, userId: string): Promise<void> {
    await this.fixture.sql(
      `insert into speaker_claims (session_id, label, source, claimed_user_id, by_user_id)
       values ($1, $2, 'self_claim', $3, $3)`,
      [sessionId, label, userId],
    );
  }

  async guest(sessionId: string): Promise<Principal> {
    const id = newId();
    await this.fixture.sql(
      `insert into guests (id, session_id, display_name, expires_at)
       values ($1, $2, 'Gina', now() + interval '1 hour')`,
      [id, sessionId],
    );
    const rest = { displayName: "Gina", tokenId: newId(), expiresAt: Date.now() + 3_600_000 };
    return { kind: "guest", id, role: "guest", sessionId, ...rest };
  }

  elevations(): ElevationStore {
    return new ElevationStore(this.fixture.pool);
  }

  audit(): AuditStore {
    return new AuditStore(this.fixture.pool);
  }

  async askSession(principal: Principal, sessionId: string, query: string) {
    const params = { session_id: sessionId };
    return this.#ask("querySession", principal, params, query);
  }

  async askWorkspace(principal: Principal, id: string, query: string, signal?: AbortSignal) {
    return this.#ask("queryWorkspace", principal, { id }, query, signal);
  }

  async search(principal: Principal, id: string, query: Record<string, unknown>) {
    const call = { principal, params: { id }, query };
    return jsonBody(await callRoute(this.routes, "searchWorkspace", call)) as unknown as Found;
  }

  async searchEverywhere(principal: Principal, query: Record<string, unknown>) {
    const answer = await callRoute(this.routes, "searchSessions", { principal, query });
    return jsonBody(answer) as unknown as Found;
  }

  async #ask(
    route: string,
    principal: Principal,
    params: Record<string, string>,
    query: string,
    signal?: AbortSignal,
  ) {
    const call = { principal, params, body: { query }, ...(signal && { signal }) };
    return jsonBody(await callRoute(this.routes, route, call)) as unknown as {
      answer: string;
      tools_used: string[];
      citations: Record<string, unknown>[];
      model?: string;
    };
  }
}
