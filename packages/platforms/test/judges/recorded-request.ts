import { type Call, contentType } from "@postrider/simulator/http/call";
import { formParts } from "@postrider/simulator/http/multipart";

/**
 * A request that a connector sent to a simulated platform, in the form that tests compare with the
 * platform's schemas.
 */
export interface RecordedRequest {
  readonly method: string;
  /** Path below the platform's prefix in the simulator. */
  readonly path: string;
  /** Names and values in the order in which they were sent; a name can occur more than once. */
  readonly query: readonly (readonly [string, string])[];
  /**
   * A JSON value as it was sent; the fields of a form, each as text; undefined for bytes and for no
   * body.
   */
  readonly body: unknown;
  /** Whether the body was a form, whose fields are all text. */
  readonly isForm: boolean;
}

/** Stands for the content of a file among the recorded fields of a form. */
export const FILE = "a file";

function readBody(call: Call): Pick<RecordedRequest, "body" | "isForm"> {
  switch (contentType(call)) {
    case "application/json": {
      const text = String(call.body);
      return { body: text === "" ? undefined : JSON.parse(text), isForm: false };
    }
    case "application/x-www-form-urlencoded":
      return { body: Object.fromEntries(new URLSearchParams(String(call.body))), isForm: true };
    case "multipart/form-data": {
      const fields = (formParts(call) ?? []).map(
        ({ name, fileName, content }) =>
          [name, fileName === undefined ? String(content) : FILE] as const,
      );
      return { body: Object.fromEntries(fields), isForm: true };
    }
    default:
      return { body: undefined, isForm: false };
  }
}

export function recordRequest(call: Call): RecordedRequest {
  const { method, path } = call;
  return { method, path, query: [...call.query], ...readBody(call) };
}

/** The named fields of a request: those of its body, and those of its query. */
export function fieldsOf({ query, body }: RecordedRequest): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(query), ...(body as Readonly<Record<string, unknown>>) };
}

/** Describes a request for the message of a failed check. */
export function describeRequest({ method, path, query, body }: RecordedRequest): string {
  const search = query.length === 0 ? "" : `?${query.map((pair) => pair.join("=")).join("&")}`;
  return `${method} ${path}${search} ${JSON.stringify(body)?.slice(0, 500) ?? ""}`.trim();
}
