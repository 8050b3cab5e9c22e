import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { listStrayProcesses } from "#src/inspection/child-processes.ts";
import { InspectionPool } from "#src/inspection/inspection-pool.ts";
import type { InspectionRequest, InspectionRunner } from "#src/inspection/inspection-protocol.ts";
import {
  decodeRequest,
  encodeEnd,
  INSPECTIONS_PATH,
  REQUEST_HEADER,
} from "#src/inspection/inspector-protocol.ts";

/** Further files are refused. All replicas of media together send fewer. */
const MAX_WAITING = 100;
/** The media service repeats an inspection that the stop ended early. */
const INSPECTION_GRACE_MS = 18_000;

export interface InspectorOptions {
  readonly host: string;
  readonly port: number;
  /** Called after an answer with the child processes that the inspector did not start, if any. */
  readonly onStray?: ((pids: readonly number[]) => void) | undefined;
}

export interface Inspector extends AsyncDisposable {
  readonly url: string;
}

/**
 * Inspects each file in a process of its own. It needs no secret and no network connection, and
 * stores nothing: a hostile file that takes over such a process finds nothing to steal.
 */
export async function startInspector({
  host,
  port,
  onStray,
}: InspectorOptions): Promise<Inspector> {
  const pool = new InspectionPool({ maxWaiting: MAX_WAITING });
  const server = createServer((request, response) => {
    void answer(pool, request, response).then(() => {
      const strays = onStray === undefined ? [] : listStrayProcesses();
      if (strays.length > 0) onStray?.(strays);
    });
  });
  server.listen({ host, port });
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      const timer = setTimeout(() => server.closeAllConnections(), INSPECTION_GRACE_MS);
      const closed = once(server, "close");
      server.close();
      await closed;
      clearTimeout(timer);
      await pool[Symbol.asyncDispose]();
    },
  };
}

async function answer(
  runner: InspectionRunner,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A broken connection also fails where it is read or written; that code handles it.
  response.on("error", () => undefined);
  if (request.url === "/livez" || request.url === "/readyz") return void response.end("ok\n");
  const wanted = parseRequest(request);
  if (wanted === undefined) return void response.writeHead(404).end();
  const end = await runner.run({
    request: wanted,
    open: () => request,
    receive: async (found, { content }) => {
      const { line, bytes } = encodeEnd(found);
      response.writeHead(200, { "content-length": bytes }).write(line);
      await pipeline(content, response);
    },
  });
  if (!response.headersSent) response.writeHead(200).end(encodeEnd(end).line);
  else if (!response.writableFinished) response.destroy();
}

/** Undefined when the HTTP request does not ask for an inspection or is not valid. */
function parseRequest({ method, url, headers }: IncomingMessage): InspectionRequest | undefined {
  const header = headers[REQUEST_HEADER];
  if (method !== "POST" || url !== INSPECTIONS_PATH || typeof header !== "string") return undefined;
  try {
    return decodeRequest(header);
  } catch {
    return undefined;
  }
}
