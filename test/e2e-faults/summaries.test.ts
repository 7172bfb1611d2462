import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Job {
  id: string;
  status: string;
  progress: number;
  summary_text: string;
  [member: string]: unknown;
}

interface Summary {
  job_id: string;
  summary_type: string;
  text: string;
  items: { text: string; segment_ids: string[]; start_ms: number; owner?: string; due?: string }[];
  stale: boolean;
}

const NOTES = ["brief", "detailed", "action_items", "decisions", "topics", "open_questions"];
const TYPES = [...NOTES, "speakers"];

describe("summaries", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let viewer: Viewer;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service, "admin");
    device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = cut(4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
    await viewer.received("Snapshot");
  });
  afterAll(async () => {
    viewer?.socket.close();
    await service.healthy();
  });

  const send = <T = Job>(method: string, path: string, body?: object) =>
    call<T>(service.api, method, path, { token: device.token, body });

  const summariesPath = () => `/sessions/${device.sessionId}/summaries`;

  const detail = async (id: string) => (await send("GET", `/admin/jobs/summarisations/${id}`)).body;

  async function list(): Promise<Summary[]> {
    return (await send<{ items: Summary[] }>("GET", summariesPath())).body.items;
  }

  async function made(summary_type: string): Promise<string> {
    const { status, body } = await send("POST", summariesPath(), { summary_type });
    expect(status).toBe(202);
    await until(async () => (await detail(body.id)).status === "completed", summary_type, 60_000);
    return body.id;
  }

  it("summaries: notes are there by themselves when a session has ended", async () => {
    const types = async () => (await list()).map(({ summary_type }) => summary_type).sort();
    await until(async () => (await types()).length === NOTES.length, "the notes", 60_000);
    expect(await types()).toEqual([...NOTES].sort());
  });

  it("summaries: each type is made from what was said, and points at it", async () => {
    const segments = await device.segments();
    const ids = new Set(segments.map(({ id }) => id));
    for (const type of TYPES) await made(type);
    const found = await list();
    expect(found.map(({ summary_type }) => summary_type).sort()).toEqual([...TYPES].sort());
    for (const { items, text, stale, summary_type } of found) {
      expect(stale).toBe(false);
      expect(text.length).toBeGreaterThan(10);
      // Nothing is left open in this conversation.
      if (summary_type !== "open_questions") expect(items.length).toBeGreaterThan(0);
      for (const { segment_ids } of items) for (const id of segment_ids) expect(ids).toContain(id);
    }
  });

  it("summaries: the decision and the promises of the conversation are found", async () => {
    const found = new Map((await list()).map((summary) => [summary.summary_type, summary]));
    expect(found.get("decisions")?.text).toMatch(/decided to start on Monday/);
    const actions = found.get("action_items")?.items ?? [];
    expect(actions).toContainEqual(
      expect.objectContaining({
        text: expect.stringMatching(/write to all of our customers/),
        owner: "S2",
        due: "before the end of this month",
      }),
    );
    expect(actions).toContainEqual(
      expect.objectContaining({ text: expect.stringMatching(/talk to the people/), owner: "S3" }),
    );
    expect(found.get("speakers")?.text).toMatch(/S1 spoke \d+ % of the time/);
  });

  it("summaries: viewers are told, and admins see the job as the interface says", async () => {
    const id = await made("brief");
    const isIt = (frame: object) => "job_id" in frame && frame.job_id === id;
    await until(() => viewer.frames.some(isIt), "SummaryUpdated", 20_000);
    expect(viewer.frames.find(isIt)).toMatchObject({
      type: "SummaryUpdated",
      session_id: device.sessionId,
      summary_type: "brief",
      seq: expect.any(Number),
    });
    const job = await detail(id);
    expect(Object.keys(job).sort()).toEqual([
      "completed_at",
      "created_at",
      "error",
      "id",
      "progress",
      "session_id",
      "status",
      "summary_text",
      "summary_type",
      "workspace_id",
    ]);
    expect(job).toMatchObject({ progress: 1, error: "", session_id: device.sessionId });
    expect((await list()).find(({ job_id }) => job_id === id)?.text).toBe(job.summary_text);
  });

  it("summaries: a job waits while its worker is away, and is done by the next", async () => {
    const pid = service.kill("worker");
    const { body } = await send("POST", summariesPath(), { summary_type: "detailed" });
    await service.replaced("worker", pid);
    await until(async () => (await detail(body.id)).status === "completed", "the job", 60_000);
    expect((await detail(body.id)).summary_text).toMatch(/^00:00 .*\nS1: .*the final report/s);
  });
});
