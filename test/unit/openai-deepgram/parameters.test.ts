import { describe, expect, it } from "vitest";
import { compatKeyOf } from "../../../src/access/secrets.ts";
import { AppError, isAppError } from "../../../src/base/errors.ts";
import { readDeepgramQuery } from "../../../src/openai-deepgram/deepgram-query.ts";
import { OPENAI_ERRORS } from "../../../src/openai-deepgram/openai-errors.ts";
import { readOpenAiForm } from "../../../src/openai-deepgram/openai-form.ts";
import { wrong } from "../../../src/openai-deepgram/parameters.ts";
import { MOONSHINE } from "../../../src/wire/speech-engines.ts";

const engines = [MOONSHINE];

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isAppError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
  return "none";
}

describe("parameters of other services' clients", () => {
  it("openai: a model of theirs is the workspace's engine, one of ours itself", () => {
    expect(readOpenAiForm({ model: "gpt-4o-mini-transcribe-2025-12-15" }, engines).engine).toBe(
      undefined,
    );
    expect(readOpenAiForm({ model: "moonshine-tiny-en" }, engines).engine).toBe(
      "moonshine-tiny-en",
    );
    expect(refusal(() => readOpenAiForm({ model: "gpt-4o" }, engines))).toContain(
      "not_found `model`",
    );
    expect(refusal(() => readOpenAiForm({}, engines))).toContain("invalid_parameter `model`");
  });

  it("openai: an error names the parameter that is wrong, whatever its sentence begins with", () => {
    const body = (error: AppError) => OPENAI_ERRORS.body(error, "");
    expect(body(wrong("model", "there is none.", "not_found"))).toMatchObject({
      error: { code: "model_not_found", param: "model", message: "`model`: there is none." },
    });
    expect(body(new AppError("not_found", "`model` is a word here."))).toMatchObject({
      error: { code: "not_found", param: null },
    });
  });

  it("openai: granularities come as a list, and have an effect on verbose_json only", () => {
    const fields = { model: "whisper-1", "timestamp_granularities[]": "word,segment" };
    const plain = readOpenAiForm(fields, engines);
    expect(plain.warning).toContain("timestamp_granularities[]");
    const verbose = readOpenAiForm({ ...fields, response_format: "verbose_json" }, engines);
    expect([...verbose.granularities]).toEqual(["word", "segment"]);
    expect(verbose.warning).toBeUndefined();
    const odd = { ...fields, "timestamp_granularities[]": "line" };
    expect(refusal(() => readOpenAiForm(odd, engines))).toContain("timestamp_granularities[]");
  });

  it("warning: a name cannot break the header", () => {
    const fields = { model: "whisper-1", 'x"\r\nset-cookie: a': "1" };
    expect(readOpenAiForm(fields, engines).warning).toBe(
      '299 - "without effect here: x???set-cookie??a"',
    );
  });

  it("deepgram: keywords lose their weights, and lists are bounded", () => {
    const query = { keywords: ["Rüti:2", "Harbour:-1.5"], keyterm: "Project Harbour" };
    expect(readDeepgramQuery(query, engines, true).vocabulary).toEqual([
      "Project Harbour",
      "Rüti",
      "Harbour",
    ]);
    const many = { keyterm: Array.from({ length: 101 }, (_, at) => `term${at}`) };
    expect(refusal(() => readDeepgramQuery(many, engines, true))).toContain("keyterm");
  });

  it("deepgram: what has no effect is told, live and of files", () => {
    const query = { interim_results: "true", endpointing: "300", dictation: "true" };
    expect(readDeepgramQuery(query, engines, true).warning).toContain("dictation, endpointing");
    expect(readDeepgramQuery(query, engines, false).warning).toContain("interim_results");
    expect(readDeepgramQuery({ endpointing: "false" }, engines, true).endpointing).toBe(false);
  });

  it.each([
    ["redact", "pci"],
    ["redact", ["pci", "numbers"]],
    ["callback", "https://example.com/done"],
    ["callback_method", "put"],
    ["profanity_filter", "true"],
    ["redact_pii", "true"],
    ["redact_pii_policies[]", "person_name"],
    ["pii_redaction", "true"],
    ["webhook_url", "https://example.com/done"],
    ["webhook_auth_header_name", "x-key"],
    ["filter_profanity", "true"],
    ["anonymize", "1"],
    ["callbackUrl", "https://example.com/done"],
  ])("%s=%s: a caller would rely on it, so it is refused by name", (name, value) => {
    const expected = `invalid_parameter \`${name}\``;
    for (const isLive of [true, false]) {
      const said = refusal(() => readDeepgramQuery({ [name]: value }, engines, isLive));
      expect(said).toContain(expected);
    }
    const fields = { model: "whisper-1", [name]: String(value) };
    expect(refusal(() => readOpenAiForm(fields, engines))).toContain(expected);
  });

  it("deepgram: a switch without a value is on, of files and live", () => {
    const names = ["punctuate", "numerals", "paragraphs", "utterances", "diarize", "multichannel"];
    const bare = Object.fromEntries(
      [...names, "interim_results", "vad_events"].map((name) => [name, ""]),
    );
    for (const isLive of [false, true]) {
      expect(readDeepgramQuery(bare, engines, isLive)).toMatchObject({
        writing: { style: "readable", numbers: "digits" },
        ...{ paragraphs: true, utterances: true, diarize: true, multichannel: true },
        ...{ interim: true, vadEvents: true, endpointing: true, store: true },
      });
    }
    expect(readDeepgramQuery({ smart_format: "" }, engines, true).writing.style).toBe("readable");
    expect(readDeepgramQuery({}, engines, true)).toMatchObject({
      ...{ writing: { style: "raw", numbers: "words" }, diarize: false, interim: false },
    });
    expect(readDeepgramQuery({ endpointing: "" }, engines, true).endpointing).toBe(true);
  });

  it.each(["redact", "profanity_filter"])("?%s without a value is a wish, and not done", (name) => {
    const said = refusal(() => readDeepgramQuery({ [name]: "" }, engines, false));
    expect(said).toContain(`invalid_parameter \`${name}\``);
    const empty = { model: "whisper-1", [name]: "" };
    expect(refusal(() => readOpenAiForm(empty, engines))).toBe("none");
  });

  it("what protects and is switched off is no matter", () => {
    const off = { redact: "false", profanity_filter: "false", callback: "" };
    expect(refusal(() => readDeepgramQuery(off, engines, true))).toBe("none");
    expect(refusal(() => readOpenAiForm({ model: "whisper-1", ...off }, engines))).toBe("none");
    const plain = { filler_words: "true", search: "masked", detect_entities: "true" };
    expect(refusal(() => readDeepgramQuery(plain, engines, false))).toBe("none");
  });

  it.each([
    [{ encoding: "linear16" }, "sample_rate"],
    [{ encoding: "linear16", sample_rate: "12" }, "sample_rate"],
    [{ encoding: "g729", sample_rate: "8000" }, "encoding"],
    [{ encoding: "mulaw", sample_rate: "8000", channels: "9" }, "channels"],
    [{ punctuate: "maybe" }, "punctuate"],
    [{ language: "english!" }, "language"],
    [{ model: "parrot" }, "model"],
  ])("deepgram: %j is refused by name", (query, name) => {
    const said = refusal(() => readDeepgramQuery(query, engines, true));
    expect(said).toContain(`invalid_parameter \`${name}\``);
  });

  it("keys: come as bearer, as token and as subprotocol, and in no other form", () => {
    expect(compatKeyOf({ authorization: "Bearer vk_svc_a" })).toBe("vk_svc_a");
    expect(compatKeyOf({ authorization: "token vk_svc_a" })).toBe("vk_svc_a");
    expect(compatKeyOf({ authorization: "Basic vk_svc_a" })).toBeUndefined();
    expect(compatKeyOf({ "sec-websocket-protocol": "token, vk_svc_a" })).toBe("vk_svc_a");
    expect(compatKeyOf({ "sec-websocket-protocol": "vk_svc_a" })).toBeUndefined();
    expect(compatKeyOf({})).toBeUndefined();
  });
});
