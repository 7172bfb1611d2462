/** Port: told what the front does, for metrics. Must not throw. */
export interface FrontObserver {
  /** `route` is the path as the route declares it, "none" where nothing matched. */
  served(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Frames written to one viewer. */
  sent(frames: number): void;
  /** A viewer's socket was closed by this side. */
  closed(code: number): void;
}
