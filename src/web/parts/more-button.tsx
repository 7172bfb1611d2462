import type { VNode } from "preact";
import { useDeed } from "./deed.ts";

interface MoreButtonProps {
  more: (() => Promise<void>) | undefined;
  label?: string;
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
