import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { registerControl } from "#src/control/control.ts";
import type { Call, Reply } from "#src/http/call.ts";
import { HeldCalls, type ServeDeps, runHeldCall, serve } from "#src/http/serve.ts";
import type { Platform, Route } from "#src/platform.ts";
import { createPlatforms, type Platforms } from "#src/platforms.ts";
import { createWorld } from "#src/world/world.ts";

const NO_BODY = Buffer.alloc(0);
const DEFAULT_MAX_BODY_BYTES = 64_000_000;
const TOO_LARGE = "FST_ERR_CTP_BODY_TOO_LARGE";

function toCall(platform: Platform, request: FastifyRequest): Call {
  const [pathname = "", search = ""] = request.url.split("?", 2);
  return {
    method: request.method,
    path: pathname.slice(platform.id.length + 1),
    params: request.params as Record<string, string>,
    query: new URLSearchParams(search),
    headers: request.headers,
    body: Buffer.isBuffer(request.body) ? request.body : NO_BODY,
    baseUrl: `http://${request.headers.host ?? "127.0.0.1"}/${platform.id}`,
  };
}

function closeConnection(request: FastifyRequest, reply: FastifyReply): void {
  if (!reply.sent) reply.hijack();
  request.raw.socket.destroy();
}

async function send(reply: FastifyReply, answer: Reply): Promise<void> {
  const isText = typeof answer.body === "string";
  await reply
    .code(answer.status)
    .headers({ "content-type": isText ? "text/html" : "application/json; charset=utf-8" })
    .headers(answer.headers ?? {})
    .send(isText ? answer.body : JSON.stringify(answer.body));
}

function missingRoute(platform: Platform): Route {
  return {
    method: "GET",
    path: "*",
    operations: () => ["other"],
    handle: () => platform.notFound(),
  };
}

function registerPlatforms(app: FastifyInstance, platforms: Platforms, deps: ServeDeps): void {
  const answer =
    (platform: Platform, route: Route) => async (request: FastifyRequest, reply: FastifyReply) => {
      const close = () => closeConnection(request, reply);
      try {
        const answer = await serve(deps, platform, route, toCall(platform, request), close);
        await (answer === undefined ? close() : send(reply, answer));
      } catch (error) {
        if (!deps.stopping.aborted) throw error;
        close();
      }
    };
  for (const platform of platforms.values())
    void app.register(
      async (scope) => {
        // Each platform decides which bodies are valid.
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser(
          "*",
          { parseAs: "buffer", bodyLimit: platform.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES },
          (_request, body, done) => done(null, body),
        );
        scope.setErrorHandler<Error & { code?: string }>(async (error, request, reply) => {
          if (error.code !== TOO_LARGE) throw error;
          const call = toCall(platform, request);
          await send(reply, platform.errorReply(413, call, deps.world.clock.now()));
        });
        for (const route of platform.routes)
          scope.route({ method: route.method, url: route.path, handler: answer(platform, route) });
        scope.setNotFoundHandler(answer(platform, missingRoute(platform)));
      },
      { prefix: `/${platform.id}` },
    );
}

function resumeHeldCalls(platforms: Platforms, deps: ServeDeps): void {
  for (const [id, held] of deps.held.all()) {
    const platform = platforms.get(held.platform);
    const route = platform?.routes.find(
      (candidate) => candidate.path === held.routePath && candidate.method === held.method,
    );
    if (platform !== undefined && route !== undefined)
      runHeldCall(deps, id, platform, route, held.dueAt).catch((error: unknown) => {
        if (!deps.stopping.aborted) throw error;
      });
  }
}

export interface SimulatorOptions {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly machineTime?: () => number;
  readonly onCall?: ServeDeps["onCall"];
}

export interface Simulator extends AsyncDisposable {
  readonly url: string;
}

/** Disposing the simulator closes every connection at once, also those of delayed answers. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = createWorld(options.dataDir, options.machineTime);
  const stop = new AbortController();
  const platforms = createPlatforms(world);
  const held = new HeldCalls(world.store);
  const deps = { world, held, stopping: stop.signal, onCall: options.onCall };
  const app = fastify({
    forceCloseConnections: true,
    // A Telegram path contains the bot token, and ids of other platforms can be long.
    routerOptions: { maxParamLength: 512 },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
  });
  registerControl(app, world, platforms);
  registerPlatforms(app, platforms, deps);
  const url = await app.listen({ host: options.host, port: options.port });
  resumeHeldCalls(platforms, deps);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await app.close();
      world.store[Symbol.dispose]();
    },
  };
}
