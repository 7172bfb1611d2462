import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AttackedService, type Headers, type Person } from "../support/attacked-service.ts";
import { Viewer } from "../support/viewer.ts";

let service: AttackedService;
let owner: Person;
let moderator: Person;
let workspace: string;
let session: string;

beforeAll(async () => {
  service = await AttackedService.open();
  owner = await service.addUser();
  moderator = await service.addUser("moderator");
  workspace = await service.addWorkspace(owner.id);
  await service.join(workspace, moderator.id, "member");
});
afterAll(() => service?.close());

beforeEach(async () => {
  const said = ["S1", "S2", "S3"].map((label) => ({ label, text: `${label} speaks of whales` }));
  session = await service.addTold(workspace, owner.id, said);
});

function name(label: string, displayName: unknown, headers: Headers = owner.headers) {
  const path = `/sessions/${session}/speakers/${label}`;
  return service.call("PATCH", path, headers, { display_name: displayName });
}

async function named(headers: Headers = owner.headers): Promise<Record<string, unknown>> {
  const { items } = await service.done("GET", `/sessions/${session}/speakers`, headers);
  const speakers = items as { speaker_label: string; display_name?: string }[];
  return Object.fromEntries(speakers.map((each) => [each.speaker_label, each.display_name]));
}

async function text(path: string): Promise<string> {
  const answer = await service.call("GET", path, owner.headers);
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
}

const kept = () =>
  service.sql<{ label: string | null }>(
    "select label, display_name from speaker_names where session_id = $1 order by label",
    [session],
  );

async function guest(): Promise<{ id: string; headers: Headers }> {
  const body = { session_id: session, display_name: "Gus" };
  const entered = await service.done("POST", "/auth/guest", {}, body);
  const { id } = entered.guest as { id: string };
  return { id, headers: { authorization: `Bearer ${entered.token}` } };
}

async function follow(from: { from_seq?: number } = {}): Promise<Viewer> {
  const viewer = await new Viewer(service.liveUrl, owner.headers).opened();
  viewer.send({ type: "Subscribe", session_id: session, ...from });
  return viewer;
}

