import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { API_SCHEMA_FILE, apiSchemaText } from "./api-schema-text.ts";

const file = resolve(import.meta.dirname, "../..", API_SCHEMA_FILE);
writeFileSync(file, await apiSchemaText());
console.log(file);
