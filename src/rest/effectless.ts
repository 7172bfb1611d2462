/** Names beyond these are not told. */
const MOST_NAMED = 20;

/**
 * The `Warning` header (RFC 7234 §5.5, code 299) that names parameters without an effect here;
 * undefined when all have one.
 */
export function effectless(names: readonly string[]): string | undefined {
  const plain = [...new Set(names)].map((name) => name.replaceAll(/[^\w.[\]-]/g, "?").slice(0, 40));
  if (plain.length === 0) return undefined;
  const more = plain.length > MOST_NAMED ? " and others" : "";
  return `299 - "without effect here: ${plain.slice(0, MOST_NAMED).join(", ")}${more}"`;
}
