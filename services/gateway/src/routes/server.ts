import { closeGently } from "@postrider/shared/connect/close-gently";
import { addProbes } from "@postrider/shared/process/health";
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { requestIdOf } from "#src/http/request-id.ts";
import { isDate, parseTimestamp } from "#src/http/timestamps.ts";
import { registerAccounts } from "#src/routes/accounts/routes.ts";
import { answerClientError } from "#src/routes/client-error.ts";
import { registerConnect } from "#src/routes/connect/routes.ts";
import type { Patience, ServerDeps } from "#src/routes/deps.ts";
import { registerDescription } from "#src/routes/description/routes.ts";
import { registerDocs } from "#src/routes/docs/routes.ts";
import { addAdmission } from "#src/routes/hooks/admission.ts";
import { addBodyRules } from "#src/routes/hooks/body.ts";
import { addCrossOrigin } from "#src/routes/hooks/cross-origin.ts";
import { addErrorAnswers } from "#src/routes/hooks/errors.ts";
import { addHeaderRules } from "#src/routes/hooks/header-rules.ts";
import { addLoadShedding } from "#src/routes/hooks/load-shedding.ts";
import { addOpenLimit } from "#src/routes/hooks/open-limit.ts";
import { addQueryRules } from "#src/routes/hooks/query.ts";
import { addRequestContext } from "#src/routes/hooks/request-context.ts";
import { addKnownPaths } from "#src/routes/hooks/unknown-routes.ts";
import { addUnreadBodies } from "#src/routes/hooks/unread-body.ts";
import { registerDownload } from "#src/routes/media/download.ts";
import { registerMedia } from "#src/routes/media/routes.ts";
import { registerPlatforms } from "#src/routes/platforms/routes.ts";
import { registerPosts } from "#src/routes/posts/routes.ts";
import { registerQueueSlots } from "#src/routes/queue-slots/routes.ts";
import { registerQuota } from "#src/routes/quota/routes.ts";
import { normalizeTarget } from "#src/routes/target.ts";
import { createLongBodies, type LongBodies } from "#src/routes/uploads/long-bodies.ts";
import { registerUploads } from "#src/routes/uploads/routes.ts";

const API_PREFIX = "/api/v1";

/** The largest JSON body; one byte more is refused. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** What is still not all here after so long is given up: nobody holds a connection by trickling bytes. */
const PATIENCE: Patience = {
  headersMs: 15_000,
  requestMs: 30_000,
  stallMs: 30_000,
  minBytesPerSecond: 1_000,
  // No operation takes as long.
  silenceMs: 240_000,
};
/** How often Node looks for connections whose time is over; it is every 30 s by itself. */
const LOOK_MS = 5_000;

type Ajv = Parameters<NonNullable<NonNullable<FastifyServerOptions["ajv"]>["onCreate"]>>[0];

/** Times and dates as requests may write them. A path id that is no UUID is not found rather than invalid. */
function addFormats(ajv: Ajv): void {
  ajv.addFormat("uuid", true);
  ajv.addFormat("date-time", (text: string) => parseTimestamp(text) !== undefined);
  ajv.addFormat("date", isDate);
}

function addApi(app: FastifyInstance, deps: ServerDeps): void {
  void app.register(
    (api, _options, done) => {
      registerAccounts(api, deps);
      registerMedia(api, deps);
      registerPlatforms(api, deps);
      registerPosts(api, deps);
      registerQuota(api, deps);
      registerQueueSlots(api, deps);
      done();
    },
    { prefix: API_PREFIX },
  );
}

function openServer(deps: ServerDeps, patience: Patience, longBodies: LongBodies): FastifyInstance {
  return fastify({
    bodyLimit: MAX_BODY_BYTES,
    genReqId: (raw) => requestIdOf(raw.headers["x-request-id"]),
    keepAliveTimeout: 65_000,
    connectionTimeout: patience.silenceMs,
    // Node takes the longer of the two limits for the whole request.
    requestTimeout: patience.requestMs,
    http: {
      headersTimeout: patience.headersMs,
      connectionsCheckingInterval: Math.min(LOOK_MS, patience.headersMs),
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    // What arrives on a kept-alive connection while we stop is answered like anything else, and the connection ends.
    return503OnClosing: false,
    trustProxy: deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    rewriteUrl: ({ url = "/" }) => normalizeTarget(url),
    // Longer than any request target: what is no id is not found, however long it is.
    routerOptions: { maxParamLength: 65_536 },
    clientErrorHandler: longBodies.spare((error, socket) =>
      answerClientError(error, socket, deps.defaultLocale),
    ),
    ajv: {
      onCreate: addFormats,
      customOptions: {
        allErrors: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
      },
    },
  });
}

/**
 * The REST server, not yet listening. The order of the hooks is the order of checks that the interface promises: load,
 * key and budget, unknown route, scope, verification, media type, size, schema; the handlers do the rest.
 */
export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const patience = { ...PATIENCE, ...deps.patience };
  const longBodies = createLongBodies(patience);
  const app = openServer(deps, patience, longBodies);
  app.decorateRequest("caller", undefined);
  app.decorateRequest("bodyBytes", 0);
  app.decorateRequest("errorCode", undefined);
  app.decorateRequest("locale", deps.defaultLocale);
  closeGently(app);
  addErrorAnswers(app, deps);
  addRequestContext(app, deps);
  addHeaderRules(app);
  addCrossOrigin(app, deps);
  addLoadShedding(app, deps);
  addOpenLimit(app);
  addAdmission(app, deps);
  addKnownPaths(app);
  addQueryRules(app);
  addBodyRules(app);
  addUnreadBodies(app);
  addProbes(app, deps.health);
  await registerDescription(app, deps);
  registerDocs(app);
  registerUploads(app, { ...deps, longBodies });
  registerDownload(app, deps);
  registerConnect(app, deps);
  addApi(app, deps);
  return app;
}
