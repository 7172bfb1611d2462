import { serveThread } from "../../workers/threads/serve-thread.ts";
import { scriptedReaders } from "./scripted-reader.ts";

await serveThread(async () => scriptedReaders);
