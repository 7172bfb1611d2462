import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import { ModelError } from "../../../../workers/language-model/chat-client.ts";
import { LanguageModel } from "../../../../workers/language-model/language-model.ts";
import type { ModelSettings } from "../../../../workers/language-model/model-settings.ts";
import {
  type ModelAnswer,
  ModelServer,
  type ModelServerKind,
} from "../../../support/model-server.ts";
import { until } from "../../../support/until.ts";

const KINDS: readonly ModelServerKind[] = ["ollama", "vllm", "llama.cpp"];
const NEVER = new AbortController().signal;
const ASK = { system: "You are brief.", user: "Hello?", answerTokens: 50 };

let cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function serve(options: Parameters<typeof ModelServer.start>[0] = {}): Promise<ModelServer> {
  const server = await ModelServer.start(options);
  cleanups.push(() => server.close());
  return server;
}

function modelOf(server: ModelServer, settings: Partial<ModelSettings> = {}): LanguageModel {
  const model = new LanguageModel({
    settings: {
      ...{ baseUrl: server.url, model: "small", key: undefined, isLocal: true },
      ...{ requestTokens: 8_000, timeoutMs: 5_000, concurrency: 2, ...settings },
    },
    log: silentLog,
    waits: { firstMs: 10 },
  });
  cleanups.push(() => model.stop());
  return model;
}

async function faultOf(asked: Promise<unknown>): Promise<ModelError> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelError)) throw new Error(`no ModelError: ${String(error)}`);
  return error;
}

/** Has Node's own `fetch` give up after half a second without an answer, instead of five minutes. */
function shortPatience(): { restore(): void } {
  const place = Symbol.for("undici.globalDispatcher.1");
  // What is there comes with the first use.
  void Response;
  const usual: unknown = Reflect.get(globalThis, place);
  if (typeof usual !== "object" || usual === null) throw new Error("fetch has no dispatcher");
  const Agent = usual.constructor as new (options: object) => object;
  Reflect.set(globalThis, place, new Agent({ headersTimeout: 500 }));
  return { restore: () => Reflect.set(globalThis, place, usual) };
}

describe("language model: servers of each kind", () => {
  it.each(KINDS)("%s: abilities, text and tokens", async (kind) => {
    const server = await serve({ kind });
    server.answer = () => ({ text: "<think>Hm.</think>\nHello." });
    const model = modelOf(server);
    expect(model.status).toMatchObject({ answers: false, abilities: [] });
    await model.probe();
    expect(model.status).toEqual({
      ...{ name: "small", local: true, answers: true },
      abilities: ["json_schema", "tools"],
    });
    expect(await model.ask(ASK, "tenant", NEVER)).toEqual({
      ...{ text: "Hello.", calls: [], isWhole: true },
      tokens: { read: 100, written: 20 },
    });
    expect(model.metricsText()).toContain('voice_model_requests_total{outcome="answered"} 1\n');
    expect(model.metricsText()).toContain('voice_model_tokens_total{kind="read"} 100\n');
    expect(model.metricsText()).toContain("voice_model_up 1\n");
  });

  it.each(KINDS)("%s without tools still answers by schema", async (kind) => {
    const server = await serve({ kind, hasTools: false });
    const model = modelOf(server);
    await model.probe();
    expect(model.status).toMatchObject({ answers: true, abilities: ["json_schema"] });
  });

  it("one that passes over schemas is asked for plain text", async () => {
    const server = await serve({ hasTools: false });
    server.keepsToSchema = false;
    const model = modelOf(server);
    await model.probe();
    expect(model.status).toMatchObject({ answers: true, abilities: [] });
  });

  it("abilities are found out once, and its list of models tells afterwards that it answers", async () => {
    const server = await serve();
    const model = modelOf(server);
    await model.probe();
    const { length } = server.checks;
    await model.probe();
    await model.probe();
    expect(server.checks).toHaveLength(length);
    expect(server.lists).toBe(2);
    expect(server.requests).toHaveLength(0);
  });

  it("a refused request lets them be found out anew, as another model may be there", async () => {
    const server = await serve();
    const model = modelOf(server);
    await model.probe();
    const { length } = server.checks;
    server.answer = () => ({ status: 400, body: { error: { message: "no grammar" } } });
    expect((await faultOf(model.ask(ASK, "tenant", NEVER))).fault).toBe("rejected");
    expect(model.status.answers).toBe(true);
    await model.probe();
    expect(server.checks.length).toBeGreaterThan(length);
  });
});

