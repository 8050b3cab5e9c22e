/**
 * Starts the endpoints that the benchmarks of webhooks subscribe. The path says which endpoint a
 * request is for. `GET /arrivals` returns and forgets when each event arrived. `POST /hang` with a
 * list of paths makes these endpoints leave requests without an answer. Prints its port.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

let arrivals: [string, number][] = [];
let hanging = new Set<string>();

const server = createServer((request, response) => {
  const { url = "" } = request;
  const at = Date.now();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (url === "/arrivals") {
      response.end(JSON.stringify(arrivals));
      arrivals = [];
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
    if (url === "/hang") {
      hanging = new Set(body as string[]);
      response.end();
      return;
    }
    if (hanging.has(url)) return;
    response.writeHead(204).end();
    arrivals.push([`${url} ${(body as { sequence: number }).sequence}`, at]);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
