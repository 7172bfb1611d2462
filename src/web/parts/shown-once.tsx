import { Copy } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "./copying.ts";
import { TextField } from "./fields.tsx";

interface ShownOnceProps {
  label: string;
  value: string;
}

/** A secret that nobody can read again later; its dialog has no other way out than a button. */
export function ShownOnce({ label, value }: ShownOnceProps): VNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="stack">
      <TextField
        label={`${label}; it is shown this once`}
        class="input mono"
        readOnly
        value={value}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onCopy={() => setCopied(true)}
      />
      <div>
        <button
          type="button"
          class="button primary"
          onClick={() => void copyText(value, "Copied.").then(() => setCopied(true))}
        >
          <Copy size={16} aria-hidden="true" /> {isCopied ? "Copy again" : "Copy"}
        </button>
      </div>
    </div>
  );
}
