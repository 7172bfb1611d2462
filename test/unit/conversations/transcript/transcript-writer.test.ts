import { afterAll, describe, expect, it } from "vitest";
import type { TranscriptOrder } from "../../../../src/conversations/transcript/writing/transcript-document.ts";
import { TranscriptWriter } from "../../../../src/conversations/transcript/writing/transcript-writer.ts";
import { AnswerWriter } from "../../../../src/openai-deepgram/answer-writer.ts";
import { longTalk } from "../../../support/long-talk.ts";

const RAW = { style: "raw", numbers: "words" } as const;
const WRITING = { ...RAW, language: "en", names: [] };
const TALK = longTalk(2, 2).map((each) => ({ ...each, speakerConfidence: null, overlaps: null }));
const JSON_TEXT = JSON.stringify(TALK);
const NOBODY: TranscriptOrder["about"]["speakers"] = [];
const ID = "01a217f6-1059-7000-8000-000000000000";

describe("transcript writer", () => {
  const writer = new TranscriptWriter();
  const answers = new AnswerWriter();
  afterAll(() => Promise.all([writer.stop(), answers.stop()]));

  const order = {
    ...{ hasWords: true, gaps: [{ sequence: 3, start: 16_000, length: 8_000 }] },
    about: { session_id: ID, title: "Talk", language: "en", status: "completed", speakers: NOBODY },
    names: new Map([["S2", "Ann"]]),
    marks: [],
    head: undefined,
    soundEnd: undefined,
  } as const;

  async function written(format: "json" | "txt" | "md" | "srt" | "vtt" | "rttm"): Promise<string> {
    return Buffer.from(
      await writer.transcript(ID, async () => JSON_TEXT, WRITING, { ...order, format }),
    ).toString();
  }

  it("transcript writer: JSON has segments with their words, and gaps", async () => {
    const { segments, gaps, ...about } = JSON.parse(await written("json"));
    expect(about).toEqual(order.about);
    expect(gaps).toEqual([{ chunk_sequence: 3, start_ms: 1_000, end_ms: 1_500 }]);
    expect(segments).toHaveLength(2);
    expect(segments[0]).toMatchObject({ speaker_label: "S1", speaker_confidence: null });
    expect(segments[0].words).toHaveLength(15);
  });

  it("transcript writer: each format of a file carries the words or turns, and names", async () => {
    const [txt, md, srt, vtt] = await Promise.all(
      (["txt", "md", "srt", "vtt"] as const).map((format) => written(format)),
    );
    for (const text of [txt, md, srt, vtt]) expect(text).toContain("Ann");
    expect(await written("rttm")).toMatch(new RegExp(`^SPEAKER ${ID} 1 0\\.000`));
  });

  it("transcript writer: what is no list of segments is an error, and the next call is answered", async () => {
    const broken = writer.transcript(ID, async () => '[{"id":1}]', WRITING, {
      ...order,
      format: "txt",
    });
    await expect(broken).rejects.toMatchObject({ code: "internal" });
    expect(await written("txt")).toContain("Ann");
  });

  it("transcript writer: compares two texts by words", async () => {
    const compared = [...TALK, ...TALK].map(({ label, words }, at) => {
      return { isCandidate: at >= TALK.length, isKept: false, label, words };
    });
    const about = { session_id: ID, job_id: ID, transcription_id: ID, edits_replaced: 0 };
    const body = await writer.comparison(ID, async () => JSON.stringify(compared), {
      ...{ ...about, created_at: "2026-01-31T12:00:00.000Z" },
      expires_at: "2026-02-28T12:00:00.000Z",
    });
    const { counts } = JSON.parse(Buffer.from(body).toString());
    expect(counts).toEqual({ same: 30, speaker_changed: 0, replaced: 0, added: 0, removed: 0 });
  });

  it("transcript writer: answers in the forms of other services are written in a thread, too", async () => {
    const about = { sessionId: ID, language: "en", engine: "e", durationSeconds: 11, channels: 1 };
    const request = { json: JSON_TEXT, names: [], about: { ...about, channelOf: new Map() } };
    const granularities = new Set(["word"]);
    const openai = {
      dialect: "openai",
      format: "verbose_json",
      granularities,
      writing: RAW,
    } as const;
    expect(
      JSON.parse(await answers.write(ID, async () => ({ ...request, form: openai }))).words,
    ).toHaveLength(30);
    const shape = { writing: RAW, diarize: true, paragraphs: true, utterances: true };
    const said = { sha256: "", createdAt: 0 };
    const deepgram = { dialect: "deepgram", about: said, ...shape } as const;
    const { results } = JSON.parse(
      await answers.write(ID, async () => ({ ...request, form: deepgram })),
    );
    expect(results.utterances).toHaveLength(2);
  });
});
