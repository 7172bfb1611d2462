import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { callOf, lineOf, modelSettings, toldTo } from "../support/asked-model.ts";
import { type ModelRequest, ModelServer } from "../support/model-server.ts";
import { startNats } from "../support/nats.ts";
import { call, PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";

interface Answer {
  answer: string;
  tools_used: string[];
  citations: { session_id: string; text: string }[];
  model?: string;
}

const QUESTION = "Who will write to the customers?";

describe("questions by a language model, through the whole service", () => {
  let server: ModelServer;
  let service: AppFixture;
  let device: PairedDevice;
  let path: string;

  beforeAll(async () => {
    server = await ModelServer.start();
    const env = { LLM_QUESTION_SECONDS: "60" };
    service = await AppFixture.start(env, startNats, modelSettings(server));
    device = await PairedDevice.pair(service);
    await device.start();
    const chunks = scriptedChunks(4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    const { body } = await device.get<{ workspace_id: string }>("");
    path = `/workspaces/${body.workspace_id}/agentic-query`;
  });
  afterAll(async () => {
    await service?.stop();
    await server?.close();
  });

  const isQuestion = ({ tools }: ModelRequest) => tools !== undefined;
  const asked = () => server.requests.filter(isQuestion);

  it("the model's sentence is the answer, with what it cites", async () => {
    const says = (request: ModelRequest): string => {
      const line = toldTo(request)
        .flat()
        .find(({ said }) => said?.includes("customers"));
      return `${line?.said}. [${lineOf(request, /customers/)}]`;
    };
    server.answer = (request) => {
      if (!isQuestion(request)) return { text: "NONE" };
      const search = callOf("full_text_search", { words: "customers" });
      return toldTo(request).length === 0 ? search : { text: says(request) };
    };
    const { status, body } = await call<Answer>(service.api, "POST", path, {
      token: device.token,
      body: { query: QUESTION },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ model: "small", tools_used: ["full_text_search"] });
    expect(body.citations).toMatchObject([
      { session_id: device.sessionId, text: expect.stringContaining("customers") },
    ]);
    expect(body.answer).toContain("customers");
  });

  it("when the client goes, the request to the model ends", async () => {
    server.answer = (request) => (isQuestion(request) ? "hang" : { text: "NONE" });
    server.requests.length = 0;
    const before = server.abandoned;
    const gone = new AbortController();
    const request = fetch(`${service.api}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${device.token}`, "content-type": "application/json" },
      body: JSON.stringify({ query: QUESTION }),
      signal: gone.signal,
    }).catch(() => undefined);
    await until(() => asked().length === 1, "the request");
    gone.abort();
    await request;
    await until(() => server.abandoned > before, "its end");
  });
});
