import { expect, test } from "vitest";
import { createXCommentsConnector } from "#src/x/comments/connector.ts";
import { createXMetricsConnector } from "#src/x/metrics/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { addComment, readPage } from "../comment-fixtures.ts";
import { signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("x");
const settings = { baseUrl: platform.url, mayResend: true };
const publishing = createXPublishingConnector(settings);

async function publishPost(text: string) {
  const publication = await platform.createPublication([], text);
  const outcome = await platform.publish(publishing, publication);
  if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not published");
  return { publication, id: outcome.externalId };
}

test("while X takes the new names of fields only, the X connector finds a published post, its comments and its metrics", async () => {
  const { publication, id } = await publishPost("Ships at https://example.com/a & more");
  const given = { mediaId: id, text: `hi @${publication.username}` };
  const commentId = await addComment(platform, publication, given);
  const counters = { platform: "x", account: publication.externalId, id, likes: 7, shares: 2 };
  await platform.control("POST", "metrics", counters);
  await platform.control("POST", "settings", { xFieldNames: "new" });

  const verdict = await publishing.reconcile(publication, {}, unknownCall({}), signal);
  expect(verdict).toMatchObject({ kind: "present", externalId: id });
  const page = await readPage(createXCommentsConnector(settings), publication, id);
  expect(page.comments).toMatchObject([
    { id: commentId, authorUsername: expect.any(String) as string },
  ]);
  const metrics = await createXMetricsConnector(settings).readMetrics(publication, [id], signal);
  expect(metrics).toEqual(
    new Map([
      [
        id,
        { kind: "metrics", metrics: expect.objectContaining({ likes: 7, shares: 2 }) as unknown },
      ],
    ]),
  );
  const refused = (await platform.listRequests()).filter(({ outcome }) => outcome === "400");
  expect(refused.length).toBeLessThanOrEqual(1);
});
