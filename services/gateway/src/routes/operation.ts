import { Type, type TProperties, type TSchema } from "typebox";
import type { Scope } from "#src/routes/dependencies.ts";
import { ErrorBody, ref } from "#src/routes/schemas.ts";

interface Answer {
  readonly description: string;
  /** Absent where there is nothing to show. */
  readonly body?: TSchema;
  readonly headers?: Readonly<Record<string, object>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly scope: Scope;
  /** For operations that take longer than a request usually may. */
  readonly timeoutMs?: number;
  readonly params?: TSchema;
  readonly querystring: TSchema;
  readonly headers?: TProperties;
  readonly body?: TSchema;
  readonly response: Readonly<Record<number, Answer>>;
}

const WORKSPACE_HEADER = {
  "X-Workspace-Id": Type.Optional(
    Type.String({
      format: "uuid",
      description: "Required when the key belongs to more than one workspace.",
    }),
  ),
};

/** On every answer, errors too. */
const ANSWER_HEADERS = {
  "X-Request-Id": { type: "string", description: "Names the request; record it." },
  RateLimit: { type: "string", description: "What is left of the limit, and when it is whole." },
  "RateLimit-Policy": { type: "string", description: "Which limit it is." },
};

const RETRY_AFTER = { type: "integer", minimum: 1, description: "Seconds to wait." };

function describeAnswer({ description, body, headers = {} }: Answer) {
  const content =
    body === undefined
      ? { type: "null" }
      : { content: { "application/json": { schema: ref(body) } } };
  return { description, headers: { ...ANSWER_HEADERS, ...headers }, ...content };
}

/** Every operation may answer that there were too many requests, and with any other error. */
const ERRORS = {
  429: describeAnswer({
    description: "The workspace used up its requests of this minute.",
    body: ErrorBody,
    headers: { "Retry-After": RETRY_AFTER },
  }),
  default: describeAnswer({ description: "Any other error.", body: ErrorBody }),
};

/** Route options of one operation: its schema, its place in the API description and the scope that it needs. */
export function operation(options: Operation) {
  const { scope, timeoutMs, response, tags, headers, description, ...schema } = options;
  const answers = Object.entries(response).map(([status, answer]) => [
    status,
    describeAnswer(answer),
  ]);
  const needs = `Needs the scope \`${scope}\`.`;
  return {
    config: timeoutMs === undefined ? { scope } : { scope, timeoutMs },
    schema: {
      ...schema,
      description: description === undefined ? needs : `${description} ${needs}`,
      headers: Type.Object({ ...WORKSPACE_HEADER, ...headers }),
      tags: [...tags],
      response: { ...(Object.fromEntries(answers) as Record<string, object>), ...ERRORS },
      security: [{ bearerApiKey: [] }],
    },
  };
}
