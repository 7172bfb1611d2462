import { AppError } from "../../src/base/errors.ts";
import { serveThread } from "./serve-thread.ts";

/** It reads no sound. */
await serveThread(async () => ({
  engines: [],
  open: async () => {
    throw new AppError("bad_request", "A thread for text holds no sessions.");
  },
  close: async () => undefined,
}));
