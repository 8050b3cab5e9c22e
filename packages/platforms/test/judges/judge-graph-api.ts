import { createRequire } from "node:module";
import graph from "./graph-parameters.json" with { type: "json" };
import { describeRequest, fieldsOf, type RecordedRequest } from "./recorded-request.ts";

/**
 * A class of Meta's JavaScript SDK. It stands for one type of Graph API object, with the names of
 * the object's fields and one method per call.
 */
interface SdkClass {
  readonly Fields?: Readonly<Record<string, string>>;
  readonly prototype: object;
}

const sdk = createRequire(import.meta.url)("facebook-nodejs-business-sdk") as Readonly<
  Record<string, SdkClass>
>;
const metrics = (sdk["InstagramInsightsResult"] as unknown as { Metric: Record<string, string> })
  .Metric;

/**
 * The classes of Meta's SDK whose objects the connectors of Facebook and Instagram read or change.
 */
const OBJECTS = {
  facebook: ["Page", "PagePost", "Photo", "AdVideo", "Comment", "User", "Business"],
  instagram: ["IGUser", "IGMedia", "IGComment", "ShadowIGMediaBuilder", "Page", "User", "Business"],
} as const;
type GraphPlatform = keyof typeof OBJECTS;

/**
 * Maps the name of a Graph API edge (a list below a Graph API object) to the SDK class of the
 * listed objects. The class is not known for other edges and for reads of single objects.
 */
const LISTED: Readonly<Record<string, string>> = {
  accounts: "Page",
  owned_pages: "Page",
  client_pages: "Page",
  businesses: "Business",
  published_posts: "PagePost",
  media: "IGMedia",
  replies: "IGComment",
  content_publishing_limit: "ContentPublishingLimitResponse",
};
/** Parameters that every call or every list takes (Graph API overview and paging, v25.0). */
const COMMON = ["access_token", "appsecret_proof", "fields", "limit", "after", "since"];
/**
 * The file of a photo, which the SDK passes beside the parameters (Page Photos reference, v25.0).
 */
const FILES = ["source"];

const capitalize = (word: string) =>
  word.replace(/(?:^|_)(\w)/g, (_whole, letter: string) => letter.toUpperCase());

/**
 * Whether a class of Meta's SDK has a field with this name, or a method that reads an edge with
 * this name.
 */
function hasField(object: string, field: string): boolean {
  const { Fields = {}, prototype = {} } = sdk[object] ?? {};
  // Meta's SDK has no list of a video's fields: three fields for uploads stand in its place, so the
  // fields come from another list.
  if (object === "AdVideo" && graph.videoFields.split(" ").includes(field)) return true;
  return field in Fields || `get${capitalize(field)}` in prototype;
}

/** Splits a list of fields at the commas that are outside of braces and brackets. */
function splitFields(text: string): string[] {
  return text.split(/,(?![^{(]*[})])/).filter((field) => field !== "");
}

function judgeFields(platform: GraphPlatform, edge: string, text: string): string[] {
  const fields = splitFields(text.replaceAll(/\{[^{}]*\{[^{}]*\}[^{}]*\}/g, ""));
  const names = fields.map((field) => field.replace(/[.{(].*$/, ""));
  const listed = LISTED[edge];
  const objects = listed === undefined ? OBJECTS[platform] : [listed];
  const isKnown = objects.some((object) => names.every((name) => hasField(object, name)));
  const named = /insights\.metric\(([^)]*)\)/.exec(text)?.[1]?.split(",") ?? [];
  return [
    ...(isKnown ? [] : [`${objects.join(", ")}: none has all of the fields ${names.join(", ")}`]),
    ...named
      .filter((metric) => platform === "instagram" && !(metric in metrics))
      .map((metric) => `${metric} is not a metric of InstagramInsightsResult`),
  ];
}

function judge(platform: GraphPlatform, request: RecordedRequest): string[] {
  const [, , edge = ""] =
    /^(?:\/login|\/graph-video)?\/v[\d.]+\/([^/]*)(?:\/(\w+))?$/.exec(request.path) ?? [];
  const { fields = "", ...given } = fieldsOf(request);
  const names = Object.keys(given).filter((name) => ![...COMMON, ...FILES].includes(name));
  const calls = graph.calls.filter(
    (call) =>
      (OBJECTS[platform] as readonly string[]).includes(call.object) &&
      call.method === request.method &&
      call.edge === edge,
  );
  const isRead = edge === "" && request.method === "GET" && names.length === 0;
  const isDeletion = request.method === "DELETE" && edge === "" && names.length === 0;
  const isKnown = calls.some((call) =>
    names.every((name) => call.parameters.split(" ").includes(name)),
  );
  return [
    ...(isRead || isDeletion || isKnown ? [] : [`no call takes ${names.join(", ")}`]),
    ...judgeFields(platform, edge, String(fields)),
  ];
}

/**
 * Checks requests to Meta's Graph API: fields, edges and metrics against Meta's JavaScript SDK, and
 * names of parameters against the list of Meta's Python SDK. Logins and uploads of bytes are not
 * calls of the SDKs.
 */
export function judgeGraphApi(
  platform: GraphPlatform,
  requests: readonly RecordedRequest[],
): string[] {
  const calls = requests.filter(({ path }) => !/^\/rupload\/|\/oauth\/|\/dialog\//.test(path));
  return calls.flatMap((request) =>
    judge(platform, request).map((message) => `${describeRequest(request)}: ${message}`),
  );
}
