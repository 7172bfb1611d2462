import { createHash } from "node:crypto";
import { newId } from "../../base/ids.ts";

/** An action item by what it is known again: the first segment that it cites, and its words. */
export interface KnownItem {
  id: string;
  segmentId: string;
  digest: string;
}

/** SHA-256 of an item's words, hex; capitals, marks and blanks do not count. */
export function digestOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return createHash("sha256").update(words.join(" ")).digest("hex");
}

/**
 * An id for each item: of the known one with the same words at the same place; else with the same words,
 * as another reading has other segments; else alone at the same place, as its words were corrected; else a
 * new one. Each known one is given once.
 */
export function identify(
  items: readonly { text: string; segmentIds: readonly string[] }[],
  known: readonly KnownItem[],
): string[] {
  const left = new Map(known.map((item) => [item.id, item]));
  const found = items.map(({ text, segmentIds }) => ({
    segmentId: segmentIds[0] ?? "",
    digest: digestOf(text),
    id: "",
  }));
  type Found = (typeof found)[number];
  const alone = (item: Found) =>
    found.filter(({ segmentId, id }) => segmentId === item.segmentId && id === "").length === 1 &&
    [...left.values()].filter(({ segmentId }) => segmentId === item.segmentId).length === 1;
  const rules: ((item: Found, known: KnownItem) => boolean)[] = [
    (item, one) => item.segmentId === one.segmentId && item.digest === one.digest,
    (item, one) => item.digest === one.digest,
    (item, one) => item.segmentId === one.segmentId && alone(item),
  ];
  for (const isSame of rules) {
    for (const item of found) {
      if (item.id !== "") continue;
      const one = [...left.values()].find((each) => isSame(item, each));
      if (one === undefined) continue;
      item.id = one.id;
      left.delete(one.id);
    }
  }
  return found.map(({ id }) => (id === "" ? newId() : id));
}
