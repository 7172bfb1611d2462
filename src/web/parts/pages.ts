import { useResource } from "./resource.ts";

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/**
 * A list that is fetched page by page. `load` brings the page at a cursor, the first one without;
 * everything is asked for anew when one of `keys` changes.
 */
export function usePages<T extends { readonly id: string }>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  keys: readonly unknown[],
) {
  const { state, reload, set } = useResource(() => load(undefined), keys);
  const held = state.kind === "ready" ? state.value : undefined;
  const items = held?.items ?? [];
  const change = (next: readonly T[]) => held && set({ ...held, items: next });
  return {
    state,
    items,
    reload,
    /** Brings the next page; undefined when there is none. */
    more:
      held?.next_cursor == null
        ? undefined
        : async () => {
            const next = await load(held.next_cursor ?? undefined);
            set({ ...next, items: joined(held.items, next.items) });
          },
    /** Shows a thing as it is now, a new one first. */
    put: (item: T) => {
      const isKnown = items.some(({ id }) => id === item.id);
      change(isKnown ? items.map((each) => (each.id === item.id ? item : each)) : [item, ...items]);
    },
    /** Takes a thing out that is gone. */
    drop: (id: string) => change(items.filter((each) => each.id !== id)),
  };
}

/** Two pages, of which the later one may repeat what moved meanwhile. */
function joined<T extends { readonly id: string }>(first: readonly T[], then: readonly T[]): T[] {
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...then.filter(({ id }) => !known.has(id))];
}
