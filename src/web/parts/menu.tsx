import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface MenuProps {
  /** What the button shows. */
  button: ComponentChildren;
  label: string;
  class?: string;
  side?: "start" | "end";
  /** The inside, made when it opens; `close` shuts it. */
  children: (close: () => void) => ComponentChildren;
}

/** A button with a small panel under it. Escape and a press beside it shut it. */
export function Menu({ button, label, side = "end", children, ...rest }: MenuProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    const beside = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", beside, { signal });
    document.addEventListener("focusin", beside, { signal });
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        setOpen(false);
        opener.current?.focus();
      },
      { signal, capture: true },
    );
    box.current?.querySelector<HTMLElement>(".menu-list button, .menu-list a")?.focus();
    return () => stop.abort();
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <div class="menu" ref={box}>
      <button
        ref={opener}
        type="button"
        class={rest.class ?? "button"}
        aria-haspopup="true"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div class="menu-list" data-side={side}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
