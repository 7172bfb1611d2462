import { Eraser } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Device } from "../../api/records.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { agoOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";
import { oldBrowsersIn } from "./device-facts.ts";

interface OldBrowsersProps {
  devices: readonly Device[];
  /** Id of whoever is signed in. */
  me: string;
  onGone: (id: string) => void;
}

/** Offers to unpair one's own browsers that have not recorded for long; nothing where there are none. */
export function OldBrowsers({ devices, me, onGone }: OldBrowsersProps): VNode | null {
  // While it is asked the list stays as it was asked about.
  const [asked, ask] = useState<readonly Device[] | undefined>();
  const old = asked ?? oldBrowsersIn(devices, me, new Date());
  if (old.length === 0) return null;
  const forget = async () => {
    for (const { id } of old) {
      const params = { path: { device_id: id } };
      await call((api) => api.DELETE("/devices/{device_id}", { params }));
      onGone(id);
    }
    showToast(
      old.length === 1 ? "The browser is forgotten." : `${old.length} browsers are forgotten.`,
    );
  };
  return (
    <>
      <button type="button" class="button" onClick={() => ask(old)}>
        <Eraser size={16} aria-hidden="true" />
        {old.length === 1 ? "Forget 1 old browser" : `Forget ${old.length} old browsers`}
      </button>
      {asked !== undefined && (
        <FormDialog
          title="Forget browsers that you use no more?"
          submit={old.length === 1 ? "Forget it" : `Forget ${old.length}`}
          cancel="Keep them"
          isEnd
          onSubmit={forget}
          onClose={() => ask(undefined)}
        >
          <p>
            They have not recorded for a month. Sessions that they recorded stay; a browser that
            records again is paired again by itself.
          </p>
          <ul>
            {old.map(({ id, name, last_seen_at: seen }) => (
              <li key={id}>
                {name || "A browser"} {seen && <span class="soft small">{agoOf(seen)}</span>}
              </li>
            ))}
          </ul>
        </FormDialog>
      )}
    </>
  );
}
