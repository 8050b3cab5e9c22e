import { createReadStream } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { pipeline } from "node:stream/promises";

interface FileToPut {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of the authority of the server's certificate; undefined = the public ones. */
  readonly ca?: string | undefined;
}

/** Streams the file. Returns the HTTP status of the answer, which may come before its end. */
export async function putFile(url: URL, { path, headers, ca }: FileToPut): Promise<number> {
  const { request } = url.protocol === "https:" ? https : http;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { method: "PUT", headers, ...(ca === undefined ? {} : { ca }) });
  sent.once("response", (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  sent.once("error", reject);
  await pipeline(createReadStream(path), sent).catch(reject);
  return await promise;
}
