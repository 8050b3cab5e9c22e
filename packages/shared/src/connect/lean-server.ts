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
import { SHARED_PATH, SHARED_TYPE } from "#src/connect/exchange-sharer.ts";
import { firstHeader, toRequestContext, withCaller } from "#src/connect/internal-headers.ts";
import { beginServing, withSpan } from "#src/connect/rpc-telemetry.ts";
import { answerShared } from "#src/connect/shared-answer.ts";
import { mapServerError } from "#src/errors/connect.ts";
import { isIdentityRefused, type Access, type ReadHeader } from "#src/identity/access.ts";
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

/** With the words of Connect's own handler. */
function refuseLong({ length }: Uint8Array, maxBytes: number): void {
  const message = `message size ${length} is larger than configured writeMaxBytes ${maxBytes}`;
  if (length > maxBytes) throw new ConnectError(message, Code.ResourceExhausted);
}

/** An RPC, alone or one of several in a request. */
interface ReceivedCall {
  readonly header: ReadHeader;
  readonly authenticate: () => string | Promise<string>;
  readonly remoteAddress: string | undefined;
  readonly readBody: () => Uint8Array | Promise<Uint8Array>;
}

interface Reply {
  readonly status: number;
  readonly body: Uint8Array;
  readonly refusesIdentity: boolean;
}

function toReply(error: ConnectError): Reply {
  const refusesIdentity = isIdentityRefused(error);
  return { status: codeToHttpStatus(error.code), body: toErrorBytes(error), refusesIdentity };
}

function answer(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const { status, body, refusesIdentity } = reply;
  if (!request.complete || refusesIdentity) response.shouldKeepAlive = false;
  const type = status === 200 ? "application/proto" : "application/json";
  response.writeHead(status, { "content-type": type, "content-length": body.length });
  response.end(body);
}

/** Does not reject: the reply to a failed call is its error. */
async function perform(
  { access, logger, maxMessageBytes }: Omit<LeanPathOptions, "routes">,
  route: Route,
  { header, authenticate, readBody: read, remoteAddress }: ReceivedCall,
): Promise<Reply> {
  const sent = toRequestContext(header);
  const call = beginServing(route.method, sent.traceparent);
  const context = withSpan(sent, call);
  try {
    const found = authenticate();
    const caller = typeof found === "string" ? found : await found;
    access.authorize(caller, route.callers, route.name);
    const reading = read();
    const body = reading instanceof Promise ? await reading : reading;
    const message = await serve(route, withCaller(context, caller, header, remoteAddress), body);
    refuseLong(message, maxMessageBytes);
    call.end();
    return { status: 200, body: message, refusesIdentity: false };
  } catch (error) {
    const mapped = runInContext(context, () => mapServerError(error, route.method.name, logger));
    call.end(mapped.code);
    return toReply(mapped);
  }
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
  const { access, logger, maxMessageBytes } = options;

  async function handle(
    route: Route,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const header = (name: string) => firstHeader(request, name);
    const reply = await perform(options, route, {
      header,
      authenticate: () => access.authenticate(header),
      remoteAddress: request.socket.remoteAddress,
      // After the caller was authenticated, so that no body of a stranger is buffered.
      readBody: () => readBody(request, maxMessageBytes),
    });
    answer(request, response, reply);
  }

  async function handleShared(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const caller = await access.authenticate((name) => firstHeader(request, name));
      const { remoteAddress } = request.socket;
      const all = { authenticate: () => caller, remoteAddress };
      answerShared(response, await readBody(request, maxMessageBytes), async (call) => {
        const route = routes.get(call.path);
        if (route === undefined) return toReply(new ConnectError(call.path, Code.Unimplemented));
        const { header, body } = call;
        return await perform(options, route, { ...all, header, readBody: () => body });
      });
    } catch (error) {
      answer(request, response, toReply(mapServerError(error, SHARED_PATH, logger)));
    }
  }

  return (request, response) => {
    const { headers, url = "" } = request;
    if (headers["content-encoding"] !== undefined) return false;
    const route = routes.get(url);
    if (route !== undefined && headers["content-type"] === "application/proto")
      void handle(route, request, response);
    else if (url === SHARED_PATH && headers["content-type"] === SHARED_TYPE)
      void handleShared(request, response);
    else return false;
    return true;
  };
}
