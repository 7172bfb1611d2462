import type { Principal, UserPrincipal } from "../../src/access/principal.ts";
import type { GraphBuilder } from "../../src/conversations/questions/graph/builder.ts";
import { createGraph } from "../../src/conversations/questions/graph/feature.ts";
import { SearchStore } from "../../src/conversations/questions/search-store.ts";
import type { ExtractedGraph, WorkerEntities } from "../../src/inference/worker-entities.ts";
import type { Route } from "../../src/rest/route.ts";
import { extractGraph } from "../../workers/text/graph/extract.ts";
import { finish } from "./finish-steps.ts";
import { type Call, callRoute, jsonBody } from "./route-call.ts";
import { SessionFixture } from "./session-fixture.ts";
import { SessionStory } from "./session-story.ts";

/** The graph routes over a real database, with the real extraction on this thread. */
export class GraphFixture {
  readonly fixture: SessionFixture;
  readonly routes: readonly Route[];
  readonly builder: GraphBuilder;
  extractions = 0;
  /** Runs before each extraction. */
  before: () => Promise<void> = async () => {};

  private constructor(fixture: SessionFixture) {
    this.fixture = fixture;
    const extractor: Pick<WorkerEntities, "extract" | "close"> = {
      extract: async ({ segments, speakers, ...session }) => {
        this.extractions += 1;
        await this.before();
        const request = { ...session, segments: [...segments], speakers: [...speakers] };
        return finish(extractGraph(request)) as ExtractedGraph;
      },
      close: () => {},
    };
    const { context, directory, workspaces } = fixture;
    const workspaceSessions = new SearchStore(fixture.pool);
    const parts = { directory, workspaces, workspaceSessions, extractor };
    const { builder, routes } = createGraph(context, parts);
    this.builder = builder;
    this.routes = routes;
  }

  static async open(): Promise<GraphFixture> {
    return new GraphFixture(await SessionFixture.open());
  }

  async close(): Promise<void> {
    await this.builder.close();
    await this.fixture.close();
  }

  /** A session of a new owner in a new workspace, in which this was said. */
  async session(lines: readonly (readonly [label: string, text: string])[]) {
    const { device, owner } = await this.fixture.ownDevice();
    return {
      ...(await this.sessionOf(device, lines)),
      owner,
      device,
      workspaceId: device.workspaceId,
    };
  }

  async sessionOf(
    device: Parameters<SessionFixture["start"]>[0],
    lines: readonly (readonly [label: string, text: string])[],
  ) {
    const sessionId = await this.fixture.start(device);
    const story = await SessionStory.open(this.fixture, sessionId);
    const segmentIds: string[] = [];
    let at = 0;
    for (const [label, text] of lines) {
      segmentIds.push(await story.say(label, at, text));
      at += 16_000 * 60;
    }
    return { sessionId, story, segmentIds };
  }

  call(id: string, overrides: Call): ReturnType<typeof callRoute> {
    return callRoute(this.routes, id, overrides);
  }

  async sessionGraph(
    principal: UserPrincipal,
    sessionId: string,
    query: Record<string, unknown> = {},
  ): Promise<GraphBody> {
    const params = { session_id: sessionId };
    return body(await this.call("getSessionGraph", { principal, params, query }));
  }

  async workspaceGraph(
    principal: Principal,
    workspaceId: string,
    query: Record<string, unknown> = {},
  ): Promise<GraphBody> {
    const params = { id: workspaceId };
    return body(await this.call("getWorkspaceGraph", { principal, params, query }));
  }
}

export interface GraphBody {
  entities: {
    id: string;
    name: string;
    type: string;
    mention_count: number;
    session_count: number;
  }[];
  relations: {
    source_id: string;
    target_id: string;
    kind: string;
    label?: string;
    weight: number;
  }[];
  communities: { label: string; entity_ids: string[] }[];
  stale: boolean;
  pending_sessions: number;
  session_count: number;
  total_entities: number;
}

function body(reply: Awaited<ReturnType<typeof callRoute>>): GraphBody {
  return jsonBody(reply) as unknown as GraphBody;
}
