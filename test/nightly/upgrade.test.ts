import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  DATABASE,
  OWNER_ROLE,
  postgresUrl,
  withClient,
} from "../../deploy/supervisor/postgres/roles.ts";
import { wordErrors } from "../eval/word-error-rate.ts";
import { call } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { layDownOldFolder, UNANSWERED } from "../support/upgrade/old-data-folder.ts";
import { OldDevice } from "../support/upgrade/old-device.ts";
import { OLD_INSTALLATION, oldRows, seconds } from "../support/upgrade/old-installation.ts";
import { Viewer } from "../support/viewer.ts";
import { verify, WebhookReceiver } from "../support/webhook-receiver.ts";
import { WholeService } from "../support/whole-service.ts";

const DEMO = new URL("../../deploy/demo/conversation.json", import.meta.url);
/** About so many words the conversation's first seconds have; some of these end within a sentence. */
const WORDS = { five: 13, ten: 27, fifteen: 43, twenty: 56 };
/** What the former release heard of its own conversation. */
const HEARD_BEFORE = [
  "S1: today we will talk about the launch of the new system",
  "S2: the team finished their work on friday",
  "S2: we did not find any big problems",
  "S3: that is very good news will we be ready to open our new shop in the first week of march",
];
const WAV_HEADER = 44;

