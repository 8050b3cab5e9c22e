import type { Violation } from "@postrider/shared/errors";
import { defined } from "#src/http/defined.ts";
import type { RequestPart } from "#src/http/error-places.ts";
import { listAllowed } from "#src/http/expected-values.ts";
import { adviseOn, type SchemaError } from "#src/http/fault-advice.ts";

/** A mistake in a request, with advice on what to send instead. */
export type RequestViolation = Violation & {
  /** Default: the body, or the query of a request without a body. */
  readonly in?: RequestPart;
  /** Describes a valid value as a phrase in English. */
  readonly expected?: string | undefined;
  /** The faulty value that was sent: a short value as JSON, otherwise only its JSON type. */
  readonly found?: string | undefined;
  readonly minimum?: number;
  readonly maximum?: number;
  /**
   * Name of a special text of the error catalogue, if one explains the mistake more precisely than
   * the text of the mistake's code.
   */
  readonly variant?: string;
  /** For an unknown field: the known fields that the client probably means. */
  readonly instead?: readonly string[];
};

/**
 * The part of a query's JSON schema that error details use: the allowed values of each query
 * parameter.
 */
export interface QuerySchema {
  readonly properties?: Readonly<
    Record<
      string,
      {
        readonly type?: unknown;
        readonly minimum?: number;
        readonly maximum?: number;
        readonly enum?: readonly string[];
      }
    >
  >;
}

/**
 * The headers that a schema checks, by their names in lower case: how they are written, and what
 * they contain.
 */
const HEADERS: ReadonlyMap<string, readonly [name: string, expected: string]> = new Map([
  [
    "x-workspace-id",
    ["X-Workspace-Id", "the id of a workspace of the key, which is a UUID in lower case"],
  ],
  [
    "idempotency-key",
    ["Idempotency-Key", "1 to 255 visible ASCII characters without spaces, such as a UUID"],
  ],
]);

/** Returns the mistake in a header, with what the header contains if that is known. */
export function headerFault(code: string, name: string): RequestViolation {
  const [known = name, expected] = HEADERS.get(name.toLowerCase()) ?? [];
  const advice = code === "invalid_header" ? defined({ expected }) : {};
  return { code, path: `/${known}`, in: "header", ...advice };
}

const MAX_FAULTS = 100;

const CODES: ReadonlyMap<string, string> = new Map([
  ["required", "required"],
  ["dependentRequired", "required"],
  ["additionalProperties", "additional_property"],
  ["unevaluatedProperties", "additional_property"],
  ["propertyNames", "additional_property"],
  ["type", "type"],
  ["format", "format"],
  ["pattern", "format"],
  ["enum", "not_allowed"],
  ["const", "not_allowed"],
  ["uniqueItems", "unique"],
  ["minItems", "min_items"],
  ["maxItems", "max_items"],
  ["minLength", "too_short"],
  ["maxLength", "too_long"],
  ["minimum", "too_small"],
  ["exclusiveMinimum", "too_small"],
  ["maximum", "too_large"],
  ["exclusiveMaximum", "too_large"],
  ["minProperties", "min_properties"],
  ["maxProperties", "max_properties"],
]);

const UNIONS = new Set(["anyOf", "oneOf"]);

/**
 * Returns the schema errors of one part of a request, at most 100, and one for each path and code.
 *
 * @param context The part of the request, as fastify calls it.
 * @param value The validated value. If a mistake has a limit, `actual` is taken from this value.
 */
export function toSchemaViolations(
  errors: readonly SchemaError[],
  context = "body",
  value?: unknown,
): RequestViolation[] {
  const faults = new Map<string, RequestViolation>();
  for (const error of dropConsequences(settleUnions(errors))) {
    const fault = toViolation(error, context, value);
    faults.set(`${fault.code} ${fault.path}`, fault);
    if (faults.size === MAX_FAULTS) break;
  }
  return dropRenamed([...faults.values()]);
}

/**
 * Drops the mistake about a missing field if the client sent this field under another name. The
 * mistake about the wrong name already explains it.
 */
