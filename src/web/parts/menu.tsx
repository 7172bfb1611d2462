import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface MenuProps {
  /** What the button shows. */
  button: ComponentChildren;
  label: string;
  class?: string;
  side?: "start" | "end";
  /** The inside, made when it opens; `close` shuts it. */
  children: (close: () => void) => ComponentChildren;
}

/**
 * A button with a small panel at it, over everything else and never cut off by what it stands in.
 * Escape and a press beside it shut it. It opens with the focus on what is marked `data-first`, where
 * there is a keyboard, or else on its first button.
 */
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
    firstIn(box.current)?.focus();
    return () => stop.abort();
  }, [isOpen]);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (isOpen ? stay(list.current, opener.current, side) : undefined), [isOpen]);
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
        <div class="menu-list" data-side={side} ref={list} popover="manual">
          {children(close)}
        </div>
      )}
    </div>
  );
}

/** A field that is focused opens the keyboard of a phone, over what somebody wants to read. */
const HAS_KEYBOARD = "(pointer: fine)";

function firstIn(box: HTMLElement | null): HTMLElement | null | undefined {
  const field = matchMedia(HAS_KEYBOARD).matches && box?.querySelector<HTMLElement>("[data-first]");
  return field || box?.querySelector<HTMLElement>(".menu-list button, .menu-list a");
}

/** Pixels between a panel and its button, and the edges of the window. */
const GAP = 4;

/** Keeps the panel at its button, on the side that has the room, until what it returns is called. */
function stay(
  list: HTMLElement | null,
  opener: HTMLElement | null,
  side: "start" | "end",
): (() => void) | undefined {
  // A browser without popovers has the panel where its style puts it.
  if (list === null || opener === null || list.showPopover === undefined) return undefined;
  list.showPopover();
  const place = () => {
    const { top, bottom, left, right } = opener.getBoundingClientRect();
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    const above = top - 2 * GAP;
    const below = height - bottom - 2 * GAP;
    const isBelow = list.scrollHeight <= below || below >= above;
    const { style } = list;
    style.maxHeight = `${Math.max(0, isBelow ? below : above)}px`;
    style.top = isBelow ? `${Math.max(0, bottom) + GAP}px` : "auto";
    style.bottom = isBelow ? "auto" : `${height - top + GAP}px`;
    const most = Math.max(GAP, width - list.offsetWidth - GAP);
    style.left = `${Math.max(GAP, Math.min(most, side === "start" ? left : right - list.offsetWidth))}px`;
  };
  place();
  const stop = new AbortController();
  const { signal } = stop;
  addEventListener("scroll", place, { signal, capture: true, passive: true });
  addEventListener("resize", place, { signal });
  const watch = new ResizeObserver(place);
  watch.observe(list);
  return () => {
    watch.disconnect();
    stop.abort();
  };
}
