import type { FastifyInstance } from "fastify";

type Answer = Awaited<ReturnType<FastifyInstance["inject"]>>;

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly (Readonly<Record<string, unknown>> & {
      readonly code: string;
      readonly path?: string;
    })[];
  };
}

/** Returns the HTTP status and the `error.code` of an error answer. */
export function summary(answer: Answer): readonly [number, string] {
  return [answer.statusCode, answer.json<ErrorBody>().error.code];
}

/** Returns the code and the path of every error detail of an error answer, sorted. */
export function faults(answer: Answer): readonly string[] {
  const { details = [] } = answer.json<ErrorBody>().error;
  return details.map(({ code, path }) => `${code} ${path}`).toSorted((a, b) => a.localeCompare(b));
}
