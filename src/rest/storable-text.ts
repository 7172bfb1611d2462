const UNSTORABLE = /[\0\p{Cs}]/u;

/**
 * False for strings that PostgreSQL cannot store, in text or in jsonb: those with U+0000 or half a
 * surrogate pair; also in what an object or array holds, but for bytes.
 */
export function isStorable(value: unknown): boolean {
  if (typeof value === "string") return !UNSTORABLE.test(value);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
