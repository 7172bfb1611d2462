import { AppError } from "../../src/base/errors.ts";
import { serveThread } from "../../workers/threads/serve-thread.ts";

await serveThread(async () => {
  throw new AppError("unavailable", "The libraries are not there.");
});
