import type { FastifyInstance } from "fastify";
import { ControlError, type Query, requirePlatform } from "#src/control/query.ts";
import { FAULT_MODES, faultOf, type FaultRule } from "#src/faults/rule.ts";
import type { Platforms } from "#src/platforms.ts";
import type { World } from "#src/world/world.ts";

const BODY = {
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

export function registerFaults(scope: FastifyInstance, world: World, platforms: Platforms): void {
  scope.post<{ Body: FaultRule }>("/faults", { schema: { body: BODY } }, (request, reply) => {
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
