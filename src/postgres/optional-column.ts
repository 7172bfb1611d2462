import type { z } from "zod";

/** A column that may be null, as an optional member: null becomes undefined. */
export function optionalColumn<T extends z.ZodTypeAny>(column: T) {
  return column.nullable().transform((value): z.output<T> | undefined => value ?? undefined);
}
