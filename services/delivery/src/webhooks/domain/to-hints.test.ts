import { expect, test } from "vitest";
import { toHints } from "./to-hints.ts";

const workspaceId = "w";
const hint = (type: string, id: string, postId = "") => ({ workspaceId, type, id, postId });

test.each([
  ["PostPublished", { postId: "p" }, [hint("post", "p")]],
  ["PostScheduled", { postId: "p" }, [hint("post", "p"), hint("quota", "")]],
  ["TargetUpdated", { postId: "p", targetId: "t" }, [hint("target", "t", "p"), hint("quota", "")]],
  ["AccountConnected", { accountId: "a" }, [hint("account", "a")]],
  ["MediaReady", { mediaId: "m" }, [hint("media", "m")]],
  ["CommentActionCompleted", { actionId: "c" }, [hint("comment", "c")]],
  ["InboxChanged", {}, [hint("comment", "")]],
  ["AutomationRunCompleted", { runId: "r" }, [hint("run", "r")]],
  ["OfALaterRelease", {}, []],
])("an event %s with the ids %j makes the hints %j", (type, ids, hints) => {
  const value = JSON.stringify({ workspaceId, ...ids });
  expect(toHints(`postrider.any.v1.${type}`, value)).toEqual(hints);
});

test.each(["", "null", "[]", "{", '{"postId":"p"}', '{"workspaceId":1,"postId":"p"}'])(
  "the text %j makes no hints",
  (value) => {
    expect(toHints("postrider.posts.v1.PostPublished", value)).toEqual([]);
  },
);
