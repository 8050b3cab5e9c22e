import type { ApiDocument, Operation, Parameter } from "./document.ts";
import type { PathValues, Pools } from "./pools.ts";
import type { Random } from "./random.ts";
import type { SchemaJudge } from "./schema-judge.ts";
import type { Chooser } from "./schema-values.ts";

/** What the API must answer to a generated request, as far as the API description says it; `open` when it does not say. */
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
  /** How the request differs from a usual one, in words for the report of a conformance run. */
  readonly label: string;
}

/** Everything that the generator needs to build requests. */
export interface Workbench {
  readonly document: ApiDocument;
  readonly judge: SchemaJudge;
  readonly seed: number;
  readonly random: Random;
  readonly pools: Pools;
  /** Ids and cursors of another workspace. */
  readonly foreign: Pools;
  readonly chooser: Chooser;
  readonly nowMs: number;
  readonly keys: { readonly full: string; readonly limited: string };
}

/** The only scope of the API key with limited rights. */
export const LIMITED_SCOPE = "accounts:read";

/** A request whose parts can still be changed before it is serialized. */
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
