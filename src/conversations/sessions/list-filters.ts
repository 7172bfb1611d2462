import { type TSchema, Type } from "@sinclair/typebox";
import { pageSchema } from "../../rest/page.ts";
import { MOST_COUNTED } from "./list-store.ts";

const tag = Type.String({ minLength: 1, maxLength: 64, examples: ["support"] });

/** `tag` of what is filtered by the tags of sessions. */
export const tagFilter = Type.Optional(
  Type.Union([tag, Type.Array(tag, { maxItems: 20 })], {
    description: "With this tag, exactly; of several (`tag=a&tag=b`) with all of them",
  }),
);

/** `count` of lists that tell how much there is. */
export const countFilter = Type.Optional(
  Type.Boolean({
    description: `\`true\`: \`total\` says how many there are on all pages; more than ${MOST_COUNTED} are not counted`,
  }),
);

export function tagsOf(tags: string | string[] | undefined): string[] | undefined {
  return tags === undefined ? undefined : [tags].flat();
}

/** A page of such a list. */
export function countedPage<T extends TSchema>(item: T, $id: string) {
  const total = Type.Optional(Type.Integer({ description: "With `count`", examples: [117] }));
  return Type.Composite([pageSchema(item), Type.Object({ total })], { $id });
}
