import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

export interface JsonAnswer {
  /** Default: 200. */
  readonly status?: number;
  readonly body: unknown;
}

/** Starts a server for all tests of a file. Returns its address. */
export async function startJsonServer(
  answerOf: (request: IncomingMessage) => JsonAnswer,
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const { status = 200, body } = answerOf(request);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  afterAll(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
