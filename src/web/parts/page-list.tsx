import { Fragment, type VNode } from "preact";
import { useDeed } from "./deed.ts";
import type { usePages } from "./pages.ts";
import { RecordList } from "./record-row.tsx";
import { Awaited } from "./states.tsx";

interface PageListProps<T extends { readonly id: string }> {
  list: Pick<ReturnType<typeof usePages<T>>, "state" | "items" | "reload" | "more">;
  /** What is said to be loading. */
  what: string;
  lines?: number;
  label: string;
  /** Shown where the list has nothing. */
  empty?: VNode;
  /** What the button says that brings the next page. */
  more?: string;
  /** The row of a thing. */
  children: (item: T) => VNode;
}

/** The rows of a list that comes page by page. */
export function PageList<T extends { readonly id: string }>(props: PageListProps<T>): VNode {
  const { list, what, lines, label, empty, more, children } = props;
  return (
    <>
      <Awaited of={list} what={what} lines={lines} />
      {list.state.kind === "ready" && (
        <div class="stack">
          {list.items.length === 0 ? (
            empty
          ) : (
            <RecordList label={label}>
              {list.items.map((item) => (
                <Fragment key={item.id}>{children(item)}</Fragment>
              ))}
            </RecordList>
          )}
          <MoreButton more={list.more} label={more} />
        </div>
      )}
    </>
  );
}

interface MoreButtonProps {
  more: (() => Promise<void>) | undefined;
  label?: string | undefined;
}

/** The way to the next page of a list; nothing where there is none. */
export function MoreButton({ more, label = "Show more" }: MoreButtonProps): VNode | null {
  const { isBusy, error, run } = useDeed();
  if (more === undefined) return null;
  return (
    <div class="row">
      <button type="button" class="button" aria-disabled={isBusy} onClick={() => void run(more)}>
        {label}
      </button>
      {error !== "" && (
        <span role="alert" class="small">
          {error}
        </span>
      )}
    </div>
  );
}
