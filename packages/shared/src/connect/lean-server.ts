import type { IncomingMessage, ServerResponse } from "node:http";
import {
  create,
  fromBinary,
  toBinary,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { firstHeader, toRequestContext, withCaller } from "#src/connect/internal-headers.ts";
import { beginServing, withSpan } from "#src/connect/rpc-telemetry.ts";
import { mapServerError } from "#src/errors/connect.ts";
import { isIdentityRefused, type Access } from "#src/identity/access.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { runInContext, type RequestContext } from "#src/telemetry/request-context.ts";

export interface LeanPathOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly access: Access;
  readonly logger: Logger;
  readonly maxMessageBytes: number;
}

type Handler = (request: Message) => Promise<object> | object;

interface Route {
  readonly method: DescMethodUnary;
  readonly handler: Handler;
  readonly name: string;
  readonly callers: readonly string[];
}

function collectRoutes({ routes, access }: LeanPathOptions): ReadonlyMap<string, Route> {
  const found = new Map<string, Route>();
  const collector = {
    service(service: DescService, implementation: Record<string, Handler | undefined>) {
      for (const method of service.methods) {
        const handler = implementation[method.localName];
        if (method.methodKind === "unary" && handler !== undefined) {
          const name = `${service.typeName}/${method.name}`;
          const callers = access.callersOf(name);
          found.set(`/${name}`, { method: method as DescMethodUnary, handler, name, callers });
        }
      }
      return collector;
    },
  };
  routes(collector as unknown as ConnectRouter);
  return found;
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes)
        reject(new ConnectError("the message is too long", Code.ResourceExhausted));
      else chunks.push(chunk);
    });
    request.on("end", () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on("error", reject);
  });
}

function answer(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array,
): void {
  response.writeHead(status, { "content-type": contentType, "content-length": body.length });
  response.end(body);
}

/**
 * Encodes an error as Connect does, whose base64 joins single characters and whose copy of each
 * detail in JSON is for people: together they take longer than most handlers.
 */
function toErrorBytes({ code, rawMessage: message, details }: ConnectError): Uint8Array {
  const encoded = details.map((detail) => {
    const isOurs = "desc" in detail;
    const value = isOurs ? toBinary(detail.desc, create(detail.desc, detail.value)) : detail.value;
    const type = isOurs ? detail.desc.typeName : detail.type;
    return { type, value: Buffer.from(value).toString("base64").replace(/=+$/, "") };
  });
  return Buffer.from(JSON.stringify({ code: codeToString(code), message, details: encoded }));
}

async function serve(
  { method, handler }: Route,
  context: RequestContext,
  body: Uint8Array,
): Promise<Uint8Array> {
  const message = fromBinary(method.input, body);
  const result = await runInContext(context, async () => await handler(message));
  return toBinary(
    method.output,
    create(method.output, result as MessageInitShape<typeof method.output>),
  );
}

/** False when Connect's own handler must answer the RPC. */
export type LeanHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Answers the calls of our lean client (unary, binary, uncompressed) without the abort controllers,
 * header objects, async iterables and routing of Connect's own handler, which cost more than most
 * of our handlers (`bench/README.md`). Handlers get no `HandlerContext`: ids and deadline are in
 * `request-context`. All other calls are left to Connect's plugin.
 */
export function createLeanHandler(options: LeanPathOptions): LeanHandler {
  const routes = collectRoutes(options);
  const { access } = options;

  async function handle(
    route: Route,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const header = (name: string) => firstHeader(request, name);
    const received = toRequestContext(header);
    const call = beginServing(route.method, received.traceparent);
    const context = withSpan(received, call);
    try {
      // Before the body is read, so that no body of an unauthenticated request is buffered.
      const authenticated = access.authenticate(header);
      const caller = typeof authenticated === "string" ? authenticated : await authenticated;
      access.authorize(caller, route.callers, route.name);
      const body = await readBody(request, options.maxMessageBytes);
      const called = withCaller(context, caller, header, request.socket.remoteAddress);
      answer(response, 200, "application/proto", await serve(route, called, body));
      call.end();
    } catch (error) {
      const mapped = runInContext(context, () =>
        mapServerError(error, route.method.name, options.logger),
      );
      call.end(mapped.code);
      const status = codeToHttpStatus(mapped.code);
      if (!request.complete || isIdentityRefused(mapped)) response.shouldKeepAlive = false;
      answer(response, status, "application/json", toErrorBytes(mapped));
    }
  }

  return (request, response) => {
    const { headers } = request;
    const route = routes.get(request.url ?? "");
    if (route === undefined || headers["content-type"] !== "application/proto") return false;
    if (headers["content-encoding"] !== undefined) return false;
    void handle(route, request, response);
    return true;
  };
}
