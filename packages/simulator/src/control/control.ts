import type { FastifyError, FastifyInstance } from "fastify";
import { registerComments, registerInspection, registerReactions } from "#src/control/content.ts";
import { ControlError, type Query, requirePlatform } from "#src/control/query.ts";
import { FAULT_MODES, faultOf, type FaultRule } from "#src/faults/rule.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import type { Platforms } from "#src/platforms.ts";
import { SETTING_SCHEMAS, type SettingValues } from "#src/world/settings.ts";
import type { World } from "#src/world/world.ts";

const RULE_BODY = {
  type: "object",
  required: ["platform", "mode"],
  additionalProperties: false,
  properties: {
    platform: { type: "string" },
    operation: { type: "string" },
    mode: { type: "string", enum: FAULT_MODES },
    times: { type: "integer", minimum: 1 },
    status: { type: "integer", minimum: 300, maximum: 599 },
    delayMs: { type: "integer", minimum: 0 },
    account: { type: "string" },
  },
};

function registerFaults(scope: FastifyInstance, world: World, platforms: Platforms): void {
  scope.post<{ Body: FaultRule }>("/faults", { schema: { body: RULE_BODY } }, (request, reply) => {
    const rule = request.body;
    requirePlatform(platforms, rule.platform);
    const problem = faultOf(rule);
    if (problem !== undefined) throw new ControlError(400, problem);
    return reply.code(201).send({ id: world.faults.add(rule).id });
  });

  scope.get<{ Querystring: Query }>("/faults", (request) =>
    world.faults.list(request.query["platform"]),
  );

  scope.delete<{ Querystring: Query }>("/faults", (request) => ({
    forgotten: world.faults.forgetAll(request.query["platform"]),
  }));

  scope.delete<{ Params: { id: string } }>("/faults/:id", (request) => {
    const { id } = request.params;
    if (!world.faults.forget(id))
      throw new ControlError(
        404,
        `fault ${id} does not exist; GET /_control/faults lists all faults`,
      );
    return { forgotten: 1 };
  });
}

const CLOCK_BODY = {
  type: "object",
  required: ["advanceMs"],
  additionalProperties: false,
  properties: { advanceMs: { type: "integer", minimum: 0 } },
};

const SETTINGS_BODY = {
  type: "object",
  additionalProperties: false,
  properties: SETTING_SCHEMAS,
};

function clockBody(world: World): unknown {
  return { now: new Date(world.clock.now()).toISOString(), offsetMs: world.clock.offsetMs };
}

function registerWorldControl(scope: FastifyInstance, world: World): void {
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

interface AccountsBody {
  readonly platform: string;
  readonly username?: string;
  readonly count?: number;
  readonly permissions?: readonly string[];
}

const BODY = {
  type: "object",
  required: ["platform"],
  additionalProperties: false,
  properties: {
    platform: { type: "string" },
    username: { type: "string", minLength: 1 },
    count: { type: "integer", minimum: 1, maximum: 10_000 },
    permissions: { type: "array", items: { type: "string" } },
  },
};

/** For an undefined entry the platform invents a username. */
function usernamesFor(platform: Platform, body: AccountsBody): (string | undefined)[] {
  const names = Array.from({ length: body.count ?? 1 }, (_unused, index) =>
    body.username === undefined || index === 0 ? body.username : `${body.username}${index + 1}`,
  );
  for (const name of names) {
    const fault = name === undefined ? undefined : platform.usernameFault(name);
    if (fault !== undefined)
      throw new ControlError(400, `${name} is not a valid username on ${platform.id}: ${fault}`);
  }
  return names;
}

function toBody({ account, credentials }: IssuedAccount): unknown {
  const { platform, externalId, username, displayName } = account;
  return { platform, externalId, username, displayName, credentials };
}

function registerAccounts(scope: FastifyInstance, world: World, platforms: Platforms): void {
  scope.post<{ Body: AccountsBody }>("/accounts", { schema: { body: BODY } }, (request, reply) => {
    const { permissions } = request.body;
    const platform = requirePlatform(platforms, request.body.platform);
    const issued = usernamesFor(platform, request.body).map((name) =>
      platform.issueAccount(name, permissions),
    );
    world.store.commit();
    return reply.code(201).send({ accounts: issued.map(toBody) });
  });
}

export function registerControl(app: FastifyInstance, world: World, platforms: Platforms): void {
  void app.register(
    async (scope) => {
      scope.setErrorHandler(async (error: FastifyError, _request, reply) => {
        const status = error.statusCode ?? 500;
        const message = status < 500 || error instanceof ControlError ? error.message : "internal";
        return reply.code(status).send({ error: { message } });
      });
      scope.addHook("onSend", async () => world.store.commit());
      registerAccounts(scope, world, platforms);
      registerComments(scope, world, platforms);
      registerFaults(scope, world, platforms);
      registerInspection(scope, world, platforms);
      registerReactions(scope, world, platforms);
      registerWorldControl(scope, world);
    },
    { prefix: "/_control" },
  );
}
