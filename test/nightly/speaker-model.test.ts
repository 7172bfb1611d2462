import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InferencePool } from "../../workers/inference/inference-pool.ts";
import { SherpaEmbedder } from "../../workers/speakers/sherpa-embedder.ts";
import { findSpeakerModel, SpeakerModelError } from "../../workers/speakers/speaker-model.ts";
import { trySpeakerModel } from "../../workers/speakers/speaker-model-trial.ts";
import { createSpeechReaders } from "../../workers/threads/speech-readers.ts";
import { openReading, readAll, someSpeech, utterancesOf } from "../support/engine-reading.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { makeSpeakerModel } from "../support/speaker-model-file.ts";
import { WORKER_KEY } from "../support/worker-key.ts";

const PROJECT = join(import.meta.dirname, "../..");

let folder: string;
let children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "voice-model-"));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

function put(bytes: Uint8Array, name = "voices.onnx"): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

function noise(length: number): Uint8Array {
  const random = new SeededRandom(7);
  return Uint8Array.from({ length }, () => random.below(256));
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SpeakerModelError);
  return (error as SpeakerModelError).message;
}

describe("speaker model: the folder", () => {
  it("speaker model: is the one .onnx file, named by its contents", async () => {
    put(Buffer.from("how it was trained"), "README.md");
    const path = put(makeSpeakerModel());
    const model = await findSpeakerModel(folder);
    expect(model).toMatchObject({ path, dimension: 24 });
    expect(model.name).toMatch(/^voices@[0-9a-f]{8}$/);
    put(makeSpeakerModel({ comment: "another" }));
    expect((await findSpeakerModel(folder)).name).not.toBe(model.name);
  });

  it("speaker model: says what is wrong with a folder", async () => {
    const missing = join(folder, "nowhere");
    expect(await refusalOf(findSpeakerModel(missing))).toMatch(/nowhere cannot be read.*ENOENT/);
    expect(await refusalOf(findSpeakerModel(folder))).toMatch(/there is no \.onnx file in/);
    put(makeSpeakerModel(), "one.onnx");
    put(makeSpeakerModel(), "two.onnx");
    expect(await refusalOf(findSpeakerModel(folder))).toMatch(/several.*\(one\.onnx, two\.onnx\)/);
  });

  it("speaker model: a folder of that name is no model", async () => {
    mkdirSync(join(folder, "voices.onnx"));
    expect(await refusalOf(findSpeakerModel(folder))).toMatch(/cannot be read: EISDIR/);
  });

  it.each([
    ["nothing", new Uint8Array()],
    ["text", Buffer.from("<html>Not found</html>")],
    ["noise", noise(5_000)],
    ["half of one", makeSpeakerModel().subarray(0, 4_000)],
  ])("speaker model: %s is no ONNX model", async (_what, bytes) => {
    put(bytes);
    expect(await refusalOf(findSpeakerModel(folder))).toMatch(/is no ONNX model, or not all of/);
  });

  it.each([
    [{ framework: undefined }, /no metadata "framework"/],
    [{ sample_rate: "8000" }, /is for 8000 Hz .* and 16000 is needed/],
    [{ sample_rate: undefined }, /is for nothing Hz/],
    [{ output_dim: undefined }, /length of its vectors/],
    [{ output_dim: "-3" }, /length of its vectors/],
  ])("speaker model: metadata %j are refused", async (metadata, reason) => {
    put(makeSpeakerModel(metadata));
    expect(await refusalOf(findSpeakerModel(folder))).toMatch(reason);
  });
});

