import { serveThread } from "../../workers/threads/serve-thread.ts";
import { conversationReaders } from "./conversation-reader.ts";

await serveThread(async () => conversationReaders);
