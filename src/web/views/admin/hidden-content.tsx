import { Lock, LockOpen } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ElevationDialog } from "../../parts/elevation-form.tsx";

interface HiddenProps {
  job: { readonly session_id?: string | undefined; readonly workspace_id: string };
  onOpen: () => void;
}

/** In the place of a job's words that this administrator sees only with a reason. */
export function HiddenContent({ job, onOpen }: HiddenProps): VNode {
  const [isAsking, setAsking] = useState(false);
  const { session_id: session, workspace_id: workspace } = job;
  return (
    <section class="card stack" aria-labelledby="hidden-content">
      <h2 class="row" id="hidden-content">
        <Lock size={18} aria-hidden="true" /> The words are hidden
      </h2>
      <p class="soft">You are not a part of this session. With a reason they are open to you.</p>
      <div>
        <button type="button" class="button primary" onClick={() => setAsking(true)}>
          <LockOpen size={16} aria-hidden="true" /> Give a reason
        </button>
      </div>
      {isAsking && (
        <ElevationDialog
          place={session === undefined ? { workspace_id: workspace } : { session_id: session }}
          what="the words of this session"
          onClose={() => setAsking(false)}
          onOpen={() => {
            setAsking(false);
            onOpen();
          }}
        />
      )}
    </section>
  );
}
