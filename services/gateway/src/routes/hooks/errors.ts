import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { httpStatusOf, toErrorBody } from "#src/http/error-table.ts";
import {
  type QuerySchema,
  type RequestViolation,
  toQueryViolations,
  toSchemaViolations,
} from "#src/http/schema-faults.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";

function setErrorHeaders(reply: FastifyReply, error: ServiceError, status: number): void {
  if (status === 401) reply.header("www-authenticate", "Bearer");
  const waits = error.retryAfterMs !== undefined || status === 429 || status === 503;
  if (waits)
    reply.header("retry-after", Math.max(1, Math.ceil((error.retryAfterMs ?? 1000) / 1000)));
}

/** Returns the schema faults of all parts of a request, because fastify itself stops at the first part with a fault. */
function findSchemaViolations(request: FastifyRequest): RequestViolation[] {
  const { body, query, headers, routeOptions } = request;
  const faultsOf = (part: "body" | "querystring" | "headers", value: unknown) => {
    const validate = request.getValidationFunction(part);
    return validate === undefined || validate(value) ? [] : (validate.errors ?? []);
  };
  // Fastify passes an absent request body to the validator as null, and so does this check.
  const content = body ?? null;
  const schema = (routeOptions.schema?.querystring ?? {}) as QuerySchema;
  return [
    ...toSchemaViolations(faultsOf("body", content), "body", content),
    ...toQueryViolations(faultsOf("querystring", query), query, schema),
    ...toSchemaViolations(faultsOf("headers", headers), "headers", headers),
  ];
}

/** Returns the error for a request that fastify itself refused; undefined when the error of fastify is unexpected. */
function fromFastify(error: FastifyError): ServiceError | undefined {
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new ServiceError("invalid", "payload_too_large");
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new ServiceError("invalid", "unsupported_media_type");
  const isClientFault =
    error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
  return isClientFault ? invalidRequest() : undefined;
}

/**
 * Answers every failed request with the common error body. Texts of libraries, stack traces and queries are never sent
 * to clients.
 */
export function addErrorAnswers(
  app: FastifyInstance,
  { logger }: Pick<ServerDeps, "logger">,
): void {
  app.setErrorHandler<FastifyError | ServiceError>((error, request, reply) => {
    const known = error instanceof ServiceError ? error : fromFastify(error);
    if (known === undefined)
      logger.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        "a request failed with an unexpected error",
      );
    const answer = known ?? new ServiceError("internal", "internal");
    const status = httpStatusOf(answer.reason, answer.kind);
    if (answer.kind === "internal")
      logger.error(
        { err: answer, requestId: request.id },
        "a request was answered with an internal error",
      );
    setErrorHeaders(reply, answer, status);
    const { reason, kind } = answer;
    const isSchemaFault = !(error instanceof ServiceError) && error.validation !== undefined;
    const violations = isSchemaFault ? findSchemaViolations(request) : answer.violations;
    const body = toErrorBody({ reason, kind, violations, locale: request.locale });
    request.errorCode = body.error.code;
    return reply
      .status(status)
      .type("application/json; charset=utf-8")
      .serializer(JSON.stringify)
      .send(body);
  });
}
