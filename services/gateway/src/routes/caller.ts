import { notFound, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { FastifyRequest } from "fastify";
import type { Caller } from "#src/routes/deps.ts";

/** The caller of a route with a scope; admission has set it before any handler runs. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new ServiceError("unauthenticated", "unauthenticated");
  return request.caller;
}

/** The id in the path. What is no id cannot exist. */
export function pathId(request: FastifyRequest<{ Params: { id: string } }>): string {
  const { id } = request.params;
  if (!isId(id)) throw notFound();
  return id;
}
