import { judgeTypes, type TypeCase } from "./judge-types.ts";
import { describeRequest, type RecordedRequest } from "./recorded-request.ts";

const DECLARATIONS = [
  'import type { Client } from "@xdevplatform/xdk";',
  "type Body<A extends keyof Client, M extends keyof Client[A], N extends number = 0> = Client[A][M] extends (...given: infer P) => unknown ? Known<NonNullable<P[N]>> : never;",
];

/**
 * Method, path, and the types of the query and of the body in the calls of X's client library. The
 * type of a body is taken from the last overload of a call.
 */
const CALLS: readonly (readonly [string, RegExp, { query?: string; body?: string }])[] = [
  ["POST", /^\/2\/tweets$/, { body: 'Body<"posts", "create">' }],
  ["DELETE", /^\/2\/tweets\/\d+$/, {}],
  ["PUT", /^\/2\/tweets\/\d+\/hidden$/, { body: 'Body<"posts", "hideReply", 1>' }],
  ["GET", /^\/2\/tweets$/, { query: 'Body<"posts", "getByIds", 1> & { ids: string }' }],
  ["GET", /^\/2\/tweets\/\d+$/, { query: 'Body<"posts", "getById", 1>' }],
  [
    "GET",
    /^\/2\/tweets\/search\/recent$/,
    { query: 'Body<"posts", "searchRecent", 1> & { query: string }' },
  ],
  ["GET", /^\/2\/users\/\d+\/tweets$/, { query: 'Body<"users", "getPosts", 1>' }],
  ["GET", /^\/2\/users\/me$/, { query: 'Body<"users", "getMe">' }],
  ["POST", /^\/2\/media\/upload$/, { body: 'Body<"media", "upload">' }],
  ["POST", /^\/2\/media\/upload\/initialize$/, { body: 'Body<"media", "initializeUpload">' }],
  ["POST", /^\/2\/media\/upload\/\d+\/append$/, { body: 'Body<"media", "appendUpload", 1>' }],
  ["POST", /^\/2\/media\/upload\/\d+\/finalize$/, {}],
  ["POST", /^\/2\/media\/metadata$/, { body: 'Body<"media", "createMetadata">' }],
  [
    "GET",
    /^\/2\/media\/upload$/,
    { query: 'Body<"media", "getUploadStatus", 1> & { mediaId: string }' },
  ],
];

/**
 * Names of fields that X renamed in the OpenAPI document from which its client library is
 * generated. X still accepts the old names (the keys of this map), and X's documentation shows
 * them.
 */
const RENAMED: Readonly<Record<string, string>> = {
  "tweet.fields": "post.fields",
  note_tweet: "note_post",
  referenced_tweets: "referenced_posts",
};
/**
 * Values of `tweet.fields` that the OpenAPI document with the renamed fields lists as expansions,
 * or always returns.
 */
const NOW_EXPANSIONS = ["author_id", "referenced_posts"];

const camel = (name: string) =>
  name.replace(/[._](\w)/g, (_whole, letter: string) => letter.toUpperCase());

/** Converts property names, at any depth, to the spelling of X's client library. */
function toCamel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamel);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [camel(name), toCamel(part)]),
  );
}

function toQuery(query: RecordedRequest["query"]): Record<string, unknown> {
  const entries = query.map(([name, text]) => {
    const renamed = RENAMED[name] ?? name;
    if (!/\.fields$|^expansions$/.test(name)) return [camel(renamed), text];
    const values = text.split(",").map((value) => RENAMED[value] ?? value);
    return [
      camel(renamed),
      values.filter((value) => name !== "tweet.fields" || !NOW_EXPANSIONS.includes(value)),
    ];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function toCases(request: RecordedRequest): TypeCase[] {
  const call = CALLS.find(([method, path]) => method === request.method && path.test(request.path));
  const description = describeRequest(request);
  if (call === undefined)
    return [{ type: "never", value: "an unknown call", request: description }];
  const [, , { query = "{}", body = "undefined" }] = call;
  const bodyType = request.isForm ? `FromText<${body}>` : body;
  const cases = [
    { type: `FromText<${query}>`, value: toQuery(request.query), request: description },
  ];
  return request.body === undefined
    ? cases
    : ([
        ...cases,
        { type: bodyType, value: toCamel(request.body), request: description },
      ] as TypeCase[]);
}

/**
 * Checks requests to the X API against the types of X's client library, generated from X's OpenAPI
 * document.
 */
export function judgeX(requests: readonly RecordedRequest[]): Promise<string[]> {
  const api = requests.filter(({ path }) => path.startsWith("/2/") && !path.includes("/oauth2/"));
  return judgeTypes(DECLARATIONS, api.flatMap(toCases));
}
