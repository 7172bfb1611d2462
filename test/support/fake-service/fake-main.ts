// Stands in for src/main.ts where a test is about the supervisor alone: listens, tells that it is
// ready, and stops on SIGTERM.
import { createServer } from "node:http";

const port = Number(process.env.PORT ?? 0);
const server = createServer((_request, response) => response.end("fake main"));
server.listen(port, "127.0.0.1", () => {
  const base_url = `http://127.0.0.1:${port}`;
  const facts = {
    level: 30,
    event: "ready",
    base_url,
    live_url: `ws://127.0.0.1:${port}/api/live`,
    ops_url: `http://127.0.0.1:${process.env.OPS_PORT}`,
    grpc_sessions: `127.0.0.1:${process.env.GRPC_SESSIONS_PORT}`,
    database: process.env.DATABASE_URL,
    knows_owner: process.env.DATABASE_OWNER_URL !== undefined,
  };
  process.stdout.write(`${JSON.stringify(facts)}\n`);
});
process.once("SIGTERM", () => process.exit(0));
