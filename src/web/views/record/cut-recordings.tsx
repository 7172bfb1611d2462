import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { account } from "../../api/account.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { agoOf } from "../../parts/times.ts";
import { cutRecordings, discardRecording, recorder, takeUpRecording } from "./recorder.ts";
import type { SavedRecording } from "./saved-audio.ts";

/** Recordings of this browser that were cut off; asked for anew whenever a recording has ended. */
export function useCutRecordings(): readonly SavedRecording[] {
  const [found, setFound] = useState<readonly SavedRecording[]>([]);
  const isIdle = recorder.value.kind === "idle";
  const who = account.value?.id;
  useEffect(() => {
    let isStale = false;
    const look = async () => {
      const cut = isIdle ? await cutRecordings().catch(() => []) : [];
      if (!isStale) setFound(cut);
    };
    void look();
    return () => {
      isStale = true;
    };
  }, [isIdle, who]);
  return found;
}

/** Offers to take up what was cut off by a reload or a crash; says whose it is to others. */
export function CutRecordings(): VNode | null {
  const found = useCutRecordings();
  const who = account.value;
  if (who?.kind !== "user" || found.length === 0) return null;
  return (
    <>
      {found.map((each) =>
        each.userId === who.id ? (
          <Own key={each.sessionId} recording={each} />
        ) : (
          <p key={each.sessionId} class="banner" role="status">
            {`A recording of ${each.email} is kept in this browser until they sign in here.`}
          </p>
        ),
      )}
    </>
  );
}

function Own({ recording }: { recording: SavedRecording }): VNode {
  const [, navigate] = useLocation();
  const name = recording.title === "" ? "Your recording" : `“${recording.title}”`;
  return (
    <div class="banner row" data-tone="warn" role="status">
      <span>{`${name} was cut off ${agoOf(new Date(recording.keptAt).toISOString())}. What it heard is kept in this browser.`}</span>
      <button
        type="button"
        class="button primary"
        onClick={() => {
          navigate("/record");
          void takeUpRecording(recording, "record");
        }}
      >
        Go on recording
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          navigate("/record");
          void takeUpRecording(recording, "finish");
        }}
      >
        Finish it
      </button>
    </div>
  );
}

interface LeavingProps {
  readonly recordings: readonly SavedRecording[];
  onStay: () => void;
  onLeave: () => void;
}

/** Before somebody signs out who has a recording that is not sent to its end. */
export function LeavingRecordings({ recordings, onStay, onLeave }: LeavingProps): VNode {
  const [, navigate] = useLocation();
  const [first] = recordings;
  const remove = async () => {
    for (const each of recordings) await discardRecording(each).catch(() => undefined);
    onLeave();
  };
  return (
    <Dialog title="A recording is not finished" onClose={onStay}>
      <p>
        Some of its sound is in this browser only. It is kept for you for 7 days, and nobody else
        who signs in here can hear it.
      </p>
      <div class="row">
        <button
          type="button"
          class="button primary"
          onClick={() => {
            onStay();
            navigate("/record");
            if (first !== undefined) void takeUpRecording(first, "finish");
          }}
        >
          Finish it first
        </button>
        <button type="button" class="button" onClick={onLeave}>
          Keep it, sign out
        </button>
        <button type="button" class="button danger" onClick={() => void remove()}>
          Remove it, sign out
        </button>
      </div>
    </Dialog>
  );
}
