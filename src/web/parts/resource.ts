import { useCallback, useEffect, useRef, useState } from "preact/hooks";

type Resource<T> =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Loaded<T> {
  readonly state: Resource<T>;
  /** Asks again; what is shown stays until the answer is there. */
  readonly reload: () => void;
  readonly set: (value: T) => void;
}

/**
 * What `load` brings, asked for anew whenever one of `keys` changes. An answer that comes after a
 * newer question is dropped. What was shown stays when asking again fails for want of a network.
 */
export function useResource<T>(load: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Resource<T>>({ kind: "loading" });
  const question = useRef(0);
  const loader = useRef(load);
  loader.current = load;
  const ask = useCallback((isNew: boolean) => {
    question.current += 1;
    const mine = question.current;
    if (isNew) setState({ kind: "loading" });
    loader.current().then(
      (value) => {
        if (mine === question.current) setState({ kind: "ready", value });
      },
      (error: unknown) => {
        if (mine !== question.current) return;
        setState((now) => (now.kind === "ready" ? now : { kind: "failed", error }));
      },
    );
  }, []);
  useEffect(() => {
    ask(true);
    return () => {
      question.current += 1;
    };
  }, keys);
  const reload = useCallback(() => {
    setState((now) => (now.kind === "failed" ? { kind: "loading" } : now));
    ask(false);
  }, [ask]);
  const set = useCallback((value: T) => {
    question.current += 1;
    setState({ kind: "ready", value });
  }, []);
  return { state, reload, set };
}
