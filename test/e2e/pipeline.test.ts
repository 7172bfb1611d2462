import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { plainWords, textsOfFrames, textsOverGrpc, textsOverRest } from "../support/shown-texts.ts";
import { until } from "../support/until.ts";
import { type Frame, Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Turn {
  speaker: string;
  start_ms: number;
  end_ms: number;
}

const TRUTH = JSON.parse(
  readFileSync(resolve(import.meta.dirname, "../../deploy/demo/conversation.json"), "utf8"),
) as { turns: Turn[] };

describe("pipeline", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let steady: Viewer;
  let dropping: Frame[];

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service, "admin");
    device = await PairedDevice.pair(service, owner);
    await device.start();
    steady = await follow(0);
    const drops = followWithDrops(new SeededRandom(7));
    const chunks = cut(2);
    for (const [sequence, pcm] of chunks.entries()) {
      await device.upload(sequence, pcm);
      // Interim words are shown of what is said now, not while there is more to read.
      if (sequence === 1) await until(() => steady.frames.some(isInterim), "interim words", 30_000);
    }
    await device.stop(chunks.length - 1);
    await device.completed();
    dropping = await drops;
    await until(() => isComplete(steady.frames), "the steady viewer to see the end", 30_000);
  });
  afterAll(async () => {
    steady?.socket.close();
  });

  async function follow(fromSeq: number): Promise<Viewer> {
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: fromSeq });
    return viewer;
  }

  const durable = (frames: readonly Frame[]) =>
    frames.filter(({ seq, at }) => seq !== undefined && at !== undefined);

  const isInterim = ({ type, is_final }: Frame) => type === "Results" && is_final === false;

  const isComplete = (frames: readonly Frame[]) =>
    frames.some((frame) => frame.type === "SessionStatus" && frame.status === "completed");

  /** Follows, drops the socket every few frames, and comes back with the newest seq it saw. */
  async function followWithDrops(random: SeededRandom): Promise<Frame[]> {
    const seen: Frame[] = [];
    while (!isComplete(seen)) {
      const viewer = await follow(seen.at(-1)?.seq ?? 0);
      const limit = 1 + random.below(12);
      const enough = () =>
        durable(viewer.frames).length >= limit || isComplete(durable(viewer.frames));
      await until(enough, "frames", 60_000);
      seen.push(...durable(viewer.frames));
      viewer.socket.terminate();
    }
    return seen;
  }

  it("pipeline: the words come with the right voices", async () => {
    const segments = await device.segments();
    const pairs = segments.map(({ start_ms, end_ms, speaker_label }) => {
      const middle = (start_ms + end_ms) / 2;
      const turn = TRUTH.turns.find((t) => t.start_ms <= middle && middle <= t.end_ms);
      return `${turn?.speaker}=${speaker_label}`;
    });
    expect([...new Set(pairs)].sort()).toEqual(["Alan=S3", "Anna=S1", "Ben=S2"]);
    expect(
      segments
        .map((s) => s.text)
        .join(" ")
        .split(" ").length,
    ).toBeGreaterThan(110);
  });

  it("pipeline: interim words come before their final, under the same id", () => {
    const results = steady.frames.filter((frame) => frame.type === "Results");
    const finals = results.filter((frame) => frame.is_final);
    const interim = new Set(results.filter((f) => !f.is_final).map((f) => f.segment_id));
    expect(finals.length).toBeGreaterThan(5);
    expect(finals.some((frame) => interim.has(frame.segment_id))).toBe(true);
  });

  it("pipeline: the same words, with their marks, are on every surface", async () => {
    const wanted = { workspace_id: owner.workspaceId, name: "Program", scopes: ["sessions:read"] };
    const made = await call<{ key: string }>(service.api, "POST", "/api-keys", {
      token: owner.token,
      body: wanted,
    });
    const address = service.ready.grpc_sessions?.replace(/^.*\/\//, "") ?? "";
    const surfaces = {
      ...(await textsOverRest(device)),
      ...(await textsOverGrpc(address, made.body.key, device.sessionId)),
      live: textsOfFrames(steady.frames),
    };
    const { segments } = surfaces;
    expect(segments.join(" ")).toMatch(/[A-Z].*[.?]/);
    for (const [surface, texts] of Object.entries(surfaces)) {
      expect(plainWords(texts), surface).toBe(plainWords(segments));
    }
    const letters = ["json", "listed", "watched", "live"] as const;
    for (const surface of letters) expect(surfaces[surface], surface).toEqual(segments);
  });

  it("pipeline: each durable event is seen once, in order, drops or not", () => {
    const seqs = durable(steady.frames).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, n) => n + 1));
    const strip = (frames: readonly Frame[]) => frames.map(({ seq, type }) => [seq, type]);
    expect(strip(dropping)).toEqual(strip(durable(steady.frames)).slice(0, dropping.length));
    expect(isComplete(dropping)).toBe(true);
  });

  it("pipeline: the transcription job tells the truth", async () => {
    const { token, sessionId } = device;
    const list = await call<{ items: { id: string }[] }>(
      service.api,
      "GET",
      `/admin/jobs/transcriptions?session_id=${sessionId}`,
      { token },
    );
    const { body } = await call<Record<string, unknown>>(
      service.api,
      "GET",
      `/admin/jobs/transcriptions/${list.body.items[0]?.id}`,
      { token },
    );
    const segments = await device.segments();
    expect(body).toMatchObject({
      session_id: sessionId,
      status: "completed",
      progress: 1,
      error: "",
      detected_language: "en",
      segment_count: segments.length,
      speaker_count: 3,
      content_visible: true,
      elevation_required: false,
      session_was_deleted: false,
    });
    expect(body.avg_confidence).toBeGreaterThan(0.3);
    expect(body.duration_ms).toBeGreaterThan(42_000);
  });

  it("pipeline: a guest claims a voice, and the owner's assignment overrides it", async () => {
    const guest = await call<{ token: string; guest: { id: string } }>(
      service.api,
      "POST",
      "/auth/guest",
      { body: { session_id: device.sessionId, display_name: "Gita" } },
    );
    expect(guest.status).toBe(201);
    const claims = `/sessions/${device.sessionId}/speaker-claims`;
    const claim = { speaker_label: "S2", source: "self_claim" };
    const byGuest = await call(service.api, "POST", claims, {
      token: guest.body.token,
      body: claim,
    });
    expect(byGuest.body).toEqual({ ...claim, claimed_user_id: guest.body.guest.id });
    const again = await call(service.api, "POST", claims, { token: device.token, body: claim });
    expect(again.status).toBe(409);
    const user = await call<{ id: string }>(service.api, "POST", "/users", {
      token: device.token,
      body: {
        email: "ben@example.org",
        name: "Ben",
        role: "participant",
        password: "long enough 1",
      },
    });
    const assignment = {
      speaker_label: "S2",
      source: "moderator_assignment",
      assigned_user_id: user.body.id,
    };
    const assigned = await call(service.api, "POST", claims, {
      token: device.token,
      body: assignment,
    });
    expect(assigned.body).toEqual({
      speaker_label: "S2",
      source: "moderator_assignment",
      claimed_user_id: user.body.id,
    });
    await until(
      () => steady.frames.some((f) => f.type === "SpeakerClaimed" && f.display_name === "Ben"),
      "viewers to see the assignment",
    );
    const text = await device.get<string>("/transcript?format=txt");
    expect(String(text.body)).toContain("Ben:");
    const elsewhere = await call(service.api, "GET", "/sessions", { token: guest.body.token });
    expect(elsewhere.status).toBe(403);
  });
});
