interface Schema {
  $ref?: string;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  additionalProperties?: Schema | boolean;
}

interface Operation {
  operationId?: string;
  responses?: Readonly<Record<string, { content?: Readonly<Record<string, { schema?: Schema }>> }>>;
}

interface ApiDocument {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
}

/** Members that hold the id of a session, or an address with it. */
const SESSION_ID = /^(session_ids?|request_id|stream_url)$/;

/** Where an answer has the id of a session: the schema and its member; and in answers at which paths. */
export function sessionIdsIn(document: ApiDocument): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const walk = (schema: Schema, name: string, path: string, seen: ReadonlySet<string>): void => {
    const { $ref, properties = {}, items, anyOf = [], allOf = [], oneOf = [] } = schema;
    const referred = $ref?.split("/").at(-1);
    if (referred !== undefined && !seen.has(referred)) {
      const of = document.components.schemas[referred];
      if (of !== undefined) walk(of, referred, path, new Set([...seen, referred]));
    }
    for (const [member, each] of Object.entries(properties)) {
      const isId = SESSION_ID.test(member) || (name === "Session" && member === "id");
      if (isId) {
        const place = `${name}.${member}`;
        found.set(place, (found.get(place) ?? new Set()).add(path));
      }
      walk(each, name, path, seen);
    }
    const inside = [...anyOf, ...allOf, ...oneOf, ...(items === undefined ? [] : [items])];
    for (const each of inside) walk(each, name, path, seen);
  };
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { operationId = path, responses = {} } of Object.values(methods)) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (!status.startsWith("2")) continue;
        for (const { schema = {} } of Object.values(content)) {
          walk(schema, operationId, path, new Set());
        }
      }
    }
  }
  return found;
}
