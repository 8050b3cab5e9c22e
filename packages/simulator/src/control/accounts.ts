import type { FastifyInstance } from "fastify";
import { ControlError } from "#src/control/errors.ts";
import { requirePlatform } from "#src/control/query.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import type { Platforms } from "#src/platforms.ts";
import type { World } from "#src/world/world.ts";

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

export function registerAccounts(scope: FastifyInstance, world: World, platforms: Platforms): void {
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
