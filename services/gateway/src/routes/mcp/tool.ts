import { notFound } from "@postrider/shared/errors";
import type { ToolRequest } from "./internal-call.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * An MCP tool that agents see: one or a few operations of the REST API, under a name and with a
 * description for agents.
 */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /**
   * Names of the schemas of the answers in the API description, in the order of the requests. With
   * one name, the answer is the result of the MCP tool. With several, the result is an object: each
   * key of `output` names the property for one answer, and the value of the key names the schema of
   * this answer.
   */
  readonly output: string | Readonly<Record<string, string>>;
  /**
   * Whether the MCP tool's result also has the scheduled time of the post in the time zone that the
   * agent names.
   */
  readonly showsZonedTime?: boolean;
  /** Maximum size in bytes of the answers that the MCP tool combines, if they can be large. */
  readonly answerBytes?: number;
  readonly isReadOnly?: boolean;
  /** Whether the MCP tool can overwrite or delete something. */
  readonly isDestructive?: boolean;
  /** Whether calling the MCP tool again with the same inputs changes nothing more. */
  readonly isIdempotent?: boolean;
  /**
   * Whether the MCP tool's answer contains texts of other people, such as comments, which an agent
   * must not follow as instructions.
   */
  readonly hasForeignText?: boolean;
  /**
   * The result of the MCP tool if its last operation answers without a body. Needed if that
   * operation can.
   */
  readonly emptyResult?: (
    input: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>;
  /**
   * Says why inputs that fit their schemas one by one do not fit together, and what to send;
   * undefined if they do. Needed where `toRequests` would have to ignore or guess one of them.
   */
  readonly findContradiction?: (input: Readonly<Record<string, unknown>>) => string | undefined;
  /**
   * Returns the requests to operations of the API that the MCP tool makes for these inputs. They
   * are sent one after the other, until one fails.
   */
  toRequests(input: Readonly<Record<string, unknown>>): readonly ToolRequest[];
}

export function idOf(description: string): Schema {
  return { type: "string", format: "uuid", description };
}

export function text(description: string, more: Schema = {}): Schema {
  return { type: "string", description, ...more };
}

export function queryOf(
  input: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = input[name];
    if (typeof value === "string" || typeof value === "number") query.set(name, `${value}`);
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** Returns the inputs of an MCP tool without those that are not part of the request body. */
export function bodyOf(
  input: Readonly<Record<string, unknown>>,
  without: readonly string[],
): object {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !without.includes(name)));
}

/**
 * Returns a text input of an MCP tool as a segment of a path.
 *
 * @throws ServiceError `not_found` for `.` and `..`, which would make the path that of another
 *   operation.
 */
export function segment(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = input[name];
  if (value === "." || value === "..") throw notFound();
  return typeof value === "string" || typeof value === "number" ? encodeURIComponent(value) : "";
}
