import type { FastifyInstance } from "fastify";
import type { SettingValues } from "#src/world/settings.ts";
import type { World } from "#src/world/world.ts";

const CLOCK_BODY = {
  type: "object",
  required: ["advanceMs"],
  additionalProperties: false,
  properties: { advanceMs: { type: "integer", minimum: 0 } },
};

const SETTINGS_BODY = {
  type: "object",
  additionalProperties: false,
  properties: {
    quotas: { type: "boolean" },
    latencyMs: { type: "integer", minimum: 0 },
    authorize: { enum: ["ask", "approve", "deny"] },
    audited: { type: "boolean" },
    insightsLagMs: { type: "integer", minimum: 0 },
    tiktokWholeVideoBytes: { type: "integer", minimum: 0 },
    graphCallsPerDay: { type: "integer", minimum: 1 },
    instagramTokenShape: { enum: ["object", "list"] },
    instagramPageTokenReads: { enum: ["allowed", "refused"] },
    facebookApp: { enum: ["all", "publishing"] },
    xFieldNames: { enum: ["both", "new"] },
    xUserPostsPerDay: { type: "integer", minimum: 0 },
    xAppPostsPerDay: { type: "integer", minimum: 0 },
    xUsageCap: { enum: ["open", "reached"] },
    tiktokPostsOfOtherApps: { type: "integer", minimum: 0 },
    facebookVideos: { enum: ["allowed", "refused"] },
    instagramHashtags: { type: "integer", minimum: 0 },
  },
};

function clockBody(world: World): unknown {
  return { now: new Date(world.clock.now()).toISOString(), offsetMs: world.clock.offsetMs };
}

export function registerWorldControl(scope: FastifyInstance, world: World): void {
  scope.get("/clock", () => clockBody(world));

  scope.post<{ Body: { advanceMs: number } }>(
    "/clock",
    { schema: { body: CLOCK_BODY } },
    (request) => {
      world.clock.advance(request.body.advanceMs);
      return clockBody(world);
    },
  );

  scope.get("/settings", () => world.settings.values);

  scope.post<{ Body: Partial<SettingValues> }>(
    "/settings",
    { schema: { body: SETTINGS_BODY } },
    (request) => world.settings.change(request.body),
  );

  scope.post("/reset", () => {
    world.store.reset();
    world.log.clear();
    return {};
  });
}
