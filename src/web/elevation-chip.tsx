import { LockOpen } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";
import { Link } from "wouter-preact";
import { clockTime } from "../wire/clock-time.ts";
import { elevations, elevationsEnded, endElevation } from "./api/elevation.ts";
import type { Elevation } from "./api/elevation-record.ts";
import { Menu } from "./parts/menu.tsx";
import { attempt, showToast } from "./parts/toasts.tsx";

const SECOND = 1_000;
/** Left when the chip begins to warn. */
const SOON_MS = 120 * SECOND;

/** In the bar at the top while an administrator sees the content of others: for how long, and its end. */
export function ElevationChip(): VNode | null {
  const all = elevations.value;
  useTicking(SECOND, all.length > 0);
  useEndNotice();
  const first = all[0];
  if (first === undefined) return null;
  const left = leftOf(first);
  const isSoon = first.until - Date.now() < SOON_MS;
  return (
    <Menu
      label={`Open to you ${left} left: content of others`}
      class={isSoon ? "chip elevation-chip soon" : "chip elevation-chip"}
      button={
        <>
          <LockOpen size={14} aria-hidden="true" />
          <span class="elevation-word">Open to you</span> <span>{left}</span>
        </>
      }
    >
      {(close) => all.map((each) => <Opened key={each.id} elevation={each} close={close} />)}
    </Menu>
  );
}

function leftOf({ until }: Elevation): string {
  return clockTime(Math.ceil((until - Date.now()) / SECOND));
}

function Opened({ elevation, close }: { elevation: Elevation; close: () => void }): VNode {
  const { id, reason, place } = elevation;
  const end = () => attempt(() => endElevation(id).then(close));
  return (
    <div class="stack elevation-opened">
      <p>
        {place.session_id === undefined ? (
          place.workspace_id === undefined ? (
            "Everything"
          ) : (
            "One workspace"
          )
        ) : (
          <Link href={`/sessions/${place.session_id}`} onClick={close}>
            One session
          </Link>
        )}
        , for {leftOf(elevation)} more
        <br />
        <span class="soft small">{reason}</span>
      </p>
      <div>
        <button type="button" class="button" onClick={() => void end()}>
          End it now
        </button>
      </div>
    </div>
  );
}

/** Says so when one has ended, as what it opened goes from the page. */
function useEndNotice(): void {
  const ended = elevationsEnded.value;
  const before = useRef(ended);
  useEffect(() => {
    if (ended === before.current) return;
    before.current = ended;
    showToast("The content is hidden again.");
  }, [ended]);
}

/** Draws the component anew every `ms` while `isOn`. */
function useTicking(ms: number, isOn: boolean): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => redraw(0), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}
