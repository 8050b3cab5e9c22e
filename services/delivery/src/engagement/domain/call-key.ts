import { createHash } from "node:crypto";
import { normalizeText } from "@postrider/platforms/text/normalize-text";
import type { NewManualAction } from "./comment-action.ts";

/** The call key of private replies: the same key for all of them, because a comment gets at most one private reply. */
export const PRIVATE_REPLY_KEY = "private_reply";

/**
 * Returns the key that two actions on one comment share if a search of the platform cannot tell their calls apart, or if they
 * must not be sent at the same time: replies with the same text, and all actions that hide or unhide the comment.
 */
export function callKeyOf({ type, text }: Pick<NewManualAction, "type" | "text">): string {
  if (type !== "reply") return "visibility";
  const hash = createHash("sha256").update(normalizeText(text ?? ""));
  return `reply ${hash.digest("hex")}`;
}
