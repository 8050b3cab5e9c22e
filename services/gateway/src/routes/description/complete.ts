import { isDeepStrictEqual } from "node:util";
import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { ID_PATTERN } from "@postrider/rest/schemas";
import {
  type Components,
  type DescribedAnswer,
  type DescribedOperation,
  JSON_TYPE,
  type JsonObject,
} from "./document.ts";
import { describeErrors } from "./error-answers.ts";
import { describeExamples } from "./examples.ts";
import { describeGrowingValues, nameSchemas } from "./named-schemas.ts";
import { describePhase } from "./tags.ts";
import { UPLOAD_PATH, uploadExamples } from "./uploads.ts";

/**
 * Conditions between several fields of a request. The handler checks them, because a JSON Schema
 * that refuses a request could not say which field is wrong. Programs that generate clients ignore
 * these conditions.
 */
const CONDITIONS: Readonly<Record<string, object>> = {
  CreatePost: {
    not: {
      properties: { queueSlot: { const: true } },
      required: ["queueSlot"],
      anyOf: [
        { properties: { scheduledAt: {} }, required: ["scheduledAt"] },
        { properties: { isDraft: { const: true } }, required: ["isDraft"] },
      ],
    },
  },
  RequestCommentAction: {
    not: {
      anyOf: [
        {
          properties: { type: { const: "reply" } },
          not: { properties: { text: {} }, required: ["text"] },
        },
        {
          properties: { type: { enum: ["hide", "unhide"] }, text: {} },
          required: ["text"],
        },
      ],
    },
  },
};

/** Adds to named schemas of requests the conditions between their fields. */
function describeExclusiveFields(schemas: Record<string, object>): void {
  for (const [name, conditions] of Object.entries(CONDITIONS)) {
    const schema = schemas[name];
    if (schema !== undefined) schemas[name] = { ...schema, ...conditions };
  }
}

/**
 * Replaces the headers of the answers of an operation by references. A header stays in place if the
 * components contain another schema for it.
 */
function nameHeaders({ responses }: DescribedOperation, { headers }: Components): void {
  for (const answer of Object.values(responses)) {
    const found = Object.entries(answer.headers ?? {});
    answer.headers = Object.fromEntries(
      found.map(([name, header]) => {
        const known = (headers[name] ??= header);
        const isKnown = isDeepStrictEqual(known, header);
        return [name, isKnown ? { $ref: `#/components/headers/${name}` } : header];
      }),
    );
  }
}

/**
 * Names of schemas that the API contract gives to the answers of operations on posts. Each of these
 * schemas has the fields of `PostDetail`.
 */
const RESULTS: Readonly<Record<string, readonly [status: string, name: string]>> = {
  createPost: ["202", "PostCreatedResult"],
  updatePost: ["200", "PostUpdateResult"],
  publishPost: ["202", "PostWriteResult"],
  retryPost: ["202", "PostWriteResult"],
};

function schemaOf(answer: DescribedAnswer | undefined) {
  return answer?.content?.[JSON_TYPE];
}

/** Gives the answer of an operation the name that the API contract has for it. */
function nameResult(operation: DescribedOperation, schemas: Record<string, object>): void {
  const [status = "", name = ""] = RESULTS[operation.operationId ?? ""] ?? [];
  const content = schemaOf(operation.responses[status]);
  if (content?.schema === undefined) return;
  schemas[name] ??= { allOf: [content.schema], description: "The post as it is now." };
  content.schema = { $ref: `#/components/schemas/${name}` };
}

type Operation = {
  parameters?: object[];
  responses: Record<string, { description?: string; headers?: object; content?: object }>;
};

const IF_NONE_MATCH = {
  schema: { type: "string" },
  in: "header",
  name: "If-None-Match",
  required: false,
  description:
    "ETags of answers that the client has. If one of them is current, the answer is 304.",
};
const ETAG = {
  schema: { type: "string" },
  description: "Changes with every visible change of the content.",
};

/** 304 is the answer when the client already has the content. */
function describeConditionalRead(operation: object): void {
  const { responses } = operation as Operation;
  const found = responses["200"];
  if (found?.content === undefined) return;
  const parameters = (operation as Operation).parameters ?? [];
  Object.assign(operation, { parameters: [...parameters, IF_NONE_MATCH] });
  responses["200"] = { ...found, headers: { ETag: ETAG, ...found.headers } };
  const { headers } = responses["200"];
  responses["304"] = {
    description: "The client has the current content; the answer has no body.",
    ...(headers === undefined ? {} : { headers }),
  };
}

type Complete = NonNullable<FastifyDynamicSwaggerOptions["transformObject"]>;

const SCHEMA_REFERENCE = /"#\/components\/schemas\/(\w+)"/;

/**
 * Describes the optional request body of an operation as optional and not null. The framework
 * passes an absent body to the validator as null, but clients must not send null itself.
 */
function describeOptionalBody(
  { requestBody }: DescribedOperation,
  schemas: Record<string, object>,
): void {
  const name = SCHEMA_REFERENCE.exec(JSON.stringify(requestBody) ?? "")?.[1] ?? "";
  const schema: JsonObject | undefined = schemas[name] && { ...schemas[name] };
  const types = schema?.["type"];
  if (requestBody === undefined || !Array.isArray(types) || !types.includes("null")) return;
  requestBody.required = false;
  schemas[name] = { ...schema, type: "object" };
}

/**
 * Adds the pattern of lower-case UUIDs to every schema of an id. The schemas of paths and headers
 * do not have it at run time: there, a text that is not an id has an error of its own.
 */
function describeIds(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  if ("type" in part && "format" in part && part.format === "uuid")
    Object.assign(part, { pattern: ID_PATTERN });
  for (const member of Object.values(part)) describeIds(member);
}

function completeOperation(operation: DescribedOperation, components: Components): void {
  describeOptionalBody(operation, components.schemas);
  describeErrors(operation, components);
  describePhase(operation);
  nameHeaders(operation, components);
  nameResult(operation, components.schemas);
  describeExamples(operation);
}

function sorted(members: Record<string, object>): Record<string, object> {
  const byName = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName);
}

/**
 * Completes the API description with what the schemas of routes cannot say, for example the headers
 * of error answers and the fields that exclude each other.
 */
export const completeDescription: Complete = (found) => {
  if (!("openapiObject" in found)) return found.swaggerObject;
  const { components, ...document } = found.openapiObject;
  const schemas = (components?.schemas ?? {}) as Record<string, object>;
  const paths = (document.paths ?? {}) as Record<string, Record<string, DescribedOperation>>;
  const parts: Components = { schemas, headers: {}, examples: uploadExamples() };
  for (const path of Object.values(paths)) {
    if (path["get"] !== undefined) describeConditionalRead(path["get"]);
    for (const operation of Object.values(path)) completeOperation(operation, parts);
  }
  describeExclusiveFields(schemas);
  const inline: Record<string, object> = {};
  const named = { ...(nameSchemas(schemas, inline) as object), ...inline };
  const described = nameSchemas(paths, named) as typeof paths;
  describeIds([named, described]);
  const operations = Object.values(described).flatMap((path) => Object.values(path));
  const answers = operations.map(({ responses }) => responses);
  describeGrowingValues([answers, "webhooks" in document ? document.webhooks : {}], named);
  const completed: object = {
    ...document,
    paths: { ...described, ...UPLOAD_PATH },
    components: {
      ...components,
      schemas: sorted(named),
      headers: sorted(parts.headers),
      examples: sorted(parts.examples),
    },
  };
  return completed;
};
