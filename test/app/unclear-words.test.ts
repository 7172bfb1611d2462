import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import type { FinalResultsFrame, SnapshotFrame } from "../../src/wire/live-frames.ts";
import { QUESTION_WORDS } from "../../workers/text/retrieval/stop-words.ts";
import { isStopWord } from "../../workers/text/retrieval/words.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { callUnary } from "../support/grpc-fixture.ts";
import { call, cut, PairedDevice, type Segment } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { newOwner } from "../support/workspace-owner.ts";

interface SpokenWord {
  word: string;
  confidence: number;
  unclear?: boolean;
}

type WithWords = Segment & { words: SpokenWord[] };

/** What a question can be about by itself. */
const isTopic = (word: string) => !QUESTION_WORDS.has(word) && !isStopWord(word);

/** The scripted conversation, of which every third tenth of a second is hard to hear. */
function mumbledPcm(): Buffer {
  return scriptedPcm((block) => block % 3 === 0);
}

describe("unclear words", () => {
  let service: AppFixture;
  let device: PairedDevice;
  let segments: WithWords[];
  let client: SessionServiceClient | undefined;

  beforeAll(async () => {
    service = await AppFixture.shared();
    device = await PairedDevice.pair(service, await newOwner(service, "admin"));
    await device.start();
    const chunks = cut(10, mumbledPcm());
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    segments = await read();
  });
  afterAll(async () => {
    client?.close();
  });

  async function read(): Promise<WithWords[]> {
    return (await device.get<{ items: WithWords[] }>("/segments?limit=100&words=true")).body.items;
  }

  async function exported(format: string): Promise<string> {
    const path = `/sessions/${device.sessionId}/transcript?format=${format}`;
    const authorization = `Bearer ${device.token}`;
    return (await fetch(`${service.api}${path}`, { headers: { authorization } })).text();
  }

  const wordsOf = (each: readonly WithWords[]) => each.flatMap(({ words }) => words);

  it("unclear words: the least confident ones are marked, and texts stay plain", async () => {
    const words = wordsOf(segments);
    const [unclear, clear] = [
      words.filter((word) => word.unclear),
      words.filter((w) => !w.unclear),
    ];
    expect(unclear.length).toBeGreaterThan(10);
    expect(clear.length).toBeGreaterThan(10);
    const highest = Math.max(...unclear.map(({ confidence }) => confidence));
    expect(Math.min(...clear.map(({ confidence }) => confidence))).toBeGreaterThanOrEqual(highest);
    expect(clear.every((word) => !("unclear" in word))).toBe(true);
    for (const { text, words: own } of segments) {
      expect(text).toBe(own.map(({ word }) => word).join(" "));
    }
    const chunks = await device.chunks();
    expect(chunks.map((chunk) => chunk.transcription_text).join("")).not.toMatch(/[[\]?]/);
    const json = await device.get<{ segments: WithWords[] }>("/transcript?words=true");
    expect(wordsOf(json.body.segments)).toEqual(words);
  });

  it("unclear words: followers hear of them, live and over gRPC", async () => {
    const viewer = new Viewer(service.ready.live_url, {
      authorization: `Bearer ${device.token}`,
    });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
    const finals = () =>
      viewer.frames.filter(
        ({ type, is_final }) => type === "Results" && is_final === true,
      ) as unknown as FinalResultsFrame[];
    await until(() => finals().length === segments.length, "every final");
    const marks = (each: readonly { unclear?: boolean | undefined }[]) =>
      each.map(({ unclear }) => unclear === true);
    const expected = segments.map(({ words }) => marks(words));
    expect(finals().map(({ words }) => marks(words))).toEqual(expected);
    viewer.send({ type: "Unsubscribe", session_id: device.sessionId });
    viewer.send({ type: "Subscribe", session_id: device.sessionId });
    const snapshot = (await viewer.received("Snapshot")) as unknown as SnapshotFrame;
    expect(
      snapshot.segments.map(({ transcript, unclear_words: places = [] }) =>
        transcript.split(" ").map((_, place) => places.includes(place)),
      ),
    ).toEqual(expected);
    viewer.socket.close();

    const { workspace_id } = (await device.get<{ workspace_id: string }>("")).body;
    const { body } = await call<{ key: string }>(service.api, "POST", "/api-keys", {
      token: device.token,
      body: { workspace_id, name: "e2e", scopes: ["sessions:read"] },
    });
    client = new SessionServiceClient(service.ready.grpc_sessions, credentials.createInsecure());
    const { sessionId } = device;
    const request = { sessionId, pageSize: 0, pageToken: "", words: true };
    const listed = await callUnary(client, client.listSegments, request, body.key);
    expect(listed.segments.map(({ words }) => marks(words))).toEqual(expected);
  });

  it("unclear words: exports for people mark them and say what the mark means", async () => {
    const legend = "Words in [brackets?] were not heard clearly.";
    for (const format of ["txt", "md", "srt", "vtt"]) {
      const text = await exported(format);
      expect(text).toMatch(/\[[a-z' ]+\?\]/);
      expect(text.split(legend)).toHaveLength(format === "txt" || format === "md" ? 2 : 1);
    }
  });

  it("unclear words: summaries and answers are not built on them", async () => {
    const { token, sessionId } = device;
    const path = `/sessions/${sessionId}`;
    await call(service.api, "POST", `${path}/summaries`, {
      token,
      body: { summary_type: "brief" },
    });
    interface Summaries {
      items: { summary_text: string; items: { text: string }[] }[];
    }
    let quoted: string[] = [];
    await until(async () => {
      const { body } = await device.get<Summaries>("/summaries");
      quoted = body.items.flatMap(({ items }) => items.map(({ text }) => text));
      return body.items.length > 0;
    }, "the summary");
    for (const quote of quoted) {
      const [all, unclear] = [quote.split(" "), quote.match(/\[[^\]]+\?\]/g) ?? []];
      const marked = unclear.flatMap((run) => run.split(" "));
      expect(marked.length).toBeLessThanOrEqual(all.length / 2);
    }
    const clear = new Set(
      wordsOf(segments).flatMap(({ word, unclear }) => (unclear === true ? [] : [word])),
    );
    const only = wordsOf(segments).find(
      ({ word, unclear }) =>
        unclear === true && word.length > 4 && !clear.has(word) && isTopic(word),
    );
    expect(only).toBeDefined();
    const { body } = await call(service.api, "POST", `${path}/hirag-query`, {
      token,
      body: { query: `Who said "${only?.word}"?` },
    });
    expect(body).toMatchObject({ citations: [] });
  });

  it("unclear words: what a person wrote is clear", async () => {
    const [target] = segments.filter(({ words }) => words.some(({ unclear }) => unclear));
    const path = `/sessions/${device.sessionId}/segments/${target?.id}`;
    const edit = await call(service.api, "PATCH", path, {
      token: device.token,
      body: { text: "what was really said" },
    });
    expect(edit.status).toBe(200);
    const edited = (await read()).find(({ id }) => id === target?.id);
    expect(edited?.words.map(({ word }) => word)).toEqual(["what", "was", "really", "said"]);
    expect(edited?.words.some((word) => "unclear" in word)).toBe(false);
    expect(await exported("txt")).toContain(": what was really said\n");
  });
});
