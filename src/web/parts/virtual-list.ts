import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualOptions {
  count: number;
  keyOf: (index: number) => string;
  scroller: () => HTMLElement | null;
  /** Height that a row has until it was measured, pixels. */
  estimate: number;
}

/** Which rows of a long list are to be drawn, and where; measured as they appear. */
export function useVirtual(options: VirtualOptions): Virtualizer<HTMLElement, HTMLElement> {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const given = () => ({
    count: options.count,
    getItemKey: options.keyOf,
    getScrollElement: options.scroller,
    estimateSize: () => options.estimate,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    measureElement,
    onChange: () => redraw(0),
  });
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(given()));
  virtual.setOptions(given());
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}