describe("language model: servers that fail", () => {
  const FAULTS: [string, ModelAnswer, RegExp][] = [
    ["broken off", "break", /does not answer/],
    ["cut JSON", { half: '{"choices": [{"message": {"content": "He' }, /no JSON/],
    ["a page instead", { status: 200, body: "<html>Sign in</html>" }, /its answer is none/],
    ["no choice", { status: 200, body: { choices: [] } }, /its answer is none/],
    ["an error of the server", { status: 500, body: { error: "oh" } }, /answers 500/],
    ["too much to do", { status: 503, body: {} }, /answers 503/],
  ];

  it.each(FAULTS)("%s: three tries, then it is away", async (_name, answer, message) => {
    const server = await serve();
    const model = modelOf(server);
    await model.probe();
    server.answer = () => answer;
    const error = await faultOf(model.ask(ASK, "tenant", NEVER));
    expect(error.fault).toBe("away");
    expect(error.message).toMatch(message);
    expect(server.requests).toHaveLength(3);
    expect(model.status).toMatchObject({ answers: false, reason: error.message });
    server.answer = () => ({ text: "Back." });
    await model.probe();
    expect(model.status.answers).toBe(true);
  });

  it("one that fails once is asked again", async () => {
    const server = await serve();
    server.answer = (_request, count) => (count === 1 ? "break" : { text: "Hello." });
    expect((await modelOf(server).ask(ASK, "tenant", NEVER)).text).toBe("Hello.");
  });

  it("an answer without end is cut off", async () => {
    const server = await serve();
    server.answer = () => "endless";
    const error = await faultOf(modelOf(server).ask(ASK, "tenant", NEVER));
    expect(error.message).toMatch(/too long/);
  });

  it("one that hangs is given up in time, and not asked again", async () => {
    const server = await serve();
    server.answer = () => "hang";
    const began = performance.now();
    const error = await faultOf(modelOf(server, { timeoutMs: 300 }).ask(ASK, "tenant", NEVER));
    expect(error.message).toMatch(/no answer in time/);
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(server.requests).toHaveLength(1);
    await until(() => server.abandoned === 1, "the request's end");
  });

  it("one that thinks for longer than fetch waits by itself is asked once", async () => {
    const server = await serve();
    server.answer = async () => {
      await new Promise((done) => setTimeout(done, 2_500));
      return { text: "At last." };
    };
    const model = modelOf(server, { timeoutMs: 30_000 });
    const patience = shortPatience();
    try {
      expect((await model.ask(ASK, "tenant", NEVER)).text).toBe("At last.");
    } finally {
      patience.restore();
    }
    expect(server.requests).toHaveLength(1);
  });

  it("Retry-After is heeded, but never beyond the time of the request", async () => {
    const server = await serve();
    const busy = { status: 429, headers: { "retry-after": "1" }, body: {} };
    server.answer = (_request, count) => (count === 1 ? busy : { text: "Now." });
    const began = performance.now();
    expect((await modelOf(server).ask(ASK, "tenant", NEVER)).text).toBe("Now.");
    expect(performance.now() - began).toBeGreaterThan(950);
    server.answer = () => ({ ...busy, headers: { "retry-after": "3600" } });
    const error = await faultOf(modelOf(server, { timeoutMs: 2_000 }).ask(ASK, "tenant", NEVER));
    expect(error.message).toMatch(/429/);
    expect(server.requests).toHaveLength(3);
  });

  it("a refused key and an unknown model are the operator's, and tried no further", async () => {
    const server = await serve({ key: "right" });
    const locked = modelOf(server, { key: "wrong" });
    await locked.probe();
    expect(locked.status).toMatchObject({
      answers: false,
      reason: expect.stringMatching(/our key/),
    });
    const other = modelOf(server, { key: "right", model: "other" });
    expect((await faultOf(other.ask(ASK, "tenant", NEVER))).fault).toBe("refused");
    expect(other.status.reason).toMatch(/404 for other/);
    const known = modelOf(server, { key: "right" });
    await known.ask(ASK, "tenant", NEVER);
    expect(server.requests.map(({ key }) => key)).toEqual(["right"]);
  });

  it("nothing is sent on to where a server redirects", async () => {
    const other = await serve();
    const server = await serve();
    server.fault = {
      status: 307,
      headers: { location: `${other.url}/chat/completions` },
      body: {},
    };
    await faultOf(modelOf(server, { key: "secret" }).ask(ASK, "tenant", NEVER));
    expect(other.requests).toHaveLength(0);
  });

  it("counts of tokens that make no sense are estimated", async () => {
    const server = await serve();
    server.answer = () => ({ text: "Hello there.", usage: { prompt_tokens: -5 } });
    const { tokens } = await modelOf(server).ask(ASK, "tenant", NEVER);
    expect(tokens).toEqual({ read: 7, written: 4 });
  });
});

describe("language model: bounds", () => {
  it("so many requests at once, for tenants in turn", async () => {
    const server = await serve();
    const order: string[] = [];
    server.answer = async ({ messages }) => {
      order.push(messages[1]?.content ?? "");
      await new Promise((done) => setTimeout(done, 20));
      return { text: "Hello." };
    };
    const model = modelOf(server, { concurrency: 1 });
    const ask = (tenant: string, user: string) => model.ask({ ...ASK, user }, tenant, NEVER);
    await Promise.all([
      ...["a1", "a2", "a3", "a4"].map((user) => ask("a", user)),
      ...["b1", "b2"].map((user) => ask("b", user)),
    ]);
    expect(server.most).toBe(1);
    expect(order).toEqual(["a1", "a2", "b1", "a3", "b2", "a4"]);
  });

  it("whoever gives up frees the place, also while waiting", async () => {
    const server = await serve();
    server.answer = () => "hang";
    const model = modelOf(server, { concurrency: 1 });
    const given = new AbortController();
    const running = model.ask(ASK, "a", given.signal);
    const waiting = model.ask(ASK, "b", given.signal);
    await until(() => server.requests.length === 1, "the first request");
    expect(model.queues).toMatchObject([{ queue: "model_requests", length: 2 }]);
    given.abort();
    await expect(running).rejects.toThrow();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    await until(() => server.abandoned === 1, "the request's end");
    server.answer = () => ({ text: "Hello." });
    expect((await model.ask(ASK, "c", NEVER)).text).toBe("Hello.");
    expect(model.metricsText()).toContain('voice_model_requests_total{outcome="given_up"} 1\n');
  });
});
