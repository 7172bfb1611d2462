/** For the terminal, which knows nothing of the service but what crosses the wire. */
export { clockTime } from "../base/clock-time.ts";
