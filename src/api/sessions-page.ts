import { type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";

/** `{items, next_cursor}`; the cursor is null at the end. */
export function pageSchema<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  });
}

/** An id given as a filter; undefined stays undefined, anything else but a UUID is 400. */
export function filterId(name: string, value: string | undefined): string | undefined {
  if (value === undefined || isId(value)) return value;
  throw new AppError("invalid_parameter", `${name} must be a UUID in lower case.`);
}
