import type { Reply } from "#src/http/call.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { notFoundEntry, refuseParameter } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import { checkParameters, FIELD_PARAMETERS, fieldSet, postSelection } from "#src/x/query.ts";
import { findTweet, tweetViews } from "#src/x/tweets.ts";
import { verifiedTypeOf } from "#src/x/verified-types.ts";

const MAX_IDS = 100;
const ID = /^[0-9]{1,19}$/;

const USER_FIELDS: readonly string[] = [
  "created_at",
  "description",
  "id",
  "name",
  "profile_image_url",
  "protected",
  "public_metrics",
  "subscription_type",
  "username",
  "verified",
  "verified_type",
];

function idsOf(query: URLSearchParams): string[] {
  const text = query.get("ids") ?? "";
  const ids = text.split(",");
  if (ids.length > MAX_IDS || !ids.every((id) => ID.test(id)))
    refuseParameter("ids", text, `The \`ids\` query parameter takes 1 to ${MAX_IDS} ids`);

  return ids;
}

function lookUp(network: XNetwork, { call, asOf }: XCall, ids: readonly string[]) {
  const selection = postSelection(call.query);
  const tweets = ids.flatMap((id) => findTweet(network, id, asOf) ?? []);
  const known = new Set(tweets.map(({ post }) => post.id));
  const errors = ids.filter((id) => !known.has(id)).map((id) => notFoundEntry("tweet", "ids", id));
  const expansions = call.query.get("expansions");
  const { data, includes } = tweetViews(network, tweets, { selection, expansions, asOf });
  return { data, includes, errors: errors.length === 0 ? undefined : errors };
}

function lookUpMany(network: XNetwork, xCall: XCall): Reply {
  checkParameters(xCall.call.query, ["ids", ...FIELD_PARAMETERS]);
  const { data, includes, errors } = lookUp(network, xCall, idsOf(xCall.call.query));
  return { status: 200, body: { data: data.length === 0 ? undefined : data, includes, errors } };
}

function lookUpOne(network: XNetwork, xCall: XCall): Reply {
  checkParameters(xCall.call.query, FIELD_PARAMETERS);
  const id = xCall.call.params["id"] ?? "";
  if (!ID.test(id)) refuseParameter("id", id, "The `id` path parameter is not valid");

  const { data, includes, errors } = lookUp(network, xCall, [id]);
  return { status: 200, body: { data: data[0], includes, errors } };
}

function me({ call, account }: XCall): Reply {
  checkParameters(call.query, ["user.fields", "expansions", "tweet.fields", "post.fields"]);
  const fields = fieldSet(call.query, "user.fields", USER_FIELDS);
  const verifiedType = verifiedTypeOf(account);
  const optional: Record<string, unknown> = {
    description: "",
    profile_image_url:
      "https://abs.twimg.com/sticky/default_profile_images/default_profile_normal.png",
    protected: false,
    verified: verifiedType !== "none",
    verified_type: verifiedType,
  };
  const chosen = Object.entries(optional).filter(([name]) => fields.has(name));
  const { externalId, displayName, username } = account;
  const data = { id: externalId, name: displayName, username, ...Object.fromEntries(chosen) };
  return { status: 200, body: { data } };
}

/** Clients request the answered tweets when they read a comment. */
function readsReplies(query: URLSearchParams): boolean {
  return (query.get("tweet.fields") ?? "").split(",").includes("referenced_tweets");
}

export function tweetsByIds(network: XNetwork): Endpoint {
  return {
    method: "GET",
    path: "/2/tweets",
    operations: ({ query }) => [readsReplies(query) ? "comments" : "metrics"],
    reads: true,
    bucket: "lookup",
    perUser: 5000,
    handle: (call) => lookUpMany(network, call),
  };
}

export function tweetById(network: XNetwork): Endpoint {
  return {
    ...tweetsByIds(network),
    path: "/2/tweets/:id",
    operations: () => ["status"],
    handle: (call) => lookUpOne(network, call),
  };
}

export function usersMe(): Endpoint {
  return {
    method: "GET",
    path: "/2/users/me",
    operations: () => ["account"],
    bucket: "me",
    perUser: 75,
    handle: me,
  };
}
