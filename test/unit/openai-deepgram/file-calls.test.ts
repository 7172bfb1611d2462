import { describe, expect, it } from "vitest";
import type { ServicePrincipal } from "../../../src/access/principal.ts";
import type { WholeFiles } from "../../../src/conversations/recording/whole-files.ts";
import { FileCalls } from "../../../src/openai-deepgram/file-calls.ts";
import { openAiRoutes } from "../../../src/openai-deepgram/openai-routes.ts";
import { callRoute } from "../../support/route-call.ts";

type Options = ConstructorParameters<typeof FileCalls>[0];

const caller = { kind: "service", makerId: "maker", workspaceId: "w" } as ServicePrincipal;

/** A route whose recordings are stored at once, and never read. */
function routes(stored: () => void = () => {}) {
  const left: { id: string; store: boolean }[] = [];
  const tenantsAsked: string[] = [];
  const audio = { frames: 16_000, sampleRate: 16_000, channels: 1, durationSeconds: 1 };
  const files: Pick<WholeFiles, "inspect" | "store" | "refusalByHead"> = {
    inspect: async (upload, accountId) => {
      tenantsAsked.push(accountId);
      return { upload, audio: { ...audio, mediaType: "audio/wav" }, release: async () => {} };
    },
    store: async ({ accountId }) => {
      tenantsAsked.push(accountId);
      stored();
      return 0;
    },
    refusalByHead: () => undefined,
  };
  const sessions = {
    begin: async (_caller: unknown, { store }: { store: boolean }) => ({ id: "id", store }),
    stop: async () => {},
    leave: async (session: { id: string; store: boolean }) => void left.push(session),
  };
  const frames = { follow: () => ({ next: async () => [], close: () => {} }) };
  const tenants = { ofWorkspace: async (workspaceId: string) => `owner of ${workspaceId}` };
  const calls = new FileCalls({ files, sessions, frames, tenants } as unknown as Options);
  return { left, tenantsAsked, routes: openAiRoutes({ calls, engines: () => [] }) };
}

describe("calls with whole files", () => {
  const upload = {
    content: { kind: "memory" as const, data: Buffer.alloc(0) },
    ...{ bytes: 0, sha256: "", mediaType: "audio/wav", filename: "talk.wav" },
    fields: { model: "whisper-1", stream: "true", store: "false" },
  };

  it("take the share of the account that owns the workspace, whoever made the key", async () => {
    const { tenantsAsked, routes: own } = routes();
    await callRoute(own, "createOpenAiTranscription", { principal: caller, upload });
    expect(tenantsAsked).toEqual(["owner of w", "owner of w"]);
  });

  it("events: a caller that goes before the first one leaves its session", async () => {
    const { left, routes: own } = routes();
    const gone = new AbortController();
    const request = { principal: caller, upload, signal: gone.signal };
    const reply = await callRoute(own, "createOpenAiTranscription", request);
    expect(reply.events).toBeDefined();
    expect(left).toEqual([]);
    gone.abort();
    expect(left).toEqual([{ id: "id", store: false }]);
  });

  it("events: so does one that goes at the first one", async () => {
    const { left, routes: own } = routes();
    const gone = new AbortController();
    const request = { principal: caller, upload, signal: gone.signal };
    const reply = await callRoute(own, "createOpenAiTranscription", request);
    const events = reply.events?.open(gone.signal)[Symbol.asyncIterator]();
    expect((await events?.next())?.value).toBe(": transcribing\n\n");
    gone.abort();
    await events?.return?.();
    expect(left).toEqual([{ id: "id", store: false }]);
  });

  it("events: so does one that has gone while its recording was stored", async () => {
    const gone = new AbortController();
    const { left, routes: own } = routes(() => gone.abort());
    const request = { principal: caller, upload, signal: gone.signal };
    await callRoute(own, "createOpenAiTranscription", request);
    expect(left).toEqual([{ id: "id", store: false }]);
  });
});
