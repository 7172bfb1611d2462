import { LockOpen } from "lucide-preact";
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { elevate } from "../api/elevation.ts";
import type { ElevationScope } from "../api/elevation-record.ts";
import { Alert } from "./alert.tsx";
import { useDeed } from "./deed.ts";
import { Dialog } from "./dialog.tsx";

const MINUTES = [15, 30, 60, 120, 240] as const;
const LEAST = 10;
const MOST = 500;

interface FormProps {
  place: ElevationScope;
  /** Called once the content is open. */
  onOpen: () => void;
}

/** The reason for which an administrator sees the words of others, and for how long. */
export function ElevationForm({ place, onOpen }: FormProps): VNode {
  const id = useId();
  const { isBusy, error, run } = useDeed();
  const [length, setLength] = useState(0);
  const submit = async (fields: FormData) => {
    await elevate(String(fields.get("reason")).trim(), place, Number(fields.get("minutes")));
    onOpen();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        void run(() => submit(fields));
      }}
    >
      <div class="field">
        <label for={id}>Reason</label>
        <textarea
          id={id}
          class="input"
          name="reason"
          required
          minLength={LEAST}
          maxLength={MOST}
          aria-describedby={`${id}-length`}
          onInput={({ currentTarget }) => setLength(currentTarget.value.trim().length)}
        />
        <span id={`${id}-length`}>
          {length < LEAST
            ? `${LEAST} to ${MOST} characters, such as the number of a complaint`
            : `${length} of at most ${MOST} characters`}
        </span>
      </div>
      <label class="field">
        <span>For</span>
        <select class="input" name="minutes" defaultValue="30">
          {MINUTES.map((each) => (
            <option key={each} value={each} selected={each === 30}>
              {each < 60 ? `${each} minutes` : `${each / 60} ${each === 60 ? "hour" : "hours"}`}
            </option>
          ))}
        </select>
      </label>
      <Alert text={error} />
      <div>
        <button type="submit" class="button primary" disabled={isBusy}>
          <LockOpen size={16} aria-hidden="true" /> Show the content
        </button>
      </div>
    </form>
  );
}

interface DialogProps extends FormProps {
  /** What will be open, as in `this session`. */
  what: string;
  onClose: () => void;
}

/** Asks for the reason over the open view. */
export function ElevationDialog({ place, what, onOpen, onClose }: DialogProps): VNode {
  return (
    <Dialog title={`Open ${what}`} onClose={onClose}>
      <p class="soft">
        You are not a part of it. The reason and every read stand in the audit log. The bar at the
        top shows for how long it is open, and ends it.
      </p>
      <ElevationForm place={place} onOpen={onOpen} />
    </Dialog>
  );
}
