import { useEffect, useRef } from "preact/hooks";

/** Calls `look` every so many milliseconds while somebody can see the page; never without `ms`. */
export function useRefreshing(look: () => void, ms: number | undefined): void {
  const newest = useRef(look);
  newest.current = look;
  useEffect(() => {
    if (ms === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") newest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}
