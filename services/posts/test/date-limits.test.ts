import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { newWorkspace, startPostsForFile } from "./fixture.ts";

const posts = await startPostsForFile();

const at = (text: string) => timestampFromDate(new Date(text));

test.each(["0100-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])(
  "a draft that is planned for %s can be stored, read, listed, edited and published",
  async (planned) => {
    const workspaceId = newWorkspace();
    const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
    const draft = { workspaceId, accountIds, isDraft: true };
    const ids: string[] = [];
    for (const content of ["one", "two"])
      ids.push((await posts.createPost({ ...draft, content, scheduledAt: at(planned) })).id);
    const [one = "", two = ""] = ids;

    const { post } = await posts.posts.getPost({ workspaceId, id: one });
    expect(post?.scheduledAt).toBe(planned);
    const first = await posts.posts.listPosts({ workspaceId, limit: 1 });
    const cursor = first.nextCursor ?? "";
    const second = await posts.posts.listPosts({ workspaceId, limit: 1, cursor });
    expect([...first.posts, ...second.posts].map(({ id }) => id)).toEqual([two, one]);
    const day = planned.slice(0, "YYYY-MM-DD".length);
    const days = await posts.posts.listPosts({ workspaceId, limit: 9, from: day, to: day });
    expect(days.posts).toHaveLength(2);
    await posts.posts
      .updatePost({
        workspaceId,
        id: two,
        content: "three",
        scheduledAt: at("2000-01-01T00:00:00Z"),
      })
      .then(
        () => expect.unreachable("a time in the past was accepted"),
        (error: unknown) => expect(error).toMatchObject({ reason: "validation_failed" }),
      );
    const published = await posts.posts.publishPost({ workspaceId, id: one });
    expect(published.post?.status).toBe("publishing");
  },
);

test.each(["0100-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])(
  "scheduling a post for %s is refused with a violation and not with an internal error",
  async (planned) => {
    const workspaceId = newWorkspace();
    const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
    const post = { workspaceId, accountIds, content: "text", scheduledAt: at(planned) };
    await expect(posts.posts.validatePost(post)).rejects.toMatchObject({
      reason: "validation_failed",
    });
    await expect(posts.createPost(post)).rejects.toMatchObject({ reason: "validation_failed" });
  },
);

test.each(["Etc/GMT-14", "Etc/GMT+12", "Asia/Seoul"])(
  "a queue-slot rule in the time zone %s may begin or end on 0001-01-01 and on 9999-12-31",
  async (timezone) => {
    const workspaceId = newWorkspace();
    const rule = {
      workspaceId,
      name: "Rule",
      weekdays: ["mon"],
      times: ["00:00", "23:59"],
      timezone,
    };
    for (const period of [
      { startsOn: "9999-12-31" },
      { endsOn: "9999-12-31" },
      { startsOn: "0001-01-01" },
      { endsOn: "0001-01-01" },
      { startsOn: "0001-01-01", endsOn: "9999-12-31" },
    ]) {
      const created = await posts.slots.createQueueSlotRule({ ...rule, ...period });
      const hasSlots = period.startsOn !== "9999-12-31" && period.endsOn !== "0001-01-01";
      expect(created.rule?.nextSlots.length).toBe(hasSlots ? 3 : 0);
    }
    const { rules } = await posts.slots.listQueueSlotRules({ workspaceId });
    expect(rules).toHaveLength(5);
  },
);
