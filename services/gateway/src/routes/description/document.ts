export type JsonObject = { [name: string]: unknown };

/** A media type of a request or answer, with named examples. */
interface Content {
  schema?: object;
  example?: unknown;
  examples?: Record<string, object>;
}

/** An answer of an operation in the API description. */
export interface DescribedAnswer {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, Content>;
  /** The error codes that this answer can have. */
  "x-postrider-codes"?: readonly string[];
}

/**
 * An operation of the API description, with the parts that are completed after the routes are read.
 */
export interface DescribedOperation {
  operationId?: string;
  tags?: string[];
  parameters?: { readonly name: string; readonly in: string }[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, DescribedAnswer>;
  [extension: `x-${string}`]: unknown;
}

/** The parts of the API description that have a name and are used in several places. */
export interface Components {
  schemas: Record<string, object>;
  headers: Record<string, object>;
  examples: Record<string, object>;
}

export const JSON_TYPE = "application/json";
