import type { TSchema } from "@sinclair/typebox";
import type { ResponseSpec, Route } from "./route.ts";

/** Words in member names that mark credentials. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  "code",
  "codes",
  "cookie",
  "credential",
  "credentials",
  "key",
  "keys",
  "otp",
  "password",
  "secret",
  "secrets",
  "signature",
  "ticket",
  "token",
  "tokens",
]);

/**
 * True when a route's answers may contain a token, a key, a code or the like. This is decided by
 * the member names in its response schemas, so that no route can forget to declare it; members that
 * a schema does not list count as secrets.
 *
 * Such answers are never compressed: their length would reveal the secret to an attacker who can
 * have his own text placed beside it (BREACH).
 */
export function mayAnswerSecrets(route: Route): boolean {
  if (route.path.startsWith("/auth/")) return true;
  return Object.values(route.responses).some(mayHoldSecrets);
}

function mayHoldSecrets({ schema, mediaTypes }: ResponseSpec): boolean {
  if (schema !== undefined) return schemaHoldsSecrets(schema);
  // Text or audio of a conversation, or no body at all.
  return mediaTypes?.includes("application/json") ?? false;
}

function schemaHoldsSecrets(schema: TSchema): boolean {
  const { properties = {}, items, anyOf, allOf, oneOf, type } = schema;
  const parts: TSchema[] = [anyOf, allOf, oneOf, items].flat().filter((part) => part !== undefined);
  const members = Object.entries<TSchema>(properties);
  const open = type === undefined && parts.length === 0 && !("const" in schema || "enum" in schema);
  return (
    open ||
    members.some(([name, member]) => isSecret(name, member) || schemaHoldsSecrets(member)) ||
    parts.some(schemaHoldsSecrets) ||
    mapValues(schema).some(schemaHoldsSecrets)
  );
}

/** Schemas of members whose names the schema does not list. */
function mapValues({ additionalProperties, patternProperties = {} }: TSchema): TSchema[] {
  const more = typeof additionalProperties === "object" ? [additionalProperties as TSchema] : [];
  return [...Object.values<TSchema>(patternProperties), ...more];
}

/**
 * True for members whose names contain a secret word. Numbers and times are no secrets, such as a
 * status code or the expiry of a key.
 */
function isSecret(name: string, { type }: TSchema): boolean {
  const words = name.split(/_|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  const isText = type !== "integer" && type !== "number" && type !== "boolean";
  return isText && words.at(-1) !== "at" && words.some((word) => SECRET_WORDS.has(word));
}
