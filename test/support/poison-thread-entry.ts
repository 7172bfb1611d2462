import { serveThread } from "../../workers/threads/serve-thread.ts";
import { poisonReaders } from "./poison-reader.ts";

await serveThread(async () => poisonReaders);
