import type { Violation } from "@postrider/shared/errors";

/** What ajv says about one fault, as fastify hands it on in `error.validation`. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly propertyName?: string;
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
 * The faults of a value that did not fit its schema, at most 100, one for each place and code.
 *
 * @param context Which part of the request it was, in fastify's words.
 * @param value What was validated; from it comes `actual` of faults that have a limit.
 */
export function toSchemaViolations(
  errors: readonly SchemaError[],
  context = "body",
  value?: unknown,
): Violation[] {
  const faults = new Map<string, Violation>();
  for (const error of dropConsequences(settleUnions(errors))) {
    const fault = toViolation(error, context, value);
    faults.set(`${fault.code} ${fault.path}`, fault);
    if (faults.size === MAX_FAULTS) break;
  }
  return [...faults.values()];
}

/**
 * ajv reports every branch of a union and the union itself. The branches that have the right type say what is wrong;
 * when there is none, the union is reported as one fault.
 */
function settleUnions(errors: readonly SchemaError[]): SchemaError[] {
  // The fault of the name itself is followed by one of `propertyNames`, which says where.
  let settled = errors.filter((error) => error.propertyName === undefined);
  for (const union of settled.filter(({ keyword }) => UNIONS.has(keyword))) {
    settled = settleUnion(settled, union);
  }
  return settled;
}

/** What is more wrong with a value of the wrong type is not worth a word. */
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
  const [first = union] = branches.toSorted((a, b) => rank(a) - rank(b));
  return [...others, { ...first, instancePath: union.instancePath }];
}

/** A wrong constant is a better word than a wrong type: some branch has the right one. */
function rank(error: SchemaError): number {
  return error.keyword === "const" ? 0 : 1;
}

function toViolation(error: SchemaError, context: string, value: unknown): Violation {
  const path = pathOf(error);
  const isRepeated = context === "querystring" && Array.isArray(valueAt(value, path));
  const code = isRepeated ? "repeated_parameter" : codeOf(error, context);
  const limit = error.params["limit"];
  if (typeof limit !== "number") return { code, path };
  const actual = measure(valueAt(value, path));
  return actual === undefined ? { code, path, limit } : { code, path, limit, actual };
}

/** A header has a form, whatever the keyword that says it. */
function codeOf({ keyword }: SchemaError, context: string): string {
  return context === "headers" ? "invalid_header" : (CODES.get(keyword) ?? "invalid");
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

/** Numbers count as they are, texts in code points as JSON Schema does, lists and objects by their members. */
function measure(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string") return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : undefined;
}
