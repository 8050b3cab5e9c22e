import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { ServiceError } from "@postrider/shared/errors";
import { mapServerError } from "@postrider/shared/errors/connect";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { listen, type Listening } from "@postrider/shared/testing/listen";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that replaces the upload and download routes of the media service. */
export interface MediaStandIn extends Listening {
  handle(handler: Handler): void;
  /** Every request to the simulated media service since the last call of `handle`. */
  readonly seen: readonly IncomingMessage[];
}

export async function startMediaStandIn(): Promise<MediaStandIn> {
  let handler: Handler = (_request, response) => response.writeHead(500).end();
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    handler(request, response);
  });
  return {
    ...(await listen(server)),
    handle: (next) => {
      handler = next;
      seen.length = 0;
    },
    seen,
  };
}

const logger = createLogger({ service: "test", level: "silent" });

/** Answers a request with an error in the form that the plain HTTP routes of our services use. */
export function refuse(response: ServerResponse, error: ServiceError): void {
  const mapped = mapServerError(error, "test", logger);
  response.writeHead(codeToHttpStatus(mapped.code), { "content-type": "application/json" });
  response.end(errorToJsonBytes(mapped, undefined));
}
