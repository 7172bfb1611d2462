import { beforeAll, describe, expect, it } from "vitest";
import { wavHeader } from "../../src/base/audio/wav.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { CompatCaller } from "../support/compat-caller.ts";
import { call, scriptedChunks } from "../support/paired-device.ts";

describe("sessions of other services' clients", () => {
  let service: AppFixture;
  let caller: CompatCaller;
  let session: string;

  beforeAll(async () => {
    service = await AppFixture.shared();
    caller = await CompatCaller.open(service);
    const [pcm = Buffer.alloc(0)] = scriptedChunks(5);
    const answer = await fetch(`${service.api}/compat/deepgram/v1/listen?model=nova`, {
      method: "POST",
      headers: {
        authorization: `Token ${await caller.key("transcribe")}`,
        "content-type": "audio/wav",
      },
      body: Buffer.concat([wavHeader(pcm.byteLength / 2), pcm]),
    });
    const body = (await answer.json()) as { metadata: { request_id: string }; results: unknown };
    expect(JSON.stringify(body.results)).toContain("launch");
    session = body.metadata.request_id;
  });

  it("compat: an id that a program was answered with lets no guest in", async () => {
    const body = { session_id: session, display_name: "whoever saw a request id" };
    const entry = await call(service.api, "POST", "/auth/guest", { body });
    expect([entry.status, entry.headers.get("x-error-code")]).toEqual([403, "guest_access_closed"]);
  });

  it("compat: the owner sees that they are closed, and may open one", async () => {
    const { token } = caller;
    const path = `/sessions/${session}`;
    const kept = await call(service.api, "GET", path, { token });
    expect(kept.body.guest_access).toBe("closed");
    const opened = await call(service.api, "PATCH", path, {
      token,
      body: { guest_access: "open" },
    });
    expect(opened.status).toBe(200);
    const body = { session_id: session, display_name: "Anna" };
    expect((await call(service.api, "POST", "/auth/guest", { body })).status).toBe(201);
  });
});
