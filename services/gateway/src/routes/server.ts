import { drainConnections } from "@postrider/shared/connect/drain-connections";
import { exemptLongUploads } from "@postrider/shared/http/long-transfers";
import { TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import { addProbes } from "@postrider/shared/process/health";
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { answerClientError } from "#src/http/client-error.ts";
import { normalizeTarget, requestIdOf } from "#src/http/incoming-request.ts";
import { buildSerializers, buildValidators } from "#src/http/schema-compilers.ts";
import { isDate, parseTimestamp } from "#src/http/timestamps.ts";
import { registerAccounts, registerAccountSettings } from "#src/routes/accounts/routes.ts";
import { API_PATH } from "#src/routes/api-paths.ts";
import { registerAutomations } from "#src/routes/automations/routes.ts";
import { registerComments } from "#src/routes/comments/routes.ts";
import { registerConnect } from "#src/routes/connect/routes.ts";
import { registerDashboardPage } from "#src/routes/dashboard/page-routes.ts";
import { registerDashboard } from "#src/routes/dashboard/routes.ts";
import type { Patience, ServerDeps } from "#src/routes/dependencies.ts";
import { registerDescription } from "#src/routes/description/routes.ts";
import { registerDocs } from "#src/routes/docs/routes.ts";
import { addOpenRouteLimit } from "#src/routes/hooks/address-limits.ts";
import { addAdmission } from "#src/routes/hooks/admission.ts";
import { addCompression, addConditionalReads } from "#src/routes/hooks/answer-bodies.ts";
import { addCrossOrigin } from "#src/routes/hooks/answer-headers.ts";
import { addBodyMemory, MAX_BODY_BYTES } from "#src/routes/hooks/body-memory.ts";
import { addBodyRules, addUnreadBodies } from "#src/routes/hooks/body-rules.ts";
import { addErrorAnswers } from "#src/routes/hooks/errors.ts";
import { addHeaderRules, addQueryRules } from "#src/routes/hooks/header-and-query-rules.ts";
import { addKnownPaths } from "#src/routes/hooks/known-paths.ts";
import { addLoadShedding } from "#src/routes/hooks/load-shedding.ts";
import { addReadingRate } from "#src/routes/hooks/reading-rate.ts";
import { addRequestContext } from "#src/routes/hooks/request-context.ts";
import { addUnsentAnswerLimit } from "#src/routes/hooks/unsent-answers.ts";
import { registerMcp } from "#src/routes/mcp/routes.ts";
import { registerDownload } from "#src/routes/media/download.ts";
import { registerMedia } from "#src/routes/media/routes.ts";
import { registerPlatforms } from "#src/routes/platforms/routes.ts";
import { registerPosts } from "#src/routes/posts/routes.ts";
import { registerQueueSlots } from "#src/routes/queue-slots/routes.ts";
import { registerQuota } from "#src/routes/quota/routes.ts";
import { registerUploads } from "#src/routes/uploads/routes.ts";
import { registerWebhooks } from "#src/routes/webhooks/routes.ts";

const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Default limits on slow clients of the gateway, so that slow clients do not keep their connections
 * for long.
 */
const PATIENCE: Patience = {
  headersMs: 15_000,
  requestMs: 30_000,
  transferRate: TRANSFER_RATE,
  readingRate: { bytesPerSecond: 1_000, stallMs: 60_000 },
  // Maximum time without any byte on a connection, after which the connection is closed. No
  // operation of the API takes that long.
  silenceMs: 240_000,
};
/**
 * Interval at which Node looks for clients that send a request too slowly. The default of Node is
 * 30 s.
 */
const CHECK_CONNECTIONS_MS = 5_000;

type Ajv = Parameters<NonNullable<NonNullable<FastifyServerOptions["ajv"]>["onCreate"]>>[0];

/**
 * Adds the formats of times and dates to the schema validator. Any text passes as `uuid`, because
 * an id that is not a UUID is answered with `not_found`.
 */
function addFormats(ajv: Ajv): void {
  ajv.addFormat("uuid", true);
  ajv.addFormat("date-time", (text: string) => parseTimestamp(text) !== undefined);
  ajv.addFormat("date", isDate);
  // This keyword marks an extension of the interface in the API description. The schema validator
  // must know it, but checks nothing for it.
  ajv.addKeyword("x-postrider-extension");
}

function addApi(app: FastifyInstance, deps: ServerDeps): void {
  void app.register(
    async (api) => {
      await addCompression(api);
      registerAccounts(api, deps);
      registerAccountSettings(api, deps);
      registerAutomations(api, deps);
      registerComments(api, deps);
      registerMedia(api, deps);
      registerPlatforms(api, deps);
      registerPosts(api, deps);
      registerQuota(api, deps);
      registerQueueSlots(api, deps);
      registerWebhooks(api, deps);
    },
    { prefix: API_PATH },
  );
}

function openServer(deps: ServerDeps, patience: Patience): FastifyInstance {
  return fastify({
    bodyLimit: MAX_BODY_BYTES,
    genReqId: (raw) => requestIdOf(raw.headers["x-request-id"]),
    keepAliveTimeout: 65_000,
    connectionTimeout: patience.silenceMs,
    // Node ends a request that takes longer than both `requestTimeout` and `headersTimeout` to
    // arrive.
    requestTimeout: patience.requestMs,
    http: {
      headersTimeout: patience.headersMs,
      connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, patience.headersMs),
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    // While the server stops, it still answers requests on open connections, then closes each
    // connection.
    return503OnClosing: false,
    trustProxy: deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    rewriteUrl: ({ url = "/" }) => normalizeTarget(url),
    // Maximum length of a path parameter: longer than any request target, so that an overlong id is
    // answered with `not_found` like any unknown id.
    routerOptions: { maxParamLength: 65_536 },
    clientErrorHandler: exemptLongUploads((error, socket) =>
      answerClientError(error, socket, deps.defaultLocale),
    ),
    schemaController: {
      compilersFactory: { buildValidator: buildValidators, buildSerializer: buildSerializers },
    },
    ajv: {
      onCreate: addFormats,
      customOptions: {
        allErrors: true,
        // Schema errors contain the schema and the value, so that error details can describe valid
        // values.
        verbose: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
      },
    },
  });
}

/**
 * Creates the REST server, which does not listen yet. The hooks run in the order of checks that the
 * API contract fixes: load, API key and rate limit, unknown route, scope, verification, media type,
 * size, schema. The handlers check the rest.
 */
export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const patience = { ...PATIENCE, ...deps.patience };
  const app = openServer(deps, patience);
  app.decorateRequest("caller", undefined);
  app.decorateRequest("bodyBytes", 0);
  app.decorateRequest("errorCode", undefined);
  app.decorateRequest("hasBegun", false);
  app.decorateRequest("locale", deps.defaultLocale);
  drainConnections(app);
  addErrorAnswers(app, deps);
  addRequestContext(app, deps);
  addHeaderRules(app);
  addCrossOrigin(app, deps);
  addLoadShedding(app, deps);
  addOpenRouteLimit(app);
  addAdmission(app, deps);
  addKnownPaths(app);
  addQueryRules(app);
  addBodyRules(app);
  addBodyMemory(app, deps.bodyLimits);
  addConditionalReads(app);
  addUnreadBodies(app);
  addUnsentAnswerLimit(app, deps.unsentLimits);
  addReadingRate(app, patience.readingRate);
  addProbes(app, deps.health);
  await registerDescription(app);
  registerDocs(app);
  registerUploads(app, { ...deps, transferRate: patience.transferRate });
  registerDownload(app, { ...deps, transferRate: patience.transferRate });
  registerConnect(app, deps);
  addApi(app, deps);
  registerDashboard(app, deps);
  registerDashboardPage(app, deps);
  registerMcp(app, deps);
  return app;
}
