import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface ViewProps {
  /** What the window is called, and the heading unless there is a `head`. */
  title: string;
  head?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of a view: its heading, which gets the focus when one comes to it from another. */
export function ViewFrame({ title, head, children }: ViewProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Voice`;
  }, [title]);
  useEffect(() => {
    // Not over what somebody is typing into, such as a dialog.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <div class="view-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {head}
      </div>
      {children}
    </>
  );
}
