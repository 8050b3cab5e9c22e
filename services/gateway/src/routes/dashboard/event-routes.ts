import type { DashboardEventType } from "@postrider/rest/dashboard/events";
import { ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { HintSource } from "#src/clients/hint-source.ts";
import { API_PATH, DASHBOARD_API_PATH } from "#src/routes/api-paths.ts";
import {
  EventStreams,
  type OpenStream,
  STREAM_LIMITS,
} from "#src/routes/dashboard/event-streams.ts";
import { dashboardRoute } from "#src/routes/dashboard/route.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { callerOf } from "#src/routes/request.ts";

type Deps = Pick<ServerDeps, "dashboardFolder" | "hints" | "logger" | "streamLimits">;

const RETRY_AFTER_MS = 5_000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Some proxies would otherwise keep events until they have many of them.
  "x-accel-buffering": "no",
};

/** What a change through a path is about, by the first part of the path. */
const CHANGED: ReadonlyMap<string, DashboardEventType> = new Map([
  ["posts", "post"],
  ["accounts", "account"],
  ["media", "media"],
  ["webhooks", "delivery"],
  ["inbox", "comment"],
  ["automations", "run"],
  ["queue-slots", "post"],
]);

/**
 * Registers the stream of hints. They come from the event bus, and from the changes that go through
 * this process, because edits of drafts and subscriptions make no event.
 */
export function registerEventRoutes(app: FastifyInstance, deps: Deps): void {
  if (deps.dashboardFolder === undefined) return;
  const limits = deps.streamLimits ?? STREAM_LIMITS;
  const streams: EventStreams = new EventStreams(limits, (ids) => source.watch(ids));
  const source: HintSource = new HintSource({
    client: deps.hints,
    logger: deps.logger,
    onHints: (hints) => streams.sendHints(hints),
    onGap: (workspaceIds) => streams.sendResync(workspaceIds),
  });
  app.addHook("preClose", (done) => {
    streams.endAll();
    done();
  });
  app.addHook("onClose", () => source[Symbol.asyncDispose]());
  addOwnChanges(app, streams);
  registerStream(app, streams);
}

/** For all routes of the server, not only those of the dashboard. */
function addOwnChanges(app: FastifyInstance, streams: EventStreams): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { caller } = request;
    const type = reply.statusCode < 300 ? changedBy(request) : undefined;
    if (caller !== undefined && type !== undefined)
      streams.send(caller.workspaceId, { type, id: idIn(request) });
    done();
  });
}

/** A question that is sent as `POST`, such as the validation of a post, changes nothing. */
function changedBy({ url, method, routeOptions }: FastifyRequest): DashboardEventType | undefined {
  const isQuestion = routeOptions.config.scope?.endsWith(":read") === true;
  if (method === "GET" || method === "HEAD" || isQuestion) return undefined;
  const prefix = [API_PATH, DASHBOARD_API_PATH].find((each) => url.startsWith(each));
  const rest = prefix === undefined ? "" : url.slice(prefix.length).replace(/^\//, "");
  return CHANGED.get(rest.split(/[/?]/, 1)[0] ?? "");
}

function idIn({ params }: FastifyRequest): string | null {
  const id = typeof params === "object" && params !== null && "id" in params ? params.id : null;
  return typeof id === "string" && isId(id) ? id : null;
}

function registerStream(app: FastifyInstance, streams: EventStreams): void {
  app.get(`${DASHBOARD_API_PATH}/events`, dashboardRoute({}), (request, reply) => {
    const { workspaceId, sessionId = "", hasEnded } = callerOf(request);
    if (!streams.hasRoom({ workspaceId, sessionId }))
      throw new ServiceError("conflict", "rate_limited", [], { retryAfterMs: RETRY_AFTER_MS });
    reply.hijack();
    const { raw } = reply;
    // Closed while the request was admitted: no event would remove the stream.
    if (raw.destroyed) return;
    raw.writeHead(200, { ...reply.getHeaders(), ...HEADERS } as Record<string, string>);
    const stream: OpenStream = { workspaceId, sessionId, hasEnded, response: raw };
    // Without a listener, an error of this connection would end the process.
    raw.on("error", () => undefined);
    raw.once("close", () => streams.remove(stream));
    streams.add(stream);
  });
}
