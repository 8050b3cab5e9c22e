import { Agent, request as send } from "node:http";
import { gunzipSync, brotliDecompressSync } from "node:zlib";

/** An HTTP answer as it arrived, with the names of headers in lower case. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body after decompression. */
  readonly body: Buffer;
}

/**
 * An HTTP client that sends requests unchanged, including headers and paths that `fetch` would
 * refuse or rewrite.
 */
export interface Transport extends Disposable {
  send(request: {
    readonly method: string;
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Buffer;
  }): Promise<RawAnswer>;
}

const TIMEOUT_MS = 40_000;

function decode(bytes: Buffer, coding: string | undefined): Buffer {
  if (bytes.length === 0) return bytes;
  if (coding === "gzip") return gunzipSync(bytes);
  return coding === "br" ? brotliDecompressSync(bytes) : bytes;
}

/** Opens a client for the server at the address, with at most `connections` open connections. */
export function openTransport(baseUrl: string, connections: number): Transport {
  const { hostname: host, port } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const sendOnce: Transport["send"] = ({ method, target, headers, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": String(body.length) };
      const options = {
        host,
        port,
        agent,
        method,
        path: target,
        headers: { ...headers, ...length },
      };
      const sent = send({ ...options, timeout: TIMEOUT_MS }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const found = answer.headers as Record<string, string>;
          const bytes = decode(Buffer.concat(chunks), found["content-encoding"]);
          resolve({ status: answer.statusCode ?? 0, headers: found, body: bytes });
        });
      });
      sent.on("error", reject);
      sent.on("timeout", () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      sent.end(body);
    });
  return { send: sendOnce, [Symbol.dispose]: () => agent.destroy() };
}