describe("speaker model: the trial", () => {
  it("speaker model: one that works is measured", async () => {
    put(makeSpeakerModel());
    const trial = await trySpeakerModel(await findSpeakerModel(folder));
    expect(trial.embedMs).toBeGreaterThan(0);
    expect(trial.memoryBytes).toBeGreaterThan(1_000_000);
  });

  // The library ends the process that gives it one of these, each in another way.
  it.each([
    ["of a kind it does not know", makeSpeakerModel({ framework: "kaldi" }), /kaldi/],
    ["without a language", makeSpeakerModel({ language: undefined }), /'language' does not exist/],
    ["with an unknown step", makeSpeakerModel({}, { pooling: "ReduceDream" }), /ReduceDream/],
    ["whose steps do not fit", makeSpeakerModel({}, { pooling: "MatMul" }), /MatMul/],
  ])("speaker model: one %s is refused with what the library says", async (_what, bytes, said) => {
    const path = put(bytes);
    const refusal = await refusalOf(trySpeakerModel(await findSpeakerModel(folder)));
    expect(refusal).toContain(`sherpa-onnx cannot use ${path}: its process ended with `);
    expect(refusal).toMatch(said);
  });

  it.each([Number.NaN, 0])("speaker model: weights of %s give no vector", async (scale) => {
    put(makeSpeakerModel({}, { scale }));
    const model = await findSpeakerModel(folder);
    const embedder = await SherpaEmbedder.load(model);
    expect(embedder.embed(new Int16Array(16_000).map((_, i) => i % 977))).toBeUndefined();
    embedder.close();
    expect(await refusalOf(trySpeakerModel(model))).toMatch(/gives no usable vector/);
  });

  it("speaker model: one that is another than the one tried is not loaded", async () => {
    const path = put(makeSpeakerModel());
    const model = await findSpeakerModel(folder);
    utimesSync(path, 1, 1);
    expect(await refusalOf(SherpaEmbedder.load(model))).toMatch(/restart the worker/);
    rmSync(path);
    expect(await refusalOf(SherpaEmbedder.load(model))).toMatch(/restart the worker/);
  });
});

describe("speaker model: in a worker", () => {
  it("speaker model: a reading tells voices apart by it, and says so", async () => {
    put(makeSpeakerModel());
    const speakerModel = await findSpeakerModel(folder);
    await trySpeakerModel(speakerModel);
    const pool = new InferencePool({ threads: 1 });
    await pool.start();
    const readers = await createSpeechReaders({ speakerModel, inference: pool.connect() });
    try {
      const reader = await openReading(readers, "moonshine-tiny-en");
      expect(reader.opened.diarisationModelVersion).toBe(
        `map-supervector-2+sherpa-onnx/${speakerModel.name}`,
      );
      const messages = await readAll(reader, someSpeech(8));
      const segments = utterancesOf(messages).flatMap((utterance) => utterance.segments);
      expect(segments.length).toBeGreaterThan(1);
      expect(segments.every(({ cluster }) => cluster >= 0)).toBe(true);
    } finally {
      await readers.close();
      pool.stop();
    }
  }, 60_000);

  it("speaker model: a worker does not start with one that it cannot use", async () => {
    const main = join(PROJECT, "workers/main.ts");
    const { PATH = "" } = process.env;
    const child = spawn(process.execPath, [main], {
      env: { PATH, ALLOW_ROOT: "1", WORKER_KEY, SPEAKER_MODEL_DIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    let said = "";
    for await (const data of child.stdout ?? []) said += String(data);
    if (child.exitCode === null) await once(child, "exit");
    expect(child.exitCode).toBe(1);
    expect(said).toMatch(/SPEAKER_MODEL_DIR: there is no \.onnx file in/);
  }, 60_000);
});

describe("speaker model: the package", () => {
  /** Loads a good model by a copy of the adapter beside which only `packages` are installed. */
  async function refusalWith(packages: readonly string[]): Promise<string> {
    put(makeSpeakerModel());
    const home = join(folder, "home");
    for (const path of ["workers/speakers", "src/base", "package.json"]) {
      cpSync(join(PROJECT, path), join(home, path), { recursive: true });
    }
    mkdirSync(join(home, "node_modules"));
    symlinkSync(join(PROJECT, "node_modules/@bufbuild"), join(home, "node_modules/@bufbuild"));
    for (const name of packages) {
      const path = join("node_modules", name);
      cpSync(join(PROJECT, path), join(home, path), { recursive: true });
    }
    const script = `
      import { SherpaEmbedder } from "./workers/speakers/sherpa-embedder.ts";
      import { findSpeakerModel } from "./workers/speakers/speaker-model.ts";
      const model = await findSpeakerModel(${JSON.stringify(folder)});
      await SherpaEmbedder.load(model).catch(({ code, message }) => console.log(code, message));`;
    const args = ["--input-type=module", "--eval", script];
    const child = spawn(process.execPath, args, {
      cwd: home,
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    let text = "";
    for await (const data of child.stdout ?? []) text += String(data);
    return text;
  }

  it("speaker model: says how to install it", async () => {
    const refusal = await refusalWith([]);
    expect(refusal).toMatch(/^speaker_model .* is not installed: npm ci --include=optional brings/);
  });

  it("speaker model: says when it has no build for the machine", async () => {
    const refusal = await refusalWith(["sherpa-onnx-node"]);
    expect(refusal).toMatch(/^speaker_model .* no build that runs on this machine \(linux-/);
  });
});
