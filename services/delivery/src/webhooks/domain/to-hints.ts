/** That an object of a workspace has changed; not what. */
export interface Hint {
  readonly workspaceId: string;
  readonly type: "post" | "target" | "account" | "media" | "quota" | "comment" | "run";
  /** Empty for `quota`, and for new comments. */
  readonly id: string;
  /** Of a target; empty for other types. */
  readonly postId: string;
}

/** The ids of an event of any service, which all name them in the same way. */
interface EventIds {
  readonly workspaceId?: unknown;
  readonly postId?: unknown;
  readonly targetId?: unknown;
  readonly accountId?: unknown;
  readonly mediaId?: unknown;
  readonly actionId?: unknown;
  readonly runId?: unknown;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** By the first id that an event has; a target's event is also about its post. */
const TYPES = [
  ["target", "targetId"],
  ["post", "postId"],
  ["account", "accountId"],
  ["media", "mediaId"],
  ["comment", "actionId"],
  ["run", "runId"],
] as const;

/** An event of a post changes what is used of the quota, or what is reserved. */
const COUNTED = new Set(["PostPublishRequested", "PostScheduled", "PostDeleted", "PostCancelled"]);

/**
 * Reads the ids only, so that an event that this version does not know makes a hint as well. A text
 * that is not JSON makes none.
 *
 * @param type Full name of the event.
 */
export function toHints(type: string, value: string): readonly Hint[] {
  const ids = parse(value);
  const workspaceId = textOf(ids.workspaceId);
  if (workspaceId === "") return [];
  if (type.endsWith(".InboxChanged")) return [{ workspaceId, type: "comment", id: "", postId: "" }];
  const found = TYPES.find(([, name]) => textOf(ids[name]) !== "");
  const postId = found?.[0] === "target" ? textOf(ids.postId) : "";
  const changed: readonly Hint[] =
    found === undefined ? [] : [{ workspaceId, type: found[0], id: textOf(ids[found[1]]), postId }];
  const isCounted = COUNTED.has(type.slice(type.lastIndexOf(".") + 1)) || found?.[0] === "target";
  return isCounted ? [...changed, { workspaceId, type: "quota", id: "", postId: "" }] : changed;
}

function parse(value: string): EventIds {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
