/** Receives events of the HTTP front, for metrics. Must not throw. */
export interface FrontObserver {
  /** `route` is the path as the route declares it; "none" when no route matched. */
  served(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Frames written to one viewer. */
  sent(frames: number): void;
  /** This side closed a viewer's socket. */
  closed(code: number): void;
}