describe("upgrade", () => {
  let service: WholeService;
  let receiver: WebhookReceiver;
  let token: string;
  /** What each session is told after the start, and that it ended. */
  const endings = new Map<string, Promise<void>>();

  beforeAll(async () => {
    receiver = await WebhookReceiver.open();
    const { email, password } = OLD_INSTALLATION.admin;
    service = await WholeService.start(
      { WEBHOOK_ALLOW_PRIVATE: "true", ADMIN_PASSWORD: password },
      (data) => layDownOldFolder(data, receiver.url),
    );
    const login = await call<{ token: string }>(service.api, "POST", "/auth/login", {
      body: { email, password },
    });
    token = login.body.token;
    goOn("waiting", async () => {});
    goOn("stop-told", async () => {});
    goOn("missing", (device) => device.upload(1));
    goOn("recording", async (device) => {
      await device.upload(3);
      await device.stop(3);
    });
    goOn("gap", async (device) => {
      await device.upload(1);
      await device.upload(3);
      await device.stop(3);
    });
    goOn("silent", async (device) => {
      await device.upload(0);
      await device.stop(0);
    });
    goOn("chunk-told", (device) => device.stop(0));
    goOn("sealed", (device) => device.stop(-1));
    goOn("streaming", async (device) => {
      expect(await device.streamTo(10)).toBe(seconds(0, 5).length);
      await device.stop(-1);
    });
  });
  afterAll(async () => {
    await Promise.allSettled(endings.values());
    await service?.stop();
    await receiver?.close();
  });

  const session = (name: string) => new OldDevice(service, token, name);

  function goOn(name: string, how: (device: OldDevice) => Promise<void>): void {
    const device = session(name);
    const ending = how(device).then(() => device.completed());
    // Looked at by the test of that session.
    ending.catch(() => {});
    endings.set(name, ending);
  }

  async function saidAtTheEnd(name: string): Promise<string[]> {
    await endings.get(name);
    return session(name).said();
  }

  async function query<T extends object>(sql: string, ...values: unknown[]): Promise<T[]> {
    const read = (name: string) =>
      JSON.parse(readFileSync(join(service.folder, "data", name), "utf8"));
    const { ownerPassword } = read("secrets.json");
    const url = postgresUrl(OWNER_ROLE, ownerPassword, read("ports.json").postgres, DATABASE);
    return withClient(url, async (client) => (await client.query<T>(sql, values)).rows);
  }

  it("upgrade: a session goes on recording, and a chunk that only the outbox told of is read", async () => {
    expectWords(await saidAtTheEnd("recording"), WORDS.twenty);
    expectWords(await saidAtTheEnd("chunk-told"), WORDS.five);
    expectWords(await saidAtTheEnd("silent"), WORDS.five);
  });

  it("upgrade: a stream goes on where it was, and one that was sealed is read", async () => {
    expectWords(await saidAtTheEnd("streaming"), WORDS.ten);
    expect(plain(await saidAtTheEnd("sealed")).slice(0, 2)).toEqual(["hello", "everyone"]);
  });

  it("upgrade: the sound of a finished, a half-uploaded and a streaming session plays whole", async () => {
    const headers = { authorization: `Bearer ${token}` };
    for (const [name, length] of Object.entries({ redone: 10, recording: 20, streaming: 10 })) {
      await endings.get(name);
      const audio = await fetch(`${service.api}/sessions/${session(name).id}/audio`, { headers });
      const sound = Buffer.from(await audio.arrayBuffer()).subarray(WAV_HEADER);
      expect(sound.equals(seconds(0, length)), name).toBe(true);
    }
  });

  it("upgrade: sessions that were processed complete, one by a stop that only the outbox told of", async () => {
    expectWords(await saidAtTheEnd("waiting"), WORDS.ten);
    expectWords(await saidAtTheEnd("stop-told"), WORDS.five);
  });

  it("upgrade: a chunk that comes late fills its gap, declared or not", async () => {
    expectWords(await saidAtTheEnd("gap"), WORDS.twenty);
    expectWords(await saidAtTheEnd("missing"), WORDS.fifteen);
    for (const name of ["gap", "missing"]) {
      const chunks = await session(name).chunks();
      expect(chunks.map(({ transcription_status }) => transcription_status)).toEqual(
        chunks.map(() => "completed"),
      );
      const { body } = await session(name).get("/completeness");
      expect(body).toMatchObject({
        complete: true,
        missing: [],
        received_ms: chunks.length * 5_000,
      });
    }
  });

  it("upgrade: edits, claims and redactions stand", async () => {
    const edited = session("edited");
    expect(await edited.said()).toEqual([
      "S1: This is what a person wrote.",
      ...HEARD_BEFORE,
      "S1: [redacted-span]",
    ]);
    const ids = (await edited.segments()).map(({ id }) => id).sort();
    const before = oldRows().flatMap(([table, row]) =>
      table === "segments" && row.session_id === edited.id ? [String(row.id)] : [],
    );
    expect(ids).toEqual(before.sort());
    const { body } = await edited.get<string>("/transcript?format=txt");
    expect(String(body)).toMatch(/Admin: This is what.*Ben: The team.*Speaker 3: That is/s);
  });

  it("upgrade: redacted sound that lies in its file still is silenced", async () => {
    const rows = oldRows().filter(([, row]) => row.session_id === session("edited").id);
    const span = rows.find(([table]) => table === "redactions")?.[1];
    const chunk = rows.find(([table, row]) => table === "chunks" && row.sequence === 3)?.[1];
    const name = String(chunk?.sha256).slice(2);
    const file = join(service.folder, "data/blobs", session("edited").id, name);
    const byteOf = (sample: unknown) => (Number(sample) - Number(chunk?.start_sample)) * 2;
    const silenced = () => {
      const sound = readFileSync(file);
      expect(sound.length).toBe(chunk?.bytes);
      const redacted = sound.subarray(byteOf(span?.start_sample), byteOf(span?.end_sample));
      expect(redacted.length).toBeGreaterThan(100_000);
      return redacted.every((byte) => byte === 0);
    };
    await until(silenced, "the redacted span to be silent", 20_000);
  });

  it("upgrade: a redo that was asked for ends, and keeps the claim", async () => {
    const redone = session("redone");
    const ends = async () => {
      const jobs = await query<{ status: string; attempt: number }>(
        "select status, attempt from jobs where session_id = $1 and kind = 'transcription'",
        redone.id,
      );
      expect(jobs).toMatchObject([{ attempt: 2 }]);
      return jobs[0]?.status === "completed";
    };
    await until(ends, "the redo to end", 180_000);
    expectWords(await redone.said(), WORDS.ten);
    const { body } = await redone.get<string>("/transcript?format=txt");
    expect(String(body)).toMatch(/Admin: Hello.*Speaker 2: The team/s);
  });

  it("upgrade: a summary that was asked for is made, and the one before stands", async () => {
    const types = async () => {
      const { body } = await session("edited").get<{ items: { summary_type: string }[] }>(
        "/summaries",
      );
      return body.items.map(({ summary_type }) => summary_type).sort();
    };
    await until(async () => (await types()).length === 2, "the summary", 60_000);
    expect(await types()).toEqual(["brief", "detailed"]);
  });

  it("upgrade: what was deleted stays deleted", async () => {
    const { id } = session("deleted");
    expect((await session("deleted").get<{ status: string }>()).body.status).toBe("deleted");
    expect(existsSync(join(service.folder, "data/blobs", id))).toBe(false);
    const segments = await query<{ text: string; words: unknown[] }>(
      "select distinct text, words from segments where session_id = $1",
      id,
    );
    expect(segments).toEqual([{ text: "[redacted-session-deleted]", words: [] }]);
  });

  it("upgrade: commands that wait are carried out once", async () => {
    await Promise.all(endings.values());
    const left = () => query("select id, command from outbox");
    await until(async () => (await left()).length === 0, "the outbox to be empty", 20_000);
    const doubled = await query(
      `select payload ->> 'chunkId' as chunk from events
       where type = 'ChunkReceived' group by 1 having count(*) > 1`,
    );
    expect(doubled).toEqual([]);
    const stops = await query<{ count: number }>(
      "select count(*)::int from events where type = 'SessionStopped' and session_id = $1",
      session("stop-told").id,
    );
    expect(stops).toEqual([{ count: 1 }]);
  });

  it("upgrade: a wish whose caller was told 503 is not done later, and can be made again", async () => {
    expect(UNANSWERED.map(({ command }) => command.type)).toEqual(["Claim", "EditSegment"]);
    expect(existsSync(join(service.folder, "data/nats/jetstream"))).toBe(false);
    const carriedOut = await query(
      "select command_id from command_outcomes where command_id = any($1)",
      UNANSWERED.map(({ id }) => id),
    );
    expect(carriedOut).toEqual([]);
    const edited = session("edited");
    const segment = (await edited.segments())[1];
    expect(`${segment?.speaker_label}: ${segment?.text}`).toBe(HEARD_BEFORE[0]);
    const wish = { text: "Asked for again." };
    const again = await edited.send("PATCH", `/segments/${segment?.id}`, wish);
    expect(again).toMatchObject({ status: 200, body: wish });
  });

  it("upgrade: webhook messages that waited go out once, signed with the secret of before", async () => {
    const waited = oldRows().flatMap(([table, row]) =>
      table === "webhook_deliveries" && row.status === "pending" ? [String(row.id)] : [],
    );
    expect(waited.length).toBeGreaterThan(20);
    const sent = () => receiver.received.map(({ headers }) => String(headers["webhook-id"]));
    await until(() => waited.every((id) => sent().includes(id)), "what waited", 60_000);
    expect(new Set(sent()).size).toBe(sent().length);
    for (const each of receiver.received) verify(each, OLD_INSTALLATION.webhook_secret);
  });

  it("upgrade: a viewer gets every event once, in order, from the first on", async () => {
    await endings.get("recording");
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: session("recording").id, from_seq: 0 });
    await until(() => viewer.frames.some(({ type }) => type === "SessionEnded"), "its end");
    viewer.socket.close();
    expect(viewer.problems).toEqual([]);
    expect(viewer.seqs()).toEqual(viewer.seqs().map((_, n) => n + 1));
  });

  it("upgrade: the audit log's chain goes on unbroken", async () => {
    const before = oldRows().filter(([table]) => table === "audit_log").length;
    expect((await session("silent").send("DELETE", "")).status).toBe(200);
    const { body } = await call(service.api, "GET", "/admin/audit/verify", { token });
    expect(body).toMatchObject({ valid: true });
    expect(Number(body.entries)).toBeGreaterThan(before);
  });
});

/** Lower case, without marks and without who said them. */
function plain(said: readonly string[]): string[] {
  const text = said.map((line) => line.slice(line.indexOf(" ") + 1)).join(" ");
  return text
    .toLowerCase()
    .replace(/[.,?!]/g, "")
    .split(/\s+/);
}

/** About so many words of the conversation's beginning, nearly all of them right. */
function expectWords(said: readonly string[], count: number): void {
  const { turns } = JSON.parse(readFileSync(DEMO, "utf8")) as { turns: { text: string }[] };
  const spoken = plain(turns.map(({ text }) => `: ${text}`));
  const heard = plain(said);
  expect(Math.abs(heard.length - count), said.join("\n")).toBeLessThan(4);
  expect(wordErrors(spoken.slice(0, heard.length), heard).rate, said.join("\n")).toBeLessThan(0.15);
}
