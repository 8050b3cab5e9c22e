import { type GraphCall, type GraphEndpoint, requireScope } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseParameter } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import type { Expansion } from "#src/graph/parameters.ts";
import { type Call, isRecord, type Reply } from "#src/http/call.ts";
import { on, type Operations, type ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Comment, MetricValues } from "#src/world/reactions.ts";

/** The error subcode of a token whose user removed the app. */
const APP_REMOVED = 458;

/** Revokes every token of the user, for all accounts. */
function revokeGrant({ tokens }: GraphHost, { token, parameters }: GraphCall): Reply {
  parameters.checkNames(["permission"]);
  tokens.revokeAll(token.user, APP_REMOVED);
  return { status: 200, body: { success: true } };
}

export const REVOKE_GRANT: GraphEndpoint<GraphHost> = on(
  "DELETE /:id/permissions",
  ["revoke"],
  revokeGrant,
);

/**
 * Reading several posts, videos or comments with one call ended for all versions on 2026-10-27
 * (developers.facebook.com, "Introducing Graph API v26", 2026-07-29). The call still counts towards
 * the limit.
 */
function refuseSeveralNodes(_host: GraphHost, { parameters }: GraphCall): Reply {
  parameters.checkNames(["ids"]);
  parameters.required("ids");
  return refuseGraph(
    { code: 100, message: "The ids query parameter is deprecated in v26.0+" },
    500,
  );
}

export function severalNodes(counters: string): GraphEndpoint<GraphHost> {
  return on("GET /", ({ query }) => readOperations(query, counters), refuseSeveralNodes);
}

/** A call that reads these fields reads metrics. */
export function readOperations(query: URLSearchParams, counters: string): Operations {
  return (query.get("fields") ?? "").includes(counters) ? ["metrics"] : ["status"];
}

/** The operations of a call that reads a post, a comment and so on, or the token's owner. */
export function nodeOperations(counters: string) {
  return ({ params, query }: Call): Operations =>
    params["id"] === "me" ? ["account"] : readOperations(query, counters);
}

/** The comments on an account's posts, and the replies to these comments. */
export function shownComments(
  { platform, world, hidden }: GraphHost,
  account: Account,
): readonly ShownComment[] {
  const { posts, reactions } = world;
  return [...posts.newestFirst(account)]
    .flatMap(({ id }) => reactions.commentsOn(platform, id))
    .flatMap((comment) => [comment, ...reactions.commentsOn(platform, comment.id)])
    .map(({ id, mediaId, author, text, createdAt }) => {
      return { id, mediaId, author, text, hidden: hidden.get(id) ?? false, createdAt };
    });
}

/** An instant in the format of the Graph API: `2026-11-20T09:00:00+0000`. */
export function timeView(instant: number): string {
  return new Date(instant).toISOString().replace(/\.\d{3}Z$/, "+0000");
}

type Metrics = Readonly<Record<string, (values: MetricValues) => unknown>>;

/**
 * The field `insights` of a post: the metrics that its modifier `metric` names. They lag behind the
 * post's real metrics. One unknown name fails the whole call.
 */
export function insightsField(
  { platform, world }: GraphHost,
  { asOf, token }: GraphCall,
  id: string,
  { scope, metrics }: { readonly scope: string; readonly metrics: Metrics },
): Expansion {
  return ({ modifiers }) => {
    requireScope(token, scope);
    const instant = asOf - world.settings.values.insightsLagMs;
    const values = world.reactions.metricsAt(platform, id, instant);
    const data = (modifiers.get("metric") ?? "").split(",").map((name) => {
      const value =
        metrics[name]?.(values) ?? refuseParameter("The value must be a valid insights metric");
      const metricId = `${id}/insights/${name}/lifetime`;
      return { name, period: "lifetime", values: [{ value }], id: metricId };
    });
    return { data };
  };
}

const MAX_TEXT_BYTES = 1000;

function textOf(message: unknown): string {
  const text = isRecord(message) ? message["text"] : undefined;
  return typeof text === "string" && text !== "" && Buffer.byteLength(text) <= MAX_TEXT_BYTES
    ? text
    : refuseParameter("Param message must have a text of at most 1000 bytes");
}

/** Sends the private reply of a call, and returns the comment that it answers. */
export function sendReply(
  { platform, world, privateReplies }: GraphHost,
  { account, parameters, now }: GraphCall,
): Comment {
  parameters.checkNames(["recipient", "message", "messaging_type"]);
  const recipient = parameters.json("recipient");
  const commentId = isRecord(recipient) ? recipient["comment_id"] : undefined;
  if (typeof commentId !== "string")
    return refuseParameter("Param recipient must have a comment_id");
  const text = textOf(parameters.json("message"));
  const comment = world.reactions.comment(platform, commentId);
  if (comment?.account !== account.externalId || comment.author === account.username) {
    const message = "The comment is invalid for a private reply";
    return refuseGraph({ code: 100, subcode: 2_534_025, message });
  }
  privateReplies.send(comment, text, now);
  return comment;
}
