import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { fetchArchive, fetchFile } from "../models/fetch-file.ts";
import type { Model } from "../models/manifest.ts";
import { type FileState, removeModel, stateOf } from "../models/model-folder.ts";
import { withModelLock } from "../models/model-lock.ts";
import { sized } from "../view/sizes.ts";

interface Options {
  manifest?: string;
  folder?: string;
  json?: boolean;
  from?: string;
  yes?: boolean;
}

const ABOUT = `
Nothing is fetched unless you ask for it. The catalogue ships with the service; one of your own is
named with --manifest or VOICE_MODEL_MANIFEST. Files come from the folder or address in
VOICE_MODELS_MIRROR (as ID/FILE), else from the publisher. parakeet-tdt-0.6b-v3 is untried: nobody of
the project has run it yet. See deploy/engines.md.`;
const CATALOGUE = join(import.meta.dirname, "../models/catalogue.json");

/** `voice models`: brings, checks and removes models for speech engines. */
export function addModels(program: Command, context: CommandContext): void {
  const models = program
    .command("models")
    .description("models for speech engines on this machine")
    .addHelpText("after", ABOUT);
  const common = (command: Command): Command =>
    command
      .option(
        "--manifest <place>",
        "a file or an address (default: VOICE_MODEL_MANIFEST, else the service's)",
      )
      .option("--folder <path>", "where models lie (default: VOICE_MODEL_DIR, else a cache folder)")
      .option("--json", "one JSON object per line");
  common(models.command("list").description("those of the manifest, and which are here")).action(
    (options: Options) => list(options, context),
  );
  common(models.command("pull").description("fetch one, or go on fetching it"))
    .argument("<id>", "as `voice models list` shows it")
    .option(
      "--from <place>",
      "a folder, or a mirror's address, that holds ID/FILE (default: VOICE_MODELS_MIRROR)",
    )
    .option("--yes", "take its licence without being asked")
    .action((id: string, options: Options) => pull(id, options, context));
  common(models.command("verify").description("compare files with their checksums"))
    .argument("[id]", "one model (default: all that are here)")
    .action((id: string | undefined, options: Options) => verify(id, options, context));
  common(models.command("rm").description("delete one from this machine"))
    .argument("<id>", "as `voice models list` shows it")
    .action((id: string, options: Options) => remove(id, options, context));
}

async function modelsOf(options: Options, { env }: CommandContext): Promise<Model[]> {
  // What checks a manifest takes longer to load than other commands to run.
  const { readManifest } = await import("../models/manifest.ts");
  return readManifest(options.manifest ?? (env.VOICE_MODEL_MANIFEST || CATALOGUE));
}

function bytesOf({ files }: Pick<Model, "files">): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function folderOf(options: Options, { env }: CommandContext): string {
  const cache = env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return options.folder ?? env.VOICE_MODEL_DIR ?? join(cache, "voice-session-service", "models");
}

async function oneModel(id: string, options: Options, context: CommandContext): Promise<Model> {
  const models = await modelsOf(options, context);
  const model = models.find((each) => each.id === id);
  if (model !== undefined) return model;
  const ids = models.map((each) => each.id).join(", ") || "none";
  throw new CommandFailure(`The manifest has no model "${id}", only: ${ids}`);
}

async function statesOf(folder: string, model: Model, signal?: AbortSignal): Promise<FileState[]> {
  const states: FileState[] = [];
  for (const file of model.files) states.push(await stateOf(folder, model, file, signal));
  return states;
}

async function list(options: Options, context: CommandContext): Promise<void> {
  const { stdout } = context;
  const folder = folderOf(options, context);
  const models = await modelsOf(options, context);
  if (models.length === 0 && !options.json) stdout.write("The manifest has no model.\n");
  for (const model of models) {
    const states = await statesOf(folder, model);
    const isWhole = states.every((state) => state === "whole");
    const state = isWhole
      ? model.shipped
        ? "shipped"
        : "here"
      : states.every((each) => each === "absent")
        ? "not here"
        : "begun";
    const { id, title, licence, languages = [], untried = false } = model;
    if (options.json) {
      writeJson(stdout, { id, title, languages, licence, bytes: bytesOf(model), state, untried });
    } else {
      const spoken = languages.length === 0 ? "" : `, ${languages.join(" ")}`;
      const about = `${sized(bytesOf(model))}, ${licence.name}${spoken}${untried ? ", untried" : ""}`;
      stdout.write(`${id.padEnd(28)} ${state.padEnd(9)} ${about}\n    ${title}\n`);
    }
  }
}

