import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { halfOf } from "../support/demo-voices.ts";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Speaker {
  speaker_label: string;
  claimed_user_id?: string;
  display_name?: string;
  suggestions?: { user_id: string; display_name: string; likelihood: number }[];
}

/** The shipped conversation, recognised for real: a voice that was recorded alone is known again. */
describe("remembered voices", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;

  beforeAll(async () => {
    service = await WholeService.start({ RATE_LIMIT_FACTOR: "0" });
    owner = await newOwner(service, "admin");
    device = await PairedDevice.pair(service, owner);
  });
  afterAll(() => service?.stop());

  async function hold(chunks: Buffer[]): Promise<void> {
    await device.start();
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
  }

  const send = (method: string, path: string, body?: unknown) =>
    call<Record<string, unknown>>(service.api, method, path, {
      token: device.token,
      ...(body === undefined ? {} : { body }),
    });

  async function speakers(): Promise<Speaker[]> {
    const { body } = await send("GET", `/sessions/${device.sessionId}/speakers`);
    return body.items as Speaker[];
  }

  async function suggestionsOf(label: string): Promise<Speaker["suggestions"]> {
    return (await speakers()).find((each) => each.speaker_label === label)?.suggestions;
  }

  it("remembered voices: are suggested in the next session, also after a redo, until they are forgotten", async () => {
    await hold(cut(2, Buffer.from(halfOf("Alan", 0).buffer)));
    const first = device.sessionId;
    const claims = () => `/sessions/${device.sessionId}/speaker-claims`;
    const claim = { speaker_label: "S1", source: "self_claim" };
    const claimed = await send("POST", claims(), claim);
    expect(claimed.status).toBe(200);
    const me = String(claimed.body.claimed_user_id);
    const { body: session } = await send("GET", `/sessions/${first}`);
    const wanted = { workspace_id: session.workspace_id, session_id: first, label: "S1" };
    expect((await send("PUT", "/users/me/voice", wanted)).status).toBe(400);
    const put = await send("PUT", "/users/me/voice", { ...wanted, consent: true });
    expect(put.status, JSON.stringify(put.body)).toBe(200);

    // Two rounds of the conversation, so that everybody speaks for more than ten seconds.
    await hold([...cut(2), ...cut(2)]);
    expect(device.sessionId).not.toBe(first);
    const isSuggested = async () => (await suggestionsOf("S3"))?.[0]?.user_id === me;
    await until(isSuggested, "the suggestion", 30_000);
    const [suggestion] = (await suggestionsOf("S3")) ?? [];
    expect(suggestion?.likelihood).toBeGreaterThanOrEqual(0.9);
    for (const { suggestions, ...speaker } of await speakers()) {
      expect(speaker).not.toHaveProperty("claimed_user_id");
      if (speaker.speaker_label !== "S3") expect(suggestions).toBeUndefined();
    }

    const { body: later } = await send("GET", `/sessions/${device.sessionId}`);
    const job = `/admin/jobs/transcriptions/${later.transcription_job_id}`;
    expect((await send("POST", `${job}/redo`)).status).toBe(200);
    const isRedone = async () => (await send("GET", job)).body.status === "completed";
    await until(isRedone, "the redo", 60_000);
    await until(isSuggested, "the suggestion after the redo", 30_000);

    expect((await send("DELETE", "/users/me/voice")).status).toBe(200);
    expect(await suggestionsOf("S3")).toBeUndefined();
    expect((await send("GET", "/users/me/voice")).body).toEqual({ items: [], lapsed: [] });
    const named = await send("PATCH", `/sessions/${device.sessionId}/speakers/S3`, {
      display_name: "Alan",
    });
    expect(named.body).toMatchObject({ display_name: "Alan", free_name: "Alan" });
  });
});
