/**
 * A JSON Schema, with the keywords that the check of answers reads; the rest is for the validator.
 */
export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface DescribedContent {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly $ref?: string; readonly value?: unknown }>
  >;
}
type Contents = Readonly<Record<string, DescribedContent>>;

interface DescribedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

export interface DescribedAnswer {
  readonly headers?: Readonly<Record<string, DescribedHeader>>;
  readonly content?: Contents;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly "x-postrider-scope"?: string;
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

/**
 * The parts of the OpenAPI document that the conformance test uses to send requests and to check
 * answers.
 */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, DescribedHeader>>;
    readonly examples: Readonly<Record<string, { readonly value?: unknown }>>;
  };
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** The path from the root of the server, with its parameters in braces. */
  readonly path: string;
  /** The scope that the API key needs; absent for an operation without an API key. */
  readonly scope?: string;
  /** An example of the JSON body; absent for an operation without a JSON body. */
  readonly example?: unknown;
  readonly answers: Readonly<Record<string, DescribedAnswer>>;
}

export const JSON_TYPE = "application/json";

export function listOperations({ paths }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId: id, requestBody, responses: answers } = described;
      const [example] = Object.values(requestBody?.content[JSON_TYPE]?.examples ?? {});
      const scope = described["x-postrider-scope"];
      return {
        id,
        method: method.toUpperCase(),
        path,
        ...(scope === undefined ? {} : { scope }),
        ...(example === undefined ? {} : { example: example.value }),
        answers,
      };
    }),
  );
}

/**
 * Returns an operation of the document.
 *
 * @throws Error if it is not described.
 */
export function findOperation(document: ApiDocument, id: string): Operation {
  const found = listOperations(document).find((each) => each.id === id);
  if (found === undefined) throw new Error(`${id} is not described`);
  return found;
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** Returns the described headers of an answer by their names in lower case. */
export function headersOf(
  { components }: ApiDocument,
  { headers = {} }: DescribedAnswer,
): ReadonlyMap<string, DescribedHeader> {
  return new Map(
    Object.entries(headers).map(([name, header]) => {
      const found = header.$ref === undefined ? header : components.headers[nameOf(header.$ref)];
      if (found === undefined) throw new Error(`${header.$ref} is not described`);
      return [name.toLowerCase(), found];
    }),
  );
}

/** Returns the error codes in the examples of an answer. */
export function codesOf(
  { components }: ApiDocument,
  { content }: DescribedAnswer,
): ReadonlySet<string> {
  const examples = Object.values(content?.[JSON_TYPE]?.examples ?? {});
  const values = examples.map(
    ({ $ref, value }) => value ?? components.examples[nameOf($ref ?? "")]?.value,
  );
  const codes = values.map((value) => (value as { error?: { code?: string } }).error?.code);
  return new Set(codes.filter((code) => code !== undefined));
}
