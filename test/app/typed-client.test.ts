import createClient from "openapi-fetch";
import { beforeAll, describe, expect, it } from "vitest";
import type { paths } from "../../src/client/gen/api-schema.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { PairedDevice, PCM, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

/** An integrator's day with nothing but the client that is made from the document. */
describe("typed client", () => {
  let service: AppFixture;
  let device: PairedDevice;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = await AppFixture.shared();
    owner = await newOwner(service, "admin");
    device = await PairedDevice.pair(service, owner);
  });

  const clientWith = (headers: Record<string, string>) =>
    createClient<paths>({ baseUrl: service.api, headers });

  /** What a call brought, or the error that the service told. */
  async function data<T>(call: Promise<{ data?: T; response: Response }>): Promise<NonNullable<T>> {
    const { data: found, response } = await call;
    if (found === undefined || found === null) {
      throw new Error(`${response.url} answered ${response.status}`);
    }
    return found;
  }

  it("typed client: signs in, records, reads, claims, asks, sums up, deletes", async () => {
    const { email, password } = owner;
    const { token } = await data(
      clientWith({}).POST("/auth/login", { body: { email, password, remember_me: false } }),
    );
    const user = clientWith({ authorization: `Bearer ${token}` });
    const machine = clientWith({ "x-api-key": device.key });
    const started = await data(
      machine.POST("/devices/{device_id}/session/start", {
        params: { path: { device_id: device.id } },
        body: { title: "Typed" },
      }),
    );
    const path = { session_id: started.session_id };
    for (const [sequence, bytes] of scriptedChunks(5).slice(0, 3).entries()) {
      // The body is audio: its bytes go as they are.
      const upload = await fetch(`${service.api}/sessions/${path.session_id}/upload-audio`, {
        method: "POST",
        headers: {
          "x-api-key": device.key,
          "content-type": PCM,
          "x-chunk-sequence": String(sequence),
        },
        body: new Uint8Array(bytes),
      });
      expect(upload.status).toBe(201);
    }
    await machine.POST("/devices/{device_id}/session/stop", {
      params: { path: { device_id: device.id } },
      body: { last_chunk_sequence: 2 },
    });
    await until(
      async () =>
        (await data(user.GET("/sessions/{session_id}", { params: { path } }))).status ===
        "completed",
      "the session to complete",
      180_000,
    );
    const { items } = await data(
      user.GET("/sessions/{session_id}/segments", { params: { path, query: { limit: 5 } } }),
    );
    expect(items[0]?.text).toContain("hello");
    const claim = await data(
      user.POST("/sessions/{session_id}/speaker-claims", {
        params: { path },
        body: { speaker_label: "S1", source: "self_claim" },
      }),
    );
    expect(claim.speaker_label).toBe("S1");
    const answer = await data(
      user.POST("/sessions/{session_id}/hirag-query", {
        params: { path },
        body: { query: "When did the team finish?" },
      }),
    );
    expect(answer.citations.length).toBeGreaterThan(0);
    const job = await data(
      user.POST("/sessions/{session_id}/summaries", {
        params: { path },
        body: { summary_type: "brief" },
      }),
    );
    const jobPath = { params: { path: { id: job.id } } };
    await until(
      async () => (await data(user.GET("/jobs/{id}", jobPath))).status === "completed",
      "the summary",
      60_000,
    );
    const receipt = await data(user.DELETE("/sessions/{session_id}", { params: { path } }));
    expect(receipt.removed.segments).toBe(items.length);
    const gone = await user.GET("/sessions/{session_id}/segments", { params: { path } });
    expect([gone.response.status, gone.data]).toEqual([404, undefined]);
  });
});