function dropRenamed(faults: readonly RequestViolation[]): RequestViolation[] {
  const renamed = new Set(
    faults.flatMap(({ path = "", instead = [] }) =>
      instead.map((field) => `${path.slice(0, path.lastIndexOf("/"))}/${field}`),
    ),
  );
  return faults.filter(({ code, path = "" }) => code !== "required" || !renamed.has(path));
}

/** Returns the mistakes in query parameters, each with the values that the schema allows. */
export function toQueryViolations(
  errors: readonly SchemaError[],
  query: unknown,
  { properties = {} }: QuerySchema,
): RequestViolation[] {
  return toSchemaViolations(errors, "querystring", query).map((fault) => {
    const { minimum, maximum, enum: allowed } = properties[fault.path?.slice(1) ?? ""] ?? {};
    const placed = { ...fault, in: "query" as const };
    if (fault.code === "repeated_parameter") return placed;
    return {
      ...placed,
      ...defined({ minimum, maximum, allowed: listAllowed(allowed) ?? fault.allowed }),
    };
  });
}

/**
 * Reduces the schema errors of a union: ajv reports every branch of the union and the union itself.
 * The branches of the right type say what is wrong. Without such a branch, the union is reported as
 * one mistake.
 */
function settleUnions(errors: readonly SchemaError[]): SchemaError[] {
  // For a bad property name ajv reports two errors: one with `propertyName`, which is dropped, and
  // one of `propertyNames`, which has the path.
  let settled = errors.filter((error) => error.propertyName === undefined);
  for (const union of settled.filter(({ keyword }) => UNIONS.has(keyword)))
    settled = settleUnion(settled, union);

  return settled;
}

/** Further errors of a value that has the wrong type follow from the wrong type. */
function dropConsequences(errors: readonly SchemaError[]): SchemaError[] {
  const mistyped = new Set(
    errors.filter(({ keyword }) => keyword === "type").map(({ instancePath }) => instancePath),
  );
  return errors.filter(
    ({ keyword, instancePath }) => keyword === "type" || !mistyped.has(instancePath),
  );
}

function settleUnion(errors: readonly SchemaError[], union: SchemaError): SchemaError[] {
  const isBranch = ({ instancePath, schemaPath }: SchemaError) =>
    schemaPath.startsWith(`${union.schemaPath}/`) && instancePath.startsWith(union.instancePath);
  const isChoice = ({ instancePath, keyword }: SchemaError) =>
    instancePath === union.instancePath && (keyword === "type" || keyword === "const");
  const branches = errors.filter(isBranch);
  const telling = branches.filter((error) => !isChoice(error));
  const others = errors.filter((error) => error !== union && !isBranch(error));
  if (telling.length > 0) return [...others, ...telling];
  const { instancePath } = union;
  const constants = branches.filter(({ keyword }) => keyword === "const");
  const [constant] = constants;
  if (constant !== undefined) {
    const allowedValues = constants.map(({ params }) => params["allowedValue"]);
    return [...others, { ...constant, keyword: "enum", params: { allowedValues }, instancePath }];
  }
  return [...others, { ...(branches[0] ?? union), instancePath }];
}

function toViolation(error: SchemaError, context: string, value: unknown): RequestViolation {
  const path = pathOf(error);
  if (context === "headers") return headerFault("invalid_header", path.slice(1));
  const isRepeated = context === "querystring" && Array.isArray(valueAt(value, path));
  if (isRepeated) return { code: "repeated_parameter", path };
  const code = CODES.get(error.keyword) ?? "invalid";
  const limit = error.params["limit"];
  const advice = adviseOn(error);
  if (typeof limit !== "number") return { code, path, ...advice };
  return { code, path, limit, ...defined({ actual: measure(valueAt(value, path)) }), ...advice };
}

function pathOf({ instancePath, params }: SchemaError): string {
  const property =
    params["missingProperty"] ??
    params["additionalProperty"] ??
    params["unevaluatedProperty"] ??
    params["propertyName"];
  if (typeof property === "string") return `${instancePath}/${escapePointer(property)}`;
  const { i, j } = params;
  if (typeof i === "number" && typeof j === "number") return `${instancePath}/${Math.max(i, j)}`;
  return instancePath;
}

function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}

function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const part of path.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/**
 * Returns the size that a schema limit applies to: the value of a number, the code points of a
 * text, or the members of a list or object.
 */
function measure(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string") return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : undefined;
}
