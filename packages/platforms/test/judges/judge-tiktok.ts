import { Ajv } from "ajv";
import { describeRequest, type RecordedRequest } from "./recorded-request.ts";
import tiktok from "./tiktok-requests.json" with { type: "json" };

// TikTok has no client library: the schemas are written after its reference pages.
const ajv = new Ajv({ allErrors: true });
const CHECKS = new Map(
  Object.entries(tiktok.requests).map(([path, schema]) => [path, ajv.compile(schema)]),
);

function judgeFields({ path, query }: RecordedRequest): string[] {
  const known = path.startsWith("/v2/user/") ? tiktok.userFields : tiktok.videoFields;
  const unknown = query.filter(([name]) => name !== "fields").map(([name]) => name);
  const fields = query.filter(([name]) => name === "fields").flatMap(([, text]) => text.split(","));
  return [...unknown, ...fields.filter((field) => !known.includes(field))].map(
    (name) => `unknown name ${name} in the query`,
  );
}

function judge(request: RecordedRequest): string[] {
  const check = CHECKS.get(request.path);
  const isUser = request.method === "GET" && request.path === "/v2/user/info/";
  if (check === undefined) return isUser ? judgeFields(request) : ["an unknown call"];
  check(request.body);
  const faults = (check.errors ?? []).map(
    (error) => `${error.instancePath} ${error.message ?? ""}`,
  );
  return [...faults, ...judgeFields(request)];
}

/**
 * Checks requests to TikTok's API against schemas. Other tests check uploads of bytes and
 * authorizations.
 */
export function judgeTiktok(requests: readonly RecordedRequest[]): string[] {
  const calls = requests.filter(
    ({ path }) => path.startsWith("/v2/") && !/\/(?:oauth|auth)\//.test(path),
  );
  return calls.flatMap((request) =>
    judge(request).map((message) => `${describeRequest(request)}: ${message}`),
  );
}
