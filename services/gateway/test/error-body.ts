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

/** Status and `error.code` of an answer. */
export function summary(answer: Answer): readonly [number, string] {
  return [answer.statusCode, answer.json<ErrorBody>().error.code];
}

/** Code and path of every detail, sorted. */
export function faults(answer: Answer): readonly string[] {
  const { details = [] } = answer.json<ErrorBody>().error;
  return details.map(({ code, path }) => `${code} ${path}`).toSorted((a, b) => a.localeCompare(b));
}
