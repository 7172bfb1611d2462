import { Upload } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";

/** What the browser's dialog offers first; others can be chosen there as well. */
const ACCEPT = "audio/*,video/*";

interface UploadButtonProps {
  class?: string;
  /** For screen readers, where the words of the button alone do not tell. */
  label?: string;
  isOne?: boolean;
  onFiles: (files: readonly File[]) => void;
  children?: ComponentChildren;
}

/** Opens the browser's dialog for files. */
export function UploadButton(props: UploadButtonProps): VNode {
  const { class: look = "button", label, isOne = false, onFiles, children } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={look} aria-label={label} onClick={() => input.current?.click()}>
        <Upload size={17} aria-hidden="true" /> {children ?? "Upload"}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept={ACCEPT}
        multiple={!isOne}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          // The same file may be chosen twice in a row.
          currentTarget.value = "";
          if (files.length > 0) onFiles(files);
        }}
      />
    </>
  );
}
