import { CheckCheck, RotateCcw } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Concern } from "../../api/records.ts";
import { Choice } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { attempt } from "../../parts/toasts.tsx";

export const CONCERN_STATUS: Readonly<Record<Concern["status"], string>> = {
  open: "Open",
  acknowledged: "Seen",
  resolved: "Resolved",
  dismissed: "Dismissed",
};

const ENDS: readonly { id: Concern["status"]; name: string }[] = [
  { id: "resolved", name: "Resolved: something was done about it" },
  { id: "acknowledged", name: "Seen: something will be done" },
  { id: "dismissed", name: "Dismissed: nothing has to be done" },
];

interface SettlingProps {
  concern: Concern;
  onChanged: () => void;
}

/** What its owner and moderators make of a concern. */
export function ConcernSettling({ concern, onChanged }: SettlingProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const change = (body: Change) =>
    call((api) =>
      api.PATCH("/concerns/{concern_id}", { params: { path: { concern_id: concern.id } }, body }),
    );
  const reopen = () => attempt(() => change({ status: "open" }).then(onChanged));
  if (concern.status === "resolved" || concern.status === "dismissed") {
    return (
      <div>
        <button type="button" class="button quiet small" onClick={() => void reopen()}>
          <RotateCcw size={14} aria-hidden="true" /> Open it again
        </button>
      </div>
    );
  }
  return (
    <div>
      <button type="button" class="button small" onClick={() => setOpen(true)}>
        <CheckCheck size={14} aria-hidden="true" /> Settle it
      </button>
      {isOpen && (
        <SettleDialog
          concern={concern}
          onClose={() => setOpen(false)}
          onSettled={async (body) => {
            await change(body);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

interface Change {
  status: Concern["status"];
  resolution?: string;
  redact?: boolean;
}

interface DialogProps {
  concern: Concern;
  onClose: () => void;
  onSettled: (change: Change) => Promise<void>;
}

function SettleDialog({ concern, onClose, onSettled }: DialogProps): VNode {
  const [status, setStatus] = useState<Concern["status"]>("resolved");
  const mayRedact = concern.category === "privacy" && concern.start_ms !== undefined;
  const settle = (fields: FormData) => {
    const resolution = String(fields.get("resolution")).trim();
    return onSettled({
      status,
      ...(resolution === "" ? {} : { resolution }),
      ...(fields.get("redact") === null ? {} : { redact: true }),
    });
  };
  return (
    <FormDialog title="Settle the concern" submit="Settle it" onSubmit={settle} onClose={onClose}>
      <p>{concern.description}</p>
      <Choice label="What came of it?" value={status} of={ENDS} onChoose={setStatus} />
      <label class="field">
        <span>What was done, or why not; whoever raised it reads this</span>
        <textarea class="input" name="resolution" maxLength={2_000} />
      </label>
      {mayRedact && status === "resolved" && (
        <label class="check">
          <input type="checkbox" name="redact" /> Take the words and the sound of that moment out,
          for good
        </label>
      )}
    </FormDialog>
  );
}
