import { invalidRequest, ServiceError, type Violation } from "@postrider/shared/errors";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { httpStatusOf, toErrorBody } from "#src/http/error-table.ts";
import { toSchemaViolations } from "#src/http/schema-faults.ts";
import type { ServerDeps } from "#src/routes/deps.ts";

function setErrorHeaders(reply: FastifyReply, error: ServiceError, status: number): void {
  if (status === 401) reply.header("www-authenticate", "Bearer");
  const waits = error.retryAfterMs !== undefined || status === 429 || status === 503;
  if (waits)
    reply.header("retry-after", Math.max(1, Math.ceil((error.retryAfterMs ?? 1000) / 1000)));
}

/** The faults of all parts of a request at once; fastify itself stops at the first part that has one. */
function findSchemaViolations(request: FastifyRequest): Violation[] {
  const { body, query, headers } = request;
  // An absent body is null to a validator, as fastify shows it.
  const parts = { body: body ?? null, querystring: query, headers };
  return Object.entries(parts).flatMap(([part, value]) => {
    const validate = request.getValidationFunction(part as keyof typeof parts);
    if (validate === undefined || validate(value)) return [];
    return toSchemaViolations(validate.errors ?? [], part, value);
  });
}

/** What fastify itself refuses, in our words; undefined for what nobody expected. */
function fromFastify(error: FastifyError, request: FastifyRequest): ServiceError | undefined {
  if (error.validation !== undefined) return invalidRequest(findSchemaViolations(request));
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new ServiceError("invalid", "payload_too_large");
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new ServiceError("invalid", "unsupported_media_type");
  const isClientFault =
    error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
  return isClientFault ? invalidRequest() : undefined;
}

/** One error body for everything that can go wrong; no text of a library, stack or query leaves. */
export function addErrorAnswers(
  app: FastifyInstance,
  { logger }: Pick<ServerDeps, "logger">,
): void {
  app.setErrorHandler<FastifyError | ServiceError>((error, request, reply) => {
    const known = error instanceof ServiceError ? error : fromFastify(error, request);
    if (known === undefined)
      logger.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        "request failed",
      );
    const answer = known ?? new ServiceError("internal", "internal");
    const status = httpStatusOf(answer.reason, answer.kind);
    if (answer.kind === "internal")
      logger.error({ err: answer, requestId: request.id }, "internal error");
    setErrorHeaders(reply, answer, status);
    const { reason, kind, violations } = answer;
    const body = toErrorBody({ reason, kind, violations, locale: request.locale });
    request.errorCode = body.error.code;
    return reply
      .status(status)
      .type("application/json; charset=utf-8")
      .serializer(JSON.stringify)
      .send(body);
  });
}
