import { judgeTypes, type TypeCase } from "./judge-types.ts";
import { describeRequest, fieldsOf, FILE, type RecordedRequest } from "./recorded-request.ts";

const DECLARATIONS = [
  'import type { ApiMethods } from "grammy/types";',
  "type Method<M extends keyof ApiMethods> = Parameters<ApiMethods[M]>[0];",
];

/** Parameters that a form carries as JSON (Bot API, "Making requests"). */
const JSON_PARAMETERS = [
  "media",
  "caption_entities",
  "entities",
  "link_preview_options",
  "reply_parameters",
  "reply_markup",
];

/** The parameters of a form, without the files that a parameter names as `attach://`. */
function readForm(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const all = JSON.stringify(fields);
  const own = Object.entries(fields).filter(
    ([name, value]) => value !== FILE || !all.includes(`attach://${name}`),
  );
  const entries = own.map(([name, value]) =>
    JSON_PARAMETERS.includes(name) ? [name, JSON.parse(String(value)) as unknown] : [name, value],
  );
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function toCase(request: RecordedRequest): TypeCase {
  const method = request.path.split("/").at(-1) ?? "";
  const isText = request.isForm || request.method === "GET";
  const fields = fieldsOf(request);
  const parameters = `Method<${JSON.stringify(method)}>`;
  return {
    type: isText ? `FromText<${parameters}>` : parameters,
    value: isText ? readForm(fields) : fields,
    request: describeRequest({ ...request, path: method }),
  };
}

/**
 * Checks the parameters of requests to Telegram's Bot API against the types of the client library
 * grammY.
 */
export function judgeTelegram(requests: readonly RecordedRequest[]): Promise<string[]> {
  const withParameters = requests.filter((request) => Object.keys(fieldsOf(request)).length > 0);
  return judgeTypes(DECLARATIONS, withParameters.map(toCase));
}
