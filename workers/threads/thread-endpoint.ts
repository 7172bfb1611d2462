import type { MessagePort, Transferable, Worker } from "node:worker_threads";
import type { Endpoint } from "comlink";

interface PortEvent {
  data: unknown;
}

type Listener = ((event: PortEvent) => void) | { handleEvent(event: PortEvent): void };

/** comlink speaks the browser's events, Node's ports do not. Messages of one listener only. */
export function toEndpoint(port: Worker | MessagePort): Endpoint {
  const wrapped = new WeakMap<Listener, (data: unknown) => void>();
  return {
    postMessage: (message: unknown, transfer?: Transferable[]) => {
      port.postMessage(message, transfer);
    },
    addEventListener: (_type: string, listener: Listener) => {
      const onMessage = (data: unknown): void => {
        const event: PortEvent = { data };
        if (typeof listener === "function") listener(event);
        else listener.handleEvent(event);
      };
      wrapped.set(listener, onMessage);
      port.on("message", onMessage);
    },
    removeEventListener: (_type: string, listener: Listener) => {
      const onMessage = wrapped.get(listener);
      if (onMessage !== undefined) port.off("message", onMessage);
    },
  };
}
