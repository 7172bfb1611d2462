import { CircleAlert, CloudOff, RotateCw } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { Unreachable } from "../../client/errors.ts";
import { messageOf } from "../api/client.ts";
import type { Loaded } from "./resource.ts";

interface LoadingProps {
  what: string;
  lines?: number | undefined;
}

/** Grey lines in the place of what is being loaded. */
export function Loading({ what, lines = 5 }: LoadingProps): VNode {
  const widths = ["70%", "92%", "58%", "84%", "76%", "64%", "88%"];
  return (
    <div class="stack" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: lines }, (_, n) => (
        <div key={widths[n % widths.length]} class="skeleton" style={{ width: widths[n % 7] }} />
      ))}
    </div>
  );
}

interface EmptyProps {
  title: string;
  /** The buttons or links that lead on: nobody stands before nothing without a next step. */
  next: VNode | "comes by itself";
  children?: ComponentChildren;
}

/** What is said where there is nothing, with what to do about it. */
export function Empty({ title, next, children }: EmptyProps): VNode {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
      {next !== "comes by itself" && <div class="row">{next}</div>}
    </div>
  );
}

/** For a list that was narrowed until nothing was left. */
export function NothingFits({ title, onAll }: { title: string; onAll: () => void }): VNode {
  const all = (
    <button type="button" class="button" onClick={onAll}>
      Show all of them
    </button>
  );
  return <Empty title={title} next={all} />;
}

/** Why something is not shown, and the button to try again where that may help. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }): VNode {
  const isOffline = error instanceof Unreachable;
  const Icon = isOffline ? CloudOff : CircleAlert;
  return (
    <div class="state" role="alert">
      <Icon size={28} aria-hidden="true" />
      <p>{messageOf(error)}</p>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          <RotateCw size={16} aria-hidden="true" /> Try again
        </button>
      )}
    </div>
  );
}

interface AwaitedProps extends LoadingProps {
  of: Pick<Loaded<unknown>, "state" | "reload">;
}

/** In the place of what is not there yet: that it is on its way, or why it is not. */
export function Awaited({ of: { state, reload }, ...props }: AwaitedProps): VNode | null {
  if (state.kind === "loading") return <Loading {...props} />;
  return state.kind === "failed" ? <Failure error={state.error} retry={reload} /> : null;
}