describe("free names of speakers", () => {
  it("stand wherever names stand, for the owner and for a moderator who gave them", async () => {
    const given = await name("S1", " The chair ");
    expect(given.status, given.text).toBe(200);
    expect(given.body).toMatchObject({
      speaker_label: "S1",
      display_name: "The chair",
      free_name: "The chair",
      segment_count: 1,
    });
    expect((await name("S2", "Guide", moderator.headers)).status).toBe(200);
    expect(await named()).toEqual({ S1: "The chair", S2: "Guide", S3: undefined });
    const transcript = `/sessions/${session}/transcript`;
    expect(await text(`${transcript}?format=txt`)).toContain("The chair: S1 speaks of whales");
    expect(await text(`${transcript}?format=vtt`)).toContain("<v Guide>");
    expect(await text(transcript)).toContain('"free_name":"Guide"');
    const found = await text(`/workspaces/${workspace}/search?q=whales&speaker=chair`);
    expect(JSON.parse(found).items).toMatchObject([{ speaker_label: "S1" }]);
  });

  it("are given by nobody else, and leave nothing when they are refused", async () => {
    const participant = await service.addUser();
    await service.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [session, participant.id],
    );
    const stranger = await service.addUser();
    const elsewhere = await service.addUser("moderator");
    const admin = await service.addUser("admin");
    const reason = { reason: "to see whether names can be given", session_id: session };
    await service.done("POST", "/admin/content-elevate", admin.headers, reason);
    const callers = [participant, stranger, elsewhere, admin, await guest()];
    for (const { headers } of callers) {
      expect((await name("S1", "Mine", headers)).status).toBe(403);
    }
    expect((await name("S1", "Mine", {})).status).toBe(401);
    expect(await kept()).toEqual([]);
    for (const label of ["S9", "UU", "s1", "S1%20", "x"]) {
      const refused = await name(label, "Nobody");
      expect(refused.status, label).toBe(404);
    }
    const words = await service.sql("select from events where payload::text like '%Nobody%'");
    expect(words).toEqual([]);
    expect((await kept()).map(({ label }) => label)).not.toContain("S9");
    expect(await named()).toEqual({ S1: undefined, S2: undefined, S3: undefined });
  });

  it("are outranked by a claim, and come back when it is taken back", async () => {
    await name("S1", "The chair");
    const claimant = await guest();
    const claims = `/sessions/${session}/speaker-claims`;
    const claim = { speaker_label: "S1", source: "self_claim" };
    await service.done("POST", claims, claimant.headers, claim);
    expect((await named()).S1).toBe("Gus");
    expect((await name("S1", "The boss")).body).toMatchObject({
      display_name: "Gus",
      free_name: "The boss",
    });
    expect(await text(`/sessions/${session}/transcript?format=txt`)).toContain("Gus (guest): S1");
    await service.done("DELETE", `${claims}/S1`, claimant.headers);
    expect((await named()).S1).toBe("The boss");
  });

  it("follow merges to the label that survives, also by the name of a merged one", async () => {
    await name("S2", "Guide");
    await name("S3", "The chair");
    const merge = `/sessions/${session}/speakers/merge`;
    await service.done("POST", merge, owner.headers, { from: "S1", into: "S2" });
    expect(await named()).toEqual({ S1: "Guide", S3: "The chair" });
    await service.done("POST", merge, owner.headers, { from: "S3", into: "S1" });
    expect(await named()).toEqual({ S1: "Guide" });
    expect((await name("S3", "All of them")).body).toMatchObject({ speaker_label: "S1" });
    expect(await kept()).toEqual([
      { label: "S1", display_name: "All of them" },
      // Nowhere shown: it is there for whoever takes the merge back.
      { label: null, display_name: "The chair" },
    ]);
  });

  it("come back with the claim when a merge is taken back, also those that were outranked", async () => {
    await name("S1", "The chair");
    await name("S2", "Guide");
    const claimant = await guest();
    const claim = { speaker_label: "S3", source: "self_claim" };
    await service.done("POST", `/sessions/${session}/speaker-claims`, claimant.headers, claim);
    const live = await follow();
    await live.received("Snapshot");
    const change = (what: string, body: object) =>
      service.call("POST", `/sessions/${session}/speakers/${what}`, owner.headers, body);
    await change("merge", { from: "S3", into: "S2" });
    await change("merge", { from: "S2", into: "S1" });
    expect(await named()).toEqual({ S1: "Gus" });
    const { items } = await service.done("GET", `/sessions/${session}/speakers`, owner.headers);
    const merged = [
      { label: "S2", into: "S1" },
      { label: "S3", into: "S2" },
    ];
    expect(items).toMatchObject([{ merged }]);
    const outer = await change("unmerge", { from: "S2", into: "S1" });
    expect(outer.body).toEqual({ label: "S2", into: "S1", segments: 2 });
    expect(await named()).toEqual({ S1: "The chair", S2: "Gus" });
    expect((await change("unmerge", { from: "S3", into: "S2" })).status).toBe(200);
    expect(await named()).toEqual({ S1: "The chair", S2: "Guide", S3: "Gus" });
    const again = await change("unmerge", { from: "S3", into: "S2" });
    expect([again.status, again.body.message]).toEqual([409, "S3 is not a part of S2 any more."]);
    const claims = await service.sql<{ label: string }>(
      "select label from speaker_claims where session_id = $1 and revoked_at is null",
      [session],
    );
    expect(claims).toEqual([{ label: "S3" }]);
    // Whoever followed all of it sees what the service says.
    const later = await follow();
    const { speakers, segments, seq } = await later.received("Snapshot");
    await live.reached(Number(seq));
    const told = new Map<unknown, unknown>();
    for (const frame of live.frames.filter(({ type }) => type === "SpeakerRevision")) {
      for (const each of frame.revisions as { segment_id: string; speaker: string }[]) {
        told.set(each.segment_id, each.speaker);
      }
    }
    const shown = segments as { segment_id: string; speaker: string }[];
    expect(shown.map(({ speaker }) => speaker)).toEqual(["S1", "S2", "S3"]);
    expect([...told].sort()).toEqual(
      shown
        .slice(1)
        .map((each) => [each.segment_id, each.speaker])
        .sort(),
    );
    expect(speakers).toMatchObject([
      { free_name: "The chair" },
      { free_name: "Guide" },
      { display_name: "Gus" },
    ]);
    for (const { socket } of [live, later]) socket.terminate();
  });

  it("are taken away by null and by nothing but spaces, and twice is once", async () => {
    for (const nothing of [null, "", " \u00a0 "]) {
      await name("S1", "The chair");
      expect((await name("S1", nothing)).body).not.toHaveProperty("display_name");
      expect((await name("S1", nothing)).status).toBe(200);
      expect(await kept()).toEqual([]);
    }
    for (const wrong of [undefined, 7, {}, "x".repeat(101)]) {
      expect((await name("S1", wrong)).status).toBe(400);
    }
    const events = await service.sql(
      "select from events where session_id = $1 and type = 'SpeakerNamed'",
      [session],
    );
    expect(events).toHaveLength(6);
  });

  it("reach viewers live, in a replay and in a snapshot", async () => {
    const live = await follow();
    await live.received("Snapshot");
    await name("S1", "The chair");
    expect(await live.received("SpeakerNamed")).toMatchObject({
      speaker_label: "S1",
      free_name: "The chair",
    });
    await name("S1", "The boss");
    await name("S2", "Guide");
    const last = Number((await live.received("SpeakerNamed")).seq) + 2;
    await live.reached(last);
    const replay = await follow({ from_seq: last - 3 });
    await replay.reached(last);
    const told = replay.frames.filter(({ seq, at }) => at !== undefined && Number(seq) > last - 3);
    expect(told.map(({ speaker_label: label, free_name: free }) => [label, free])).toEqual([
      ["S1", "The chair"],
      ["S1", "The boss"],
      ["S2", "Guide"],
    ]);
    const later = await follow();
    const { speakers } = await later.received("Snapshot");
    expect(speakers).toMatchObject([{ free_name: "The boss" }, { free_name: "Guide" }, {}]);
    for (const { socket } of [live, replay, later]) socket.terminate();
  });

  it("are erased with the session, from events and answers too", async () => {
    await name("S1", "Known for a while");
    await name("S2", "Whom nobody may know");
    const merge = { from: "S2", into: "S1" };
    await service.done("POST", `/sessions/${session}/speakers/merge`, owner.headers, merge);
    await name("S1", "Whom nobody may know");
    await service.done("DELETE", `/sessions/${session}`, owner.headers);
    expect(await kept()).toEqual([]);
    for (const table of ["events", "outbox", "command_outcomes", "audit_log"]) {
      const rows = await service.sql(
        `select from ${table} t where t::text like '%Whom nobody may know%'`,
      );
      expect(rows, table).toEqual([]);
    }
    expect((await name("S1", "Again")).status).toBe(404);
    expect(await kept()).toEqual([]);
  });
});
