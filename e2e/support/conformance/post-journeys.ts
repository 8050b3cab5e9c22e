import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { idOf, type Journey } from "./journey.ts";

/** Validates, creates, changes, publishes, retries and deletes a post. */
export const publishPost: Journey = async (session, { tenant, ownAccountId }) => {
  const { call } = session;
  const unique = `journey ${crypto.randomUUID()}`;
  const content = { content: unique, accountIds: [ownAccountId] };
  await call("validatePost", 200, { body: content });
  const written = { ...content, isDraft: true };
  const created = await call("createPost", 202, { body: written });
  const path = { id: idOf(created) };
  const read = await call("getPost", 200, { path });
  const headers = { "if-match": String(read.headers["etag"]) };
  const body = { content: `${unique} changed` };
  await call("updatePost", 200, { path, body, headers });
  await call("updatePost", 412, { path, body, headers });
  await call("deletePost", 412, { path, headers });
  await tenant.addFault(ownAccountId, { operation: "publish", mode: "refuse" });
  await call("publishPost", 202, { path });
  const wait = { path, query: "?waitFor=final&timeoutSeconds=20" };
  const failed = await call("getPost", 200, wait);
  if (failed.body["status"] !== "failed")
    session.addProblem("publishPost", "did not fail in a journey", JSON.stringify(failed.body));
  await call("retryPost", 202, { path });
  const done = await call("getPost", 200, wait);
  if (done.body["status"] !== "published")
    session.addProblem("retryPost", "did not publish in a journey", JSON.stringify(done.body));
  await call("retryPost", 409, { path });
  await call("updatePost", 409, { path, body });
  await call("refreshPostMetrics", 200, { path });
  await call("deletePost", 202, { path });
  await call("deletePost", [202, 204, 404], { path });
  await call("getPost", [200, 404], { path });
};

/** Repeats a request with its idempotency key, deletes a post, and sends requests for the deleted post. */
export const repeatRequest: Journey = async (session, { accountIds }) => {
  const { call } = session;
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = { content: crypto.randomUUID(), accountIds: accountIds.slice(0, 1), isDraft: true };
  const first = await call("createPost", 202, { body, headers });
  const again = await call("createPost", 202, { body, headers });
  if (idOf(first) !== idOf(again) || again.headers["idempotent-replayed"] !== "true")
    session.addProblem("createPost", "was not replayed", JSON.stringify(again));
  const other = { ...body, content: "other" };
  await call("createPost", 422, { body: other, headers });
  const path = { id: idOf(first) };
  await call("deletePost", 204, { path });
  await call("getPost", 404, { path });
  await call("publishPost", 404, { path });
};

/** Uploads media, sets its description, uses it in a post and deletes it. */
export const useMedia: Journey = async (session, { accountIds }) => {
  const { call } = session;
  const bytes = sampleJpeg();
  const wanted = { fileName: "a.jpg", contentType: "image/jpeg", bytes: bytes.length };
  const grant = await call("presignUpload", 201, { body: wanted });
  const path = { id: idOf(grant) };
  await call("completeUpload", 409, { path });
  const { pathname, search } = new URL(String(grant.body["uploadUrl"]));
  const upload = {
    path: { uploadPath: pathname.replace(/^\/uploads\//, "") },
    query: search,
    bytes: Buffer.from(bytes),
    headers: { "content-type": "image/jpeg", authorization: "" },
  };
  await call("uploadFile", 204, upload);
  await call("uploadFile", [204, 409], upload);
  await call("completeUpload", 200, { path });
  await call("completeUpload", 200, { path });
  const described = { path, body: { altText: "A sailing boat" } };
  await call("updateMedia", 200, described);
  const body = {
    content: crypto.randomUUID(),
    accountIds: accountIds.slice(0, 2),
    mediaIds: [path.id],
    isDraft: true,
  };
  const post = await call("createPost", 202, { body });
  await call("deleteMedia", 409, { path });
  await call("deletePost", 204, { path: { id: idOf(post) } });
  await call("deleteMedia", [202, 204], { path });
  await call("completeUpload", 404, { path });
  const { isDraft: _isDraft, ...validated } = body;
  await call("validatePost", 422, { body: validated });
};
