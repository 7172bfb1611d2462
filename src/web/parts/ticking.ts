import { useEffect, useReducer } from "preact/hooks";

/** Draws the component anew every `ms` while `isOn`. */
export function useTicking(ms: number, isOn: boolean): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => redraw(0), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}
