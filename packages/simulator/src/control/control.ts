import type { FastifyError, FastifyInstance } from "fastify";
import { registerAccounts } from "#src/control/accounts.ts";
import { registerComments } from "#src/control/comments.ts";
import { ControlError } from "#src/control/errors.ts";
import { registerFaults } from "#src/control/faults.ts";
import { registerInspection } from "#src/control/inspection.ts";
import { registerReactions } from "#src/control/reactions.ts";
import { registerWorldControl } from "#src/control/world-control.ts";
import type { Platforms } from "#src/platforms.ts";
import type { World } from "#src/world/world.ts";

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
