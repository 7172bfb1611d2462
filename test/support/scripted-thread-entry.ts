import { serveThread } from "../../workers/serve-thread.ts";
import { scriptedReaders } from "./scripted-reader.ts";

await serveThread(async () => scriptedReaders);
