import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defined } from "#src/http/defined.ts";
import { isMalformedIfMatch } from "#src/http/entity-tags.ts";
import { httpStatusOf, toErrorBody } from "#src/http/error-table.ts";
import {
  describeExpected,
  type ExpectedSchema,
  quoteFound,
  toPhrase,
} from "#src/http/expected-values.ts";
import type { SchemaError } from "#src/http/fault-advice.ts";
import {
  headerFault,
  type QuerySchema,
  type RequestViolation,
  toQueryViolations,
  toSchemaViolations,
} from "#src/http/schema-faults.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";

/**
 * A request schema, or the schema of one of its fields or items. It has the members that lead to
 * the schemas of further fields.
 */
interface NestedSchema extends Omit<ExpectedSchema, "items" | "properties"> {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, NestedSchema>>;
  readonly items?: NestedSchema;
  readonly additionalProperties?: NestedSchema | boolean;
}

/** Returns the schema that a `$ref` names. */
type FindSchema = (name: string) => NestedSchema | undefined;

function resolve(schema: NestedSchema, find: FindSchema): NestedSchema | undefined {
  return schema.$ref === undefined ? schema : find(schema.$ref.replace(/#$/, ""));
}

function childOf(schema: NestedSchema, name: string): NestedSchema | undefined {
  const { properties = {}, items, additionalProperties: others, description } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  // A schema of a list item without a description gets the description of the list.
  if (items !== undefined) return description === undefined ? items : { description, ...items };
  return typeof others === "object" ? others : undefined;
}

/**
 * Says in English what the field at a JSON Pointer accepts and is for; undefined if the schema says
 * neither. The text is added to errors of services: a service knows that a value is not valid, but
 * not how the schema of the request describes the value.
 */
function describeFieldAt(schema: NestedSchema, path: string, find: FindSchema): string | undefined {
  let found = resolve(schema, find);
  for (const name of path.split("/").slice(1)) {
    const child = found === undefined ? undefined : childOf(found, name);
    found = child === undefined ? undefined : resolve(child, find);
  }
  if (found === undefined) return undefined;
  const { description } = found;
  const parts = [
    describeExpected(found),
    description === undefined ? undefined : toPhrase(description),
  ];
  return parts.filter((part) => part !== undefined).join(": ") || undefined;
}

/** Undefined if waiting does not help. */
function waitOf({ retryAfterMs }: ServiceError, status: number): number | undefined {
  const waits = retryAfterMs !== undefined || status === 429 || status === 503;
  return waits ? Math.max(1, Math.ceil((retryAfterMs ?? 1000) / 1000)) : undefined;
}

function setErrorHeaders(
  { hasBegun }: FastifyRequest,
  reply: FastifyReply,
  error: ServiceError,
  status: number,
): void {
  if (status === 503 && !hasBegun) reply.header("x-postrider-carried-out", "no");
  if (status === 401) reply.header("www-authenticate", "Bearer");
  const [{ address } = {}] = error.violations;
  // No `Location`: a client that followed it by itself would send its key to an address that its
  // owner has not chosen.
  if (status === 421 && address !== undefined) reply.header("x-postrider-cell-address", address);
  const wait = waitOf(error, status);
  if (wait !== undefined) reply.header("retry-after", wait);
}

/**
 * Maximum length, in characters, of an example body in an error message, which leaves out a longer
 * one.
 */
const MAX_EXAMPLE_LENGTH = 200;

/** An empty list if the operation needs no body. */
function toMissingBody(faults: readonly SchemaError[]): RequestViolation[] {
  const [fault] = faults;
  if (fault === undefined) return [];
  const { required = [], examples = [] } = (fault.parentSchema ?? {}) as ExpectedSchema;
  const fields = required.length === 0 ? "" : ` with ${required.join(" and ")}`;
  const example = JSON.stringify(examples[0]) ?? "";
  const isShort = example !== "" && example.length <= MAX_EXAMPLE_LENGTH;
  const shown = isShort ? `, such as ${example}` : "";
  return [{ code: "body_required", path: "", expected: `a JSON object${fields}${shown}` }];
}

/** Fastify itself stops at the first part with a mistake. */
function findSchemaViolations(request: FastifyRequest): RequestViolation[] {
  const { body, query, headers, routeOptions } = request;
  const faultsOf = (part: "body" | "querystring" | "headers", value: unknown) => {
    const validate = request.getValidationFunction(part);
    return validate === undefined || validate(value) ? [] : (validate.errors ?? []);
  };
  // An absent body is checked against the schema as null, as fastify does it.
  const content = body ?? null;
  const schema = (routeOptions.schema?.querystring ?? {}) as QuerySchema;
  return [
    ...(body === undefined
      ? toMissingBody(faultsOf("body", content))
      : toSchemaViolations(faultsOf("body", content), "body", content)),
    ...toQueryViolations(faultsOf("querystring", query), query, schema),
    ...toSchemaViolations(faultsOf("headers", headers), "headers", headers),
  ];
}

/** Undefined when the error of fastify is unexpected. */
function fromFastify(
  error: FastifyError,
  { routeOptions }: FastifyRequest,
): ServiceError | undefined {
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new ServiceError("invalid", "payload_too_large", [
      { code: "payload_too_large", ...defined({ limit: routeOptions.bodyLimit }) },
    ]);
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new ServiceError("invalid", "unsupported_media_type");
  const isClientFault =
    error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
  return isClientFault ? invalidRequest() : undefined;
}

/** Matches the ETag of a post without its quotes, as the gateway issues it. */
const UNQUOTED_TAG = /^[1-9]\d{0,17}(?:\.[\w-]{11})?$/;

/** Says what is wrong with an `If-Match` that could match nothing, because it is not an ETag. */
function explainIfMatch(request: FastifyRequest): RequestViolation[] {
  const header = request.headers["if-match"];
  if (header === undefined || !isMalformedIfMatch(header)) return [];
  // The header `If-Match` is shown as the client sent it. As JSON it would get quotes, and the
  // client could not see that the quotes of its ETag are missing.
  const found = quoteFound(header) === undefined ? undefined : header;
  const isUnquoted = UNQUOTED_TAG.test(header);
  const advice = { expected: isUnquoted ? `"${header}"` : '"3"', ...defined({ found }) };
  return [
    {
      ...headerFault("invalid_etag", "If-Match"),
      ...advice,
      ...(isUnquoted && { variant: "unquoted" }),
    },
  ];
}

/**
 * Returns the violations of a failed request. The gateway adds violations that it finds itself
 * after a service has refused the request.
 */
function listViolations(
  error: FastifyError | ServiceError,
  answer: ServiceError,
  request: FastifyRequest,
): readonly RequestViolation[] {
  const isSchemaFault = !(error instanceof ServiceError) && error.validation !== undefined;
  if (isSchemaFault) return findSchemaViolations(request);
  const isUnexplained = answer.violations.length === 0 && answer.reason === "precondition_failed";
  if (isUnexplained) return explainIfMatch(request);
  return answer.violations.map((violation) => explainInvalid(violation, request));
}

/** The service says only which field is not valid. */
function explainInvalid(violation: RequestViolation, request: FastifyRequest): RequestViolation {
  const { code, path, expected, limit } = violation;
  if (code !== "invalid" || path === undefined || expected !== undefined || limit !== undefined)
    return violation;
  const { body, querystring } = request.routeOptions.schema ?? {};
  const schema = (partOf(request) === "query" ? querystring : body) as NestedSchema | undefined;
  const find = (name: string) => request.server.getSchema(name) as NestedSchema | undefined;
  const described = schema === undefined ? undefined : describeFieldAt(schema, path, find);
  return { ...violation, ...defined({ expected: described }) };
}

/**
 * Returns the part of the request to which the path of a mistake belongs, for a mistake that does
 * not name the part.
 */
function partOf({ method }: FastifyRequest): "query" | "body" {
  return method === "GET" || method === "HEAD" ? "query" : "body";
}

/** Texts of libraries, stack traces and queries are never sent to clients. */
export function addErrorAnswers(
  app: FastifyInstance,
  { logger }: Pick<ServerDeps, "logger">,
): void {
  app.setErrorHandler<FastifyError | ServiceError>((error, request, reply) => {
    const known = error instanceof ServiceError ? error : fromFastify(error, request);
    if (known === undefined)
      logger.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        "an HTTP request failed with an unexpected error",
      );
    const answer = known ?? new ServiceError("internal", "internal");
    const status = httpStatusOf(answer.reason, answer.kind);
    if (answer.kind === "internal")
      logger.error(
        { err: answer, requestId: request.id },
        "a request was answered with an internal error (status 500)",
      );
    setErrorHeaders(request, reply, answer, status);
    const { reason, kind } = answer;
    const violations = listViolations(error, answer, request);
    const part = partOf(request);
    const { locale } = request;
    const wait = waitOf(answer, status);
    const body = toErrorBody({ reason, kind, violations, locale, part, wait });
    request.errorCode = body.error.code;
    return reply
      .status(status)
      .type("application/json; charset=utf-8")
      .serializer(JSON.stringify)
      .send(body);
  });
}