async function pull(id: string, options: Options, context: CommandContext): Promise<void> {
  const { stdout } = context;
  const model = await oneModel(id, options, context);
  if (model.shipped) {
    stdout.write(`${id} ships with the service: nothing to fetch\n`);
    return;
  }
  const { name, url } = model.licence;
  stdout.write(`${model.title}: ${sized(bytesOf(model))}, licence ${name} (${url})\n`);
  if (!options.yes) await confirm(context);
  const folder = folderOf(options, context);
  await withModelLock(folder, id, () => fetchAll(model, folder, options, context));
  stdout.write(
    `The model lies in ${join(folder, model.id)}: name that folder in SPEECH_ENGINES_FILE\n`,
  );
}

async function fetchAll(
  model: Model,
  folder: string,
  options: Options,
  context: CommandContext,
): Promise<void> {
  const { signal, env } = context;
  const from = options.from ?? (env.VOICE_MODELS_MIRROR || undefined);
  const { archive, files } = model;
  if (from === undefined && archive !== undefined && files.some(({ url }) => url === undefined)) {
    const states = await statesOf(folder, model, signal);
    const isWhole = states.every((state) => state === "whole");
    const onProgress = progressOf(context, "its archive", archive.bytes);
    const onUnpack = progressOf(context, "unpacking", archive.bytes);
    // It compares each file with its checksum while it writes it.
    if (!isWhole) await fetchArchive(model, archive, { folder, signal, onProgress, onUnpack });
    for (const { path } of files) showFetched(context, path, isWhole ? "was there" : "fetched");
    return;
  }
  for (const file of files) {
    const onProgress = progressOf(context, file.path, file.bytes);
    const how = await fetchFile(model, file, { folder, signal, onProgress, from });
    showFetched(context, file.path, how);
  }
}

function showFetched({ stdout }: CommandContext, path: string, how: string): void {
  stdout.write(`${stdout.isTTY ? "\r\u001b[K" : ""}${path}: ${how}, checksum right\n`);
}

async function confirm({ stdin, stdout, signal }: CommandContext): Promise<void> {
  if (!stdin.isTTY) {
    throw new CommandFailure(
      "Nobody can be asked about the licence here: read it, then give --yes",
    );
  }
  const terminal = createInterface({ input: stdin, output: stdout });
  try {
    const answer = await terminal.question("Take it under this licence? [y/N] ", { signal });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    terminal.close();
  }
  throw new CommandFailure("Nothing was fetched");
}

/** Shows how far a file is, on a terminal only. */
function progressOf({ stdout }: CommandContext, path: string, total: number) {
  let shown = -1;
  return (bytes: number): void => {
    const percent = Math.floor((100 * bytes) / total);
    if (!stdout.isTTY || percent === shown) return;
    shown = percent;
    const bar = "█".repeat(Math.floor(percent / 5)).padEnd(20, "░");
    stdout.write(`\r\u001b[K${bar} ${percent} % of ${sized(total)}  ${path}`);
  };
}

async function verify(
  id: string | undefined,
  options: Options,
  context: CommandContext,
): Promise<void> {
  const { stdout, signal } = context;
  const folder = folderOf(options, context);
  const all = id === undefined ? await modelsOf(options, context) : [];
  const models = id === undefined ? all : [await oneModel(id, options, context)];
  let wrong = 0;
  let looked = 0;
  for (const model of models) {
    const states = await statesOf(folder, model, signal);
    if (id === undefined && states.every((state) => state === "absent")) continue;
    for (const [at, { path }] of model.files.entries()) {
      const state = states[at] ?? "absent";
      looked += 1;
      if (state !== "whole") wrong += 1;
      if (options.json) writeJson(stdout, { id: model.id, path, state });
      else stdout.write(`${state === "whole" ? "✓" : "✗"} ${model.id}/${path}: ${state}\n`);
    }
  }
  if (looked === 0 && !options.json) stdout.write("No model of the manifest is here.\n");
  if (wrong > 0)
    throw new CommandFailure(
      `${wrong} of ${looked} files are not right: voice models pull mends them`,
    );
}

async function remove(id: string, options: Options, context: CommandContext): Promise<void> {
  const model = await oneModel(id, options, context);
  if (model.shipped) throw new CommandFailure(`${id} ships with the service and stays`);
  const folder = folderOf(options, context);
  await withModelLock(folder, id, () => removeModel(folder, model.id));
  if (options.json) writeJson(context.stdout, { id: model.id, removed: true });
  else context.stdout.write(`${model.id} is deleted from this machine\n`);
}
