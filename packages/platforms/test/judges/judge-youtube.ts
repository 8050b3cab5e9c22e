import { judgeTypes, type TypeCase } from "./judge-types.ts";
import { describeRequest, type RecordedRequest } from "./recorded-request.ts";

/** Parameters of a resumable upload, which Google's client library adds by itself. */
const DECLARATIONS = [
  'import type { youtube_v3 } from "@googleapis/youtube";',
  "type Query<P> = FromText<{ [K in keyof P]: NonNullable<P[K]> extends string[] ? string : P[K] }>;",
  "type Upload = { uploadType?: 'resumable'; upload_id?: string };",
];
const VERBS: Readonly<Record<string, string>> = { GET: "List", POST: "Insert", DELETE: "Delete" };
const SCHEMAS: Readonly<Record<string, string>> = {
  videos: "Video",
  comments: "Comment",
  playlistItems: "PlaylistItem",
};

const capitalize = (word: string) =>
  `${word[0]?.toUpperCase() ?? ""}${word.slice(1).toLowerCase()}`;

function toCases(request: RecordedRequest): TypeCase[] {
  const [, upload, resource = "", action] =
    /^(\/upload)?\/youtube\/v3\/(\w+)(?:\/(\w+))?$/.exec(request.path) ?? [];
  const isBytes = request.method === "PUT";
  const method = action ?? VERBS[isBytes ? "POST" : request.method] ?? request.method;
  const parameters = `youtube_v3.Params$Resource$${capitalize(resource)}$${capitalize(method)}`;
  const description = describeRequest(request);
  const query = {
    type: `Query<${parameters}>${upload === undefined ? "" : " & Upload"}`,
    value: Object.fromEntries(request.query),
    request: description,
  };
  if (request.body === undefined) return [query];
  const type = `youtube_v3.Schema$${SCHEMAS[resource] ?? capitalize(resource)}`;
  return [query, { type, value: request.body, request: description }];
}

/**
 * Checks requests to the YouTube Data API against the types of Google's client library, which are
 * generated from the discovery document: parameters of the query, and properties of bodies.
 */
export function judgeYoutube(requests: readonly RecordedRequest[]): Promise<string[]> {
  const api = requests.filter(({ path }) => path.includes("/youtube/v3/"));
  return judgeTypes(DECLARATIONS, api.flatMap(toCases));
}
