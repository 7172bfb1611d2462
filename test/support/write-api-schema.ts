import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { API_SCHEMA_FILE, apiSchemaText } from "./api-schema-text.ts";

// Written beside and swapped, so that no reader finds it half done.
const file = resolve(import.meta.dirname, "../..", API_SCHEMA_FILE);
const fresh = `${file}.${process.pid}`;
mkdirSync(dirname(file), { recursive: true });
writeFileSync(fresh, await apiSchemaText());
renameSync(fresh, file);
