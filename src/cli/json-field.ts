import type { JsonObject } from "./api-client.ts";
import { CommandFailure } from "./command-failure.ts";

/** A text member of an answer; throws when the service left it out. */
export function stringField(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value === "string") return value;
  throw new CommandFailure(`the service's answer lacks "${name}"; is this the right address?`);
}

/** The objects of a list member, [] when it is absent. */
export function objectsField(body: JsonObject, name: string): JsonObject[] {
  const value = body[name];
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is JsonObject => typeof item === "object" && item !== null);
}
