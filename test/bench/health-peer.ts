/** uWebSockets.js by itself, with one answer ready. */
import { App, us_socket_local_port } from "uWebSockets.js";
import { answerParent } from "./answer-parent.ts";

const port = await new Promise<number>((resolve) => {
  App()
    .get("/api/health/live", (res) => {
      res.writeHeader("Content-Type", "application/json; charset=utf-8").end('{"status":"ok"}');
    })
    .listen("127.0.0.1", 0, (socket) => resolve(us_socket_local_port(socket)));
});

answerParent(async () => port);
