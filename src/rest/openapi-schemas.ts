/** A JSON value of a document. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export type JsonObject = { [key: string]: Json };

/**
 * Turns schemas into plain JSON. One with an `$id` is printed once, under
 * `components.schemas`, and referred to from then on.
 */
export class SchemaPrinter {
  readonly components: JsonObject = {};

  print(schema: unknown): Json {
    return this.#walk(JSON.parse(JSON.stringify(schema)));
  }

  #walk(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#walk(item));
    if (value === null || typeof value !== "object") return value;
    const { $id, ...members } = value;
    const printed: JsonObject = {};
    for (const [name, member] of Object.entries(members)) {
      printed[name] = name === "$ref" ? reference(member) : this.#walk(member);
    }
    if (typeof $id !== "string") return printed;
    this.#define($id, printed);
    return { $ref: `#/components/schemas/${$id}` };
  }

  #define(id: string, printed: JsonObject): void {
    const known = this.components[id];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(printed)) {
      throw new Error(`Two different schemas have the $id ${id}.`);
    }
    this.components[id] = printed;
  }
}

function reference(target: Json): Json {
  if (typeof target !== "string" || target.startsWith("#")) return target;
  return `#/components/schemas/${target}`;
}
