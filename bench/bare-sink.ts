/**
 * The yardstick of `upload.ts`: as little as it takes to write the body of a request to a file of its own and make it
 * durable. Argument: the folder. Prints its address.
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
