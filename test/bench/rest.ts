import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { BenchFixture, type MainProcess } from "./bench-fixture.ts";
import { ChildTask } from "./child-task.ts";
import type { LoadQuestion, LoadResult } from "./http-load.ts";
import { profileFlags } from "./profile-flags.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const USERS = 20;
const SESSIONS_EACH = 10;
const CONNECTIONS = 64;

interface Stage {
  main: MainProcess;
  fastify: ChildTask;
  bare: ChildTask;
  load: ChildTask;
  requests: string[];
}

/** GET /sessions/{id} with a token, through all of the front, against fastify; health against bare uWebSockets.js. */
export async function measureRest(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  const stage = await open(fixture);
  try {
    return [await measureRead(stage, scale), await measureHealth(stage, scale)];
  } finally {
    await Promise.all([stage.load.stop(), stage.fastify.stop(), stage.bare.stop()]);
    await stage.main.stop();
    await fixture.close();
  }
}

async function open(fixture: BenchFixture): Promise<Stage> {
  const requests: string[] = [];
  for (let user = 0; user < USERS; user += 1) {
    const owner = await fixture.addUser();
    for (let session = 0; session < SESSIONS_EACH; session += 1) {
      requests.push(get(`/api/sessions/${await fixture.addSession(owner)}`, owner.token));
    }
  }
  const main = await fixture.startMain("front", profileFlags());
  const jwks = join(fixture.folder, "jwks.json");
  const { ring } = await loadKeyFolder(fixture.keyFolder);
  writeFileSync(jwks, JSON.stringify({ keys: ring.publicJwks }));
  return {
    main,
    requests,
    fastify: new ChildTask("rest-peer.ts", [fixture.database.serviceUrl, jwks]),
    bare: new ChildTask("health-peer.ts"),
    load: new ChildTask("http-load.ts"),
  };
}

async function measureRead(stage: Stage, scale: BenchScale): Promise<BenchRow> {
  const peer = await stage.fastify.ask<number>({});
  const tails = { ours: [] as number[], fastify: [] as number[] };
  const contender = (name: keyof typeof tails, port: number) => async () => {
    const { perSecond, p99 } = await run(stage, port, stage.requests, scale.roundMs * 2);
    tails[name].push(p99);
    return perSecond;
  };
  const figures = await interleave(scale.rounds, {
    ours: contender("ours", stage.main.port),
    fastify: contender("fastify", peer),
  });
  const ratio = medianRatio(figures.ours, figures.fastify);
  return {
    figure: "authenticated read of one session",
    unit: "requests/s",
    ours: median(figures.ours),
    peer: { name: "fastify", value: median(figures.fastify) },
    ratio,
    mark: ">= 3x",
    met: ratio >= 3,
    detail: `${USERS} users, ${USERS * SESSIONS_EACH} sessions, ${CONNECTIONS} connections; p99 ${median(tails.ours).toFixed(1)} ms, of fastify ${median(tails.fastify).toFixed(1)} ms; same PostgreSQL, token checks and rights on both sides`,
  };
}

async function measureHealth(stage: Stage, scale: BenchScale): Promise<BenchRow> {
  const peer = await stage.bare.ask<number>({});
  const requests = [get("/api/health/live", undefined)];
  const contender = (port: number) => async () =>
    (await run(stage, port, requests, scale.roundMs)).perSecond;
  const figures = await interleave(scale.rounds, {
    ours: contender(stage.main.port),
    bare: contender(peer),
  });
  const ratio = medianRatio(figures.ours, figures.bare);
  return {
    figure: "health check",
    unit: "requests/s",
    ours: median(figures.ours),
    peer: { name: "bare uWebSockets.js", value: median(figures.bare) },
    ratio,
    mark: ">= 0.9x",
    met: ratio >= 0.9,
    detail: "GET /health/live; the load generator takes a core on both sides",
  };
}

function run(stage: Stage, port: number, requests: string[], ms: number): Promise<LoadResult> {
  const question: LoadQuestion = {
    kind: "repeat",
    port,
    requests,
    connections: CONNECTIONS,
    ms,
  };
  return stage.load.ask<LoadResult>(question);
}

function get(path: string, token: string | undefined): string {
  const authorization = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  return [`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", ...authorization, "\r\n"].join("\r\n");
}
