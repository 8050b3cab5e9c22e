type Operation = {
  parameters?: object[];
  responses: Record<string, { description?: string; headers?: object; content?: object }>;
};

const IF_NONE_MATCH = {
  schema: { type: "string" },
  in: "header",
  name: "If-None-Match",
  required: false,
  description:
    "ETags of answers that the client has. If one of them is current, the answer is 304.",
};
const ETAG = {
  schema: { type: "string" },
  description: "Changes with every visible change of the content.",
};

/** Describes that a read has an ETag, and is answered with 304 when the client already has the content. */
export function describeConditionalRead(operation: object): void {
  const { responses } = operation as Operation;
  const found = responses["200"];
  if (found?.content === undefined) return;
  const parameters = (operation as Operation).parameters ?? [];
  Object.assign(operation, { parameters: [...parameters, IF_NONE_MATCH] });
  responses["200"] = { ...found, headers: { ETag: ETAG, ...found.headers } };
  const { headers } = responses["200"];
  responses["304"] = {
    description: "The client has the current content; the answer has no body.",
    ...(headers === undefined ? {} : { headers }),
  };
}
