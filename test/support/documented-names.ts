import { NAME_PATTERN } from "../../src/wire/names.ts";

interface Schema {
  $ref?: string;
  pattern?: string;
  properties?: object;
  items?: Schema;
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
}

interface Operation {
  requestBody?: { content: Readonly<Record<string, { schema?: Schema }>> };
}

export interface ApiDocument {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

/** The members of a schema that are names, with the members around them. */
export function namesIn(
  schema: Schema,
  components: ApiDocument["components"]["schemas"] = {},
  at: readonly string[] = [],
): string[] {
  const { $ref, pattern, properties = {}, items, anyOf = [], allOf = [], oneOf = [] } = schema;
  if (pattern === NAME_PATTERN) return [at.join(".")];
  const named = $ref === undefined ? undefined : components[$ref.split("/").at(-1) ?? ""];
  const inside = [
    ...anyOf,
    ...allOf,
    ...oneOf,
    ...(items ? [items] : []),
    ...(named ? [named] : []),
  ];
  return [
    ...inside.flatMap((each) => namesIn(each, components, at)),
    ...Object.entries<Schema>({ ...properties }).flatMap(([member, each]) =>
      namesIn(each, components, [...at, member]),
    ),
  ];
}

/** Every name in the bodies of the API's document, as `PATCH /users/{user_id} name`. */
export function documentedNames({ paths, components }: ApiDocument): string[] {
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      Object.values(requestBody?.content ?? {}).flatMap(({ schema = {} }) =>
        namesIn(schema, components.schemas).map(
          (member) => `${method.toUpperCase()} ${path} ${member}`,
        ),
      ),
    ),
  );
  return [...new Set(found)].sort();
}

/** The path of the document that a request's path is one of; the one with the fewest parameters. */
export function documentedPath({ paths }: ApiDocument, path: string): string {
  const matches = (template: string) =>
    new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path);
  const parameters = (template: string) => template.split("{").length;
  const [best] = Object.keys(paths)
    .filter(matches)
    .sort((a, b) => parameters(a) - parameters(b));
  if (best === undefined) throw new Error(`The document has no ${path}.`);
  return best;
}
