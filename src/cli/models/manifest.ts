import { readFile } from "node:fs/promises";
import { type Static, Type } from "@sinclair/typebox";
import { Ajv } from "ajv";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";

const FETCH_MS = 30_000;
/** A plain path below the model's folder. */
const FILE_PATH = "^(?!.*\\.\\.)[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$";
const HASH = "^[0-9a-f]{64}$";

const fileSchema = Type.Object({
  path: Type.String({ pattern: FILE_PATH }),
  /** Where the publisher has it; without one it comes from a mirror or the model's archive only. */
  url: Type.Optional(Type.String({ pattern: "^https?://" })),
  bytes: Type.Integer({ minimum: 1 }),
  sha256: Type.String({ pattern: HASH }),
});

/** A tar.bz2 of the publisher, which holds the files below its folder `root`. */
const archiveSchema = Type.Object({
  url: Type.String({ pattern: "^https?://" }),
  root: Type.String({ pattern: FILE_PATH }),
  bytes: Type.Integer({ minimum: 1 }),
  sha256: Type.String({ pattern: HASH }),
});

const modelSchema = Type.Object({
  id: Type.String({ pattern: "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$" }),
  title: Type.String({ minLength: 1, maxLength: 200 }),
  licence: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 200 }),
    url: Type.String({ pattern: "^https?://" }),
  }),
  /** BCP 47 tags of the languages that it reads. */
  languages: Type.Optional(Type.Array(Type.String({ minLength: 2, maxLength: 35 }))),
  /** Its files lie in the project, in `workers/models/ID`. */
  shipped: Type.Optional(Type.Boolean()),
  /** Nobody of the project has run it yet. */
  untried: Type.Optional(Type.Boolean()),
  archive: Type.Optional(archiveSchema),
  files: Type.Array(fileSchema, { minItems: 1, maxItems: 64 }),
});

const manifestSchema = Type.Object({ models: Type.Array(modelSchema, { maxItems: 1_000 }) });

export type Model = Static<typeof modelSchema>;
export type ModelFile = Static<typeof fileSchema>;
export type ModelArchive = Static<typeof archiveSchema>;

/**
 * Reads a manifest from a file or an address. Throws CommandFailure with a sentence that says where
 * it is wrong.
 */
export async function readManifest(place: string): Promise<Model[]> {
  const text = await textOf(place).catch((error: unknown) => {
    throw new CommandFailure(`The manifest ${place} cannot be read: ${reasonOf(error)}.`, error);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CommandFailure(`The manifest ${place} is no JSON: ${reasonOf(error)}.`, error);
  }
  const ajv = new Ajv({ allErrors: false });
  if (!ajv.validate(manifestSchema, value)) {
    const [fault] = ajv.errors ?? [];
    const where = fault?.instancePath === "" ? "at its top" : `at ${fault?.instancePath}`;
    throw new CommandFailure(`The manifest ${place} is wrong ${where}: ${fault?.message}.`);
  }
  return (value as Static<typeof manifestSchema>).models;
}

async function textOf(place: string): Promise<string> {
  if (!/^https?:\/\//.test(place)) return readFile(place, "utf8");
  const response = await fetch(place, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return response.text();
}
