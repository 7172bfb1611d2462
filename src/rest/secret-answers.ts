import type { TSchema } from "@sinclair/typebox";
import type { ResponseSpec, Route } from "./route.ts";

/** Words in the names of members that hold what proves somebody. */
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
 * May a route's answers hold a token, a key, a code or the like? Told by the names in its response
 * schemas, so that no route can forget to say it; what a schema leaves open counts as a secret.
 *
 * Such answers are never compressed: their length would tell of the secret to somebody who can
 * have a text of his own put beside it (BREACH).
 */
export function mayAnswerSecrets(route: Route): boolean {
  if (route.path.startsWith("/auth/")) return true;
  return Object.values(route.responses).some(mayHoldSecrets);
}

function mayHoldSecrets({ schema, mediaTypes }: ResponseSpec): boolean {
  if (schema !== undefined) return schemaHoldsSecrets(schema);
  // Text or sound of a conversation, or no body at all.
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

/** The schemas of members whose names the schema does not list. */
function mapValues({ additionalProperties, patternProperties = {} }: TSchema): TSchema[] {
  const more = typeof additionalProperties === "object" ? [additionalProperties as TSchema] : [];
  return [...Object.values<TSchema>(patternProperties), ...more];
}

/** The time at which a key ends is no secret, nor is a status code. */
function isSecret(name: string, { type }: TSchema): boolean {
  const words = name.split(/_|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  const isText = type !== "integer" && type !== "number" && type !== "boolean";
  return isText && words.at(-1) !== "at" && words.some((word) => SECRET_WORDS.has(word));
}
