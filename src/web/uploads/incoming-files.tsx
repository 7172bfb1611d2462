import { Upload } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface IncomingProps {
  onFiles: (files: readonly File[]) => void;
}

/** Takes files that are dropped anywhere on the page, or pasted, while the view is open. */
export function IncomingFiles({ onFiles }: IncomingProps): VNode | null {
  const [isOver, setOver] = useState(false);
  const newest = useRef(onFiles);
  newest.current = onFiles;
  useEffect(() => listen((files) => newest.current(files), setOver), []);
  if (!isOver) return null;
  return (
    <div class="drop-cover">
      <p>
        <Upload size={28} aria-hidden="true" />
        Drop audio or video files to upload them
      </p>
    </div>
  );
}

function listen(
  take: (files: readonly File[]) => void,
  setOver: (isOver: boolean) => void,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const over = (event: DragEvent) => {
    if (!hasFiles(event) || isBehindDialog()) return;
    // Without it the browser opens the file instead of the page.
    event.preventDefault();
    setOver(true);
  };
  addEventListener("dragenter", over, { signal });
  addEventListener("dragover", over, { signal });
  addEventListener(
    "dragleave",
    (event) => {
      if (event.relatedTarget === null) setOver(false);
    },
    { signal },
  );
  addEventListener(
    "drop",
    (event) => {
      setOver(false);
      if (!hasFiles(event) || isBehindDialog()) return;
      event.preventDefault();
      take([...(event.dataTransfer?.files ?? [])]);
    },
    { signal },
  );
  addEventListener(
    "paste",
    (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0 || isBehindDialog()) return;
      event.preventDefault();
      take(files);
    },
    { signal },
  );
  return () => stop.abort();
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes("Files") ?? false;
}

function isBehindDialog(): boolean {
  return document.querySelector("dialog[open]") !== null;
}
