import type { ApiDocument, Operation, Parameter } from "./document.ts";
import type { PathValues, Pools } from "./pools.ts";
import type { Random } from "./random.ts";
import type { SchemaJudge } from "./schema-judge.ts";
import type { Chooser } from "./schema-values.ts";

/** What the API description says about a request: it fits, it does not fit, or the description leaves it open. */
export type Expectation =
  | "valid"
  | "invalid"
  | "open"
  | "not found"
  | "unauthenticated"
  | "forbidden";

export interface GeneratedRequest {
  readonly operation: Operation;
  readonly path: PathValues;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly expectation: Expectation;
  /** What is special about the request, for the report. */
  readonly label: string;
}

/** Everything that requests are built from. */
export interface Workbench {
  readonly document: ApiDocument;
  readonly judge: SchemaJudge;
  readonly seed: number;
  readonly random: Random;
  readonly pools: Pools;
  /** Values of another workspace. */
  readonly foreign: Pools;
  readonly chooser: Chooser;
  readonly nowMs: number;
  readonly keys: { readonly full: string; readonly limited: string };
}

/** The only scope of the limited API key. */
export const LIMITED_SCOPE = "accounts:read";

/** A request before it is written down. */
export interface Draft {
  path: PathValues;
  query: (readonly [name: string, value: string])[];
  headers: Record<string, string>;
  body: Buffer | undefined;
  expectation: Expectation;
  label: string;
}

export type Change = (draft: Draft, operation: Operation, bench: Workbench) => boolean;

export function parametersIn(
  { parameters }: Operation,
  where: Parameter["in"],
): readonly Parameter[] {
  return parameters.filter((each) => each.in === where);
}

export function jsonBytes(value: unknown): Buffer | undefined {
  return value === undefined ? undefined : Buffer.from(JSON.stringify(value));
}
