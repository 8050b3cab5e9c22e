import type { TSchema } from "typebox";
import type { Scope } from "#src/routes/deps.ts";
import { ErrorBody, ref } from "#src/routes/schema.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly scope: Scope;
  readonly params?: TSchema;
  readonly querystring: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly response: Readonly<Record<number, TSchema>>;
}

/** Every operation may answer with the common error body. */
function withErrors(response: Operation["response"]): Record<string, unknown> {
  const answers = Object.entries(response).map(([status, schema]) => [
    status,
    "$id" in schema ? ref(schema) : schema,
  ]);
  return {
    ...Object.fromEntries(answers),
    default: { ...ref(ErrorBody), description: "Any error" },
  };
}

/** Route options of one operation: its schema, its place in the API description and the scope that it needs. */
export function operation(options: Operation) {
  const { scope, response, tags, ...schema } = options;
  return {
    config: { scope },
    schema: {
      ...schema,
      tags: [...tags],
      response: withErrors(response),
      security: [{ bearerApiKey: [] }],
    },
  };
}
