import { JSON_TYPE } from "./document.ts";
import { exampleOf } from "./error-answers.ts";

const REQUEST_ID = { "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } };

function error(description: string, ...codes: Parameters<typeof exampleOf>[0][]): object {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
  return {
    description: `${description} Error code ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    "x-postrider-codes": codes,
    headers: REQUEST_ID,
    content: {
      [JSON_TYPE]: {
        schema: { $ref: "#/components/schemas/ApiError" },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const OWN_CODES = ["upload_already_received", "media_rejected", "payload_too_large"] as const;

export function uploadExamples(): Record<string, object> {
  return Object.fromEntries(
    OWN_CODES.map((code) => [code, { summary: code, value: exampleOf(code) }]),
  );
}

/** Its route has no schema because its body is a stream of any type. */
export const UPLOAD_PATH: Readonly<Record<string, object>> = {
  "/uploads/{uploadPath}": {
    put: {
      operationId: "uploadFile",
      summary: "Send the bytes of a file",
      description:
        "For clients that do not use `uploadUrl` as it is. It needs the token of the upload grant instead of an API key, and does not count towards the rate limit. An interrupted upload can be repeated until the grant expires; afterwards, complete the upload.",
      tags: ["media"],
      security: [{ uploadToken: [] }],
      parameters: [
        {
          name: "uploadPath",
          in: "path",
          required: true,
          description: "`uploadPath` of the grant.",
          schema: { type: "string" },
        },
      ],
      requestBody: {
        required: true,
        description:
          "The bytes, as many as the grant was made for. `Content-Type` is the type of the grant, or absent.",
        content: { "image/*": {}, "video/*": {} },
      },
      responses: {
        204: { description: "All bytes have arrived.", headers: REQUEST_ID },
        400: error(
          "Fewer bytes arrived than declared, or `Content-Digest` does not match them. The grant stays open.",
          "invalid_request",
        ),
        404: error("The grant is unknown, used up or expired.", "not_found"),
        409: error("The file has already arrived.", "upload_already_received"),
        413: error("The file is longer than declared.", "payload_too_large"),
        415: error("The content type differs from the declared one.", "unsupported_media_type"),
        422: error("The body is empty.", "media_rejected"),
        429: {
          ...error("Too many unknown grants from this address.", "rate_limited"),
          headers: { ...REQUEST_ID, "Retry-After": { $ref: "#/components/headers/Retry-After" } },
        },
        503: {
          ...error("No upload can be received now.", "unavailable"),
          headers: { ...REQUEST_ID, "Retry-After": { $ref: "#/components/headers/Retry-After" } },
        },
        504: error("Storing the bytes took too long.", "upstream_timeout"),
        default: error("Any other error.", "internal"),
      },
    },
  },
};
