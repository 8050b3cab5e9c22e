import { eventually } from "@postrider/shared/testing/poll";
import type { Journey } from "./journey.ts";

/** Replies to a comment, and creates, uses and revokes an automation rule. */
export const runEngagementJourney: Journey = async (session, { publication }) => {
  const { call } = session;
  const { id, mediaId, commentId } = publication;
  await call("listComments", 200, { path: { id, mediaId }, query: "?limit=1" });
  const action = await call("requestCommentAction", 202, {
    path: { id, mediaId, commentId },
    body: { type: "reply", text: "Thank you" },
  });
  const actionPath = { id: String(action.body["id"]) };
  await eventually(async () => {
    const { body } = await call("getCommentAction", 200, { path: actionPath });
    if (body["status"] === "pending") throw new Error("the action is pending");
  });

  const body = { accountId: id, name: "Price", keywords: ["price"], message: "It costs 5." };
  const rule = await call("createAutomationRule", 201, { body });
  const path = { id: String(rule.body["id"]) };
  const setStatus = (status: string, expected: number) =>
    call("updateAutomationRule", expected, { path, body: { status } });
  await setStatus("active", 200);
  await setStatus("paused", 200);
  const about = new URLSearchParams({ ruleId: path.id, mediaId }).toString();
  await call("previewBackfill", 200, { query: `?${about}` });
  const target = { ruleId: path.id, mediaId };
  const job = await call("createBackfill", 202, { body: target });
  const jobPath = { id: String(job.body["id"]) };
  await call("getBackfill", 200, { path: jobPath });
  const change = (action: string, expected: number | readonly number[]) =>
    call("updateBackfill", expected, { path: jobPath, body: { action } });
  await change("pause", [200, 409]);
  await change("resume", [200, 409]);
  await change("prepare_next_page", [200, 409]);
  await setStatus("revoked", 200);
  await setStatus("active", 409);
  await call("listAutomationRuns", 200, { query: `?ruleId=${path.id}` });
};
