/**
 * Starts the endpoints that the benchmark `webhooks.ts` subscribes. The path says which endpoint a request is for. An endpoint
 * whose path begins with `/hang` never answers. `GET /arrivals` returns and forgets when each event arrived. Prints its
 * port.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

let arrivals: [string, number][] = [];

const server = createServer((request, response) => {
  const { url = "" } = request;
  if (url === "/arrivals") {
    response.end(JSON.stringify(arrivals));
    arrivals = [];
    return;
  }
  const at = Date.now();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (url.startsWith("/hang")) return;
    response.writeHead(204).end();
    const { sequence } = JSON.parse(Buffer.concat(chunks).toString()) as { sequence: number };
    arrivals.push([`${url} ${sequence}`, at]);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
