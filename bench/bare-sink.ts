/**
 * Starts the server with which the benchmark `upload.ts` compares the media service: it does only
 * what is needed to write a request body durably to a new file. The argument is the folder of the
 * files. Prints its address.
 */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const [, , folder = ""] = process.argv;

const server = createServer((request, response) => {
  const file = createWriteStream(join(folder, randomUUID()), { flush: true });
  void pipeline(request, file).then(() => response.writeHead(204).end());
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
