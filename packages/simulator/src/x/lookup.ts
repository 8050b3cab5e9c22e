import type { Reply } from "#src/http/call.ts";
import { notFoundEntry, refuseParameter } from "#src/x/errors.ts";
import type { XCall, XNetwork } from "#src/x/network.ts";
import { checkParameters, FIELD_PARAMETERS, fieldSet, postSelection } from "#src/x/query.ts";
import { findTweet, tweetViews, verifiedTypeOf } from "#src/x/tweets.ts";

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

export function tweetsByIds(network: XNetwork, xCall: XCall): Reply {
  checkParameters(xCall.call.query, ["ids", ...FIELD_PARAMETERS]);
  const { data, includes, errors } = lookUp(network, xCall, idsOf(xCall.call.query));
  return { status: 200, body: { data: data.length === 0 ? undefined : data, includes, errors } };
}

export function tweetById(network: XNetwork, xCall: XCall): Reply {
  checkParameters(xCall.call.query, FIELD_PARAMETERS);
  const id = xCall.call.params["id"] ?? "";
  if (!ID.test(id)) refuseParameter("id", id, "The `id` path parameter is not valid");
  const { data, includes, errors } = lookUp(network, xCall, [id]);
  return { status: 200, body: { data: data[0], includes, errors } };
}

export function usersMe(_network: XNetwork, { call, account }: XCall): Reply {
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
export function readsReplies(query: URLSearchParams): "comments" | "metrics" {
  const fields = (query.get("tweet.fields") ?? "").split(",");
  return fields.includes("referenced_tweets") ? "comments" : "metrics";
}
