import { serveThread } from "../../workers/serve-thread.ts";
import { poisonReaders } from "./poison-reader.ts";

await serveThread(async () => poisonReaders);
